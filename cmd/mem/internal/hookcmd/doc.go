// Package hookcmd has the hooks that Claude Code runs, and the commands to install and test them.
package hookcmd
