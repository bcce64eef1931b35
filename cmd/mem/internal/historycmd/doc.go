// Package historycmd has the commands for what became of a text and where it comes from: diff, blame and why, and those for
// operations, log, undo, redo and op.
package historycmd
