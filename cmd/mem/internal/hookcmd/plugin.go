package hookcmd

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
)

// A HooksPlugin is mem's plugin, enabled in the settings of Claude Code. It runs the same hooks.
type HooksPlugin struct {
	ID    string `json:"id"`    // such as mem@memvcs
	Scope string `json:"scope"` // of the settings that enable it
	File  string `json:"file"`
	State string `json:"state"` // enabled, disabled
	Off   string `json:"-"`     // the file that disables all hooks

	Ran time.Time `json:"-"` // of one that no settings name
}

// Name says which plugin it is.
func (p *HooksPlugin) Name() string {
	if p.File == "" {
		return "the plugin in " + p.ID
	}
	return "the plugin " + p.ID
}

// enabledPlugin returns mem's plugin if it is enabled, else nil. The narrower scope wins; unreadable settings are ignored.
func enabledPlugin(e *app.Env) *HooksPlugin {
	on, off := map[string]HooksPlugin{}, ""
	for _, scope := range hookScopes() {
		f, err := SettingsOf(e, scope)
		if err != nil {
			continue
		}
		plugins, disabled, err := f.Plugins()
		if err != nil {
			continue
		}
		if disabled {
			off = f.Path
		}
		for id, enabled := range plugins {
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

// pluginOf is [enabledPlugin], or the plugin that was given by --plugin-dir: no settings name it, but its hooks ran last.
func pluginOf(e *app.Env) *HooksPlugin {
	if p := enabledPlugin(e); p != nil {
		return p
	}
	store, err := e.MemoryDir()
	if err != nil {
		return nil
	}
	called := hooks.LastCaller(store)
	if called.Root == "" || called.Setting.After(called.Plugin) && !called.Both() {
		return nil
	}
	return &HooksPlugin{ID: called.Root, Scope: "--plugin-dir", State: "given", Ran: called.Plugin}
}

// Twice reports whether the hooks in the settings of scopes run in addition to those of the plugin.
func (p *HooksPlugin) Twice(scopes []string) bool { return p != nil && p.Off == "" && len(scopes) > 0 }

// UninstallFrom returns the commands that remove the hooks from the settings of scopes.
func UninstallFrom(scopes []string) string {
	return strings.Join(app.Each(scopes, func(s string) string { return "mem hooks uninstall --scope " + s }), "; ")
}

// printPlugin prints the state of the plugin and warns if its hooks run twice.
func printPlugin(e *app.Env, p *HooksPlugin, installed []string) {
	where := "in " + p.File
	if p.File == "" {
		where = p.Scope
	}
	e.Printf("plugin   %-15s %s, %s\n", p.State, e.Safe(p.ID), e.Safe(where))
	if p.Off != "" {
		e.Printf("         \"disableAllHooks\" is true in %s: remove it\n", e.Safe(p.Off))
	}
	if p.Twice(installed) {
		e.Printf("         each hook runs twice: remove one of the two\n         %s\n", UninstallFrom(installed))
		if p.File != "" {
			e.Printf("         claude plugin disable %s\n", e.Safe(p.ID))
		}
	}
}
