// Package memory opens the memory of a run with its settings, and explains errors of remotes.
package memory
