// Package sessioncmd has the commands that capture, list, show and rename sessions, and group them into projects.
package sessioncmd
