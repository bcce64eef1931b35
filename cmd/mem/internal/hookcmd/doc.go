// Package hookcmd has the hooks that Claude Code runs, and the commands to install and test them. It finds the installed
// hooks in the settings of Claude Code and in its plugins.
package hookcmd
