// Package hookset finds the installed hooks of mem in the settings of Claude Code and in its plugins.
package hookset
