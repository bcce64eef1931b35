// Package memory opens the memory of a run and its settings, and says what talking to remotes needs.
package memory
