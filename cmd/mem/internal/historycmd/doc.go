// Package historycmd has the commands for operations: log, undo, redo, op and stats.
package historycmd
