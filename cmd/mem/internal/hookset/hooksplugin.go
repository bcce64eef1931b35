package hookset

import (
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A hooksPlugin is mem's plugin as the settings of Claude Code enable it: it runs the hooks that settings would.
type HooksPlugin struct {
	ID    string `json:"id"`    // such as mem@memvcs
	Scope string `json:"scope"` // of the settings that say so
	File  string `json:"file"`
	State string `json:"state"` // enabled, disabled
	Off   string `json:"-"`     // the file that switches all hooks off
}

// Plugin returns mem's plugin if it is enabled, else nil. Of two settings those of the narrower scope hold;
// those that cannot be read say nothing.
func Plugin(e *app.Env) *HooksPlugin {
	on, off := map[string]HooksPlugin{}, ""
	for _, scope := range HookScopes() {
		f, err := SettingsOf(e, scope)
		if err != nil {
			continue
		}
		said, disabled, err := f.Plugins()
		if err != nil {
			continue
		}
		if disabled {
			off = f.Path
		}
		for id, enabled := range said {
			if delete(on, id); enabled {
				on[id] = HooksPlugin{ID: id, Scope: scope, File: f.Path, State: "enabled"}
			}
		}
	}
	if len(on) == 0 {
		return nil
	}
	p := on[slices.Min(slices.Collect(maps.Keys(on)))]
	if p.Off = off; off != "" {
		p.State = "disabled"
	}
	return &p
}

// Twice reports whether hooks that the settings of some scopes hold run beside those of the plugin.
func (p *HooksPlugin) Twice(scopes []string) bool { return p != nil && p.Off == "" && len(scopes) > 0 }

// UninstallFrom is what to type to take the hooks out of the settings of scopes.
func UninstallFrom(scopes []string) string {
	var lines []string
	for _, s := range scopes {
		lines = append(lines, "mem hooks uninstall --scope "+s)
	}
	return strings.Join(lines, "; ")
}

// PrintPlugin says that there is a plugin, and that one is enough.
func PrintPlugin(e *app.Env, p *HooksPlugin, installed []string) {
	e.Printf("plugin   %-15s %s, in %s\n", p.State, e.Safe(p.ID), e.Safe(p.File))
	switch {
	case p.Off != "":
		e.Printf("         \"disableAllHooks\" is true in %s: take it out\n", e.Safe(p.Off))
	case p.Twice(installed):
		e.Printf("         each hook runs twice: take one of the two away\n         %s\n         claude plugin disable %s\n",
			UninstallFrom(installed), e.Safe(p.ID))
	}
}
