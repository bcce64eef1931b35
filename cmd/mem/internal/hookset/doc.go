// Package hookset reads where the hooks of mem are installed: the settings of Claude Code and the plugin.
package hookset
