// Package versioncmd has the commands that make and list versions and compositions, mem keepit, whose markers decide what they
// keep, and mem tier, which shows old sessions as weekly and monthly summaries. [Auto] does the same after a command, if the
// setting autoDecay.run schedules it.
package versioncmd
