// Package hookcmd has the hooks as Claude Code runs them, and the command that installs them.
package hookcmd
