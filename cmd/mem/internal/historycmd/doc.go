// Package historycmd has the commands about operations: log, undo, redo.
package historycmd
