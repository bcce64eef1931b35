package hooks

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

func TestPlugins(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]bool{
		"":                      nil,
		"[]":                    nil,
		`{"enabledPlugins":[]}`: nil,
		`{"enabledPlugins":{"mem@memvcs":true,"mem@mine":false,"memo@memvcs":true,"mem":true}}`: {"mem@memvcs": true, "mem@mine": false},
		"{\"enabledPlugins\": { // mine\n\"mem@memvcs\": [\"1.0\"],}}":                          {"mem@memvcs": true},
		`{"enabledPlugins":{"mem@memvcs":"yes"}}`:                                               {"mem@memvcs": false},
	} {
		if got, err := settings.Plugins([]byte(text)); err != nil || !maps.Equal(got, want) {
			t.Errorf("Plugins(%s) = %v, %v, want %v", text, got, err, want)
		}
	}
	if got, err := settings.Plugins([]byte(`{"enabledPlugins"`)); err == nil {
		t.Errorf("no JSON: %v, want an error", got)
	}
	var plugin struct{ Name string }
	if b, err := pluginFiles.ReadFile("plugin/.claude-plugin/plugin.json"); err != nil || json.Unmarshal(b, &plugin) != nil || plugin.Name != settings.PluginName {
		t.Errorf("the plugin is called %q, %v, want %q", plugin.Name, err, settings.PluginName)
	}
}
