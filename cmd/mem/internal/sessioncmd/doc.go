// Package sessioncmd has the commands that capture, list, show and rename sessions.
package sessioncmd
