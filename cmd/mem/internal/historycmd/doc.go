// Package historycmd has the commands for changes: mem diff, which compares two texts, and those for operations, log, undo,
// redo and op.
package historycmd
