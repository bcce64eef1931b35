// Package settings adds the hooks of mem to the settings file of Claude Code, finds them there and removes
// them. What a person wrote in the file stays as it is, comments included.
package settings
