// Package tiercmd has mem tier, which shows old sessions as weekly and monthly summaries.
//
// [Auto] does the same after a command, if the setting autoDecay.run schedules it.
package tiercmd
