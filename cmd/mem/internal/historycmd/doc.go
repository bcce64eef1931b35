// Package historycmd has the commands for operations: log, undo, redo and op.
package historycmd
