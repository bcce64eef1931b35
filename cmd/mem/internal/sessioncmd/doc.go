// Package sessioncmd has the commands that capture, list, find, show and rename sessions.
package sessioncmd
