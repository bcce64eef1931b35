package settings

import (
	"strings"
)

// PluginName is the name of mem's plugin. In settings, "@" and a marketplace follow it.
const PluginName = "mem"

// Plugins returns whether the settings b enable the plugins called mem, by id, such as "mem@memvcs". A plugin that is
// pinned to versions is enabled.
func Plugins(b []byte) (map[string]bool, error) {
	list, err := objectAt(b, "enabledPlugins")
	if err != nil || list == nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, it := range list.items {
		if name, _, ok := strings.Cut(it.key, "@"); ok && name == PluginName {
			out[it.key] = it.Value.Kind == '[' || string(b[it.Value.start:it.Value.end]) == "true"
		}
	}
	return out, nil
}

// Plugins is [Plugins] for the file. Disabled reports whether the file disables all hooks.
func (f SettingsFile) Plugins() (enabled map[string]bool, disabled bool, err error) {
	b, _, _, err := f.read()
	if err != nil {
		return nil, false, err
	}
	enabled, err = Plugins(b)
	return enabled, Disabled(b), f.name(err)
}
