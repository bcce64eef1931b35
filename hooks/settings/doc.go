// Package settings installs, lists and removes the hooks of mem in the settings file of Claude Code. Everything else in
// the file stays byte for byte, comments included.
package settings
