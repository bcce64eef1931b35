//go:build unix

package settings

// strictDirs says that a directory can be flushed.
const strictDirs = true
