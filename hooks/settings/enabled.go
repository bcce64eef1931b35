package settings

import (
	"strings"
)

// PluginName is what mem's plugin is called; behind it stands "@" and the marketplace that it came from.
const PluginName = "mem"

// Plugins returns which plugins called mem the settings b enable (true) or disable (false), by their id:
// "mem@memvcs". A plugin that is held at versions is enabled.
func Plugins(b []byte) (map[string]bool, error) {
	root, err := ParseText(b)
	if err != nil || root == nil || root.Kind != '{' {
		return nil, err
	}
	list := root.Member("enabledPlugins")
	if list == nil || list.Value.Kind != '{' {
		return nil, nil
	}
	out := map[string]bool{}
	for _, it := range list.Value.items {
		if name, _, ok := strings.Cut(it.key, "@"); ok && name == PluginName {
			out[it.key] = it.Value.Kind == '[' || string(b[it.Value.start:it.Value.end]) == "true"
		}
	}
	return out, nil
}

// Plugins returns what [Plugins] does of the file, and whether the file switches all hooks off.
func (f SettingsFile) Plugins() (said map[string]bool, disabled bool, err error) {
	b, _, _, err := f.read()
	if err != nil {
		return nil, false, err
	}
	said, err = Plugins(b)
	return said, Disabled(b), f.name(err)
}
