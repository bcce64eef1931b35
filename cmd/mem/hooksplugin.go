package main

import (
	"maps"
	"slices"
	"strings"
)

// A hooksPlugin is mem's plugin as the settings of Claude Code enable it: it runs the hooks that settings would.
type hooksPlugin struct {
	ID    string `json:"id"`    // such as mem@memvcs
	Scope string `json:"scope"` // of the settings that say so
	File  string `json:"file"`
	State string `json:"state"` // enabled, disabled
	off   string // the file that switches all hooks off
}

// plugin returns mem's plugin if it is enabled, else nil. Of two settings those of the narrower scope hold; those that cannot be
// read say nothing.
func (e *Env) plugin() *hooksPlugin {
	on, off := map[string]hooksPlugin{}, ""
	for _, scope := range hookScopes() {
		f, err := e.settingsOf(scope)
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
				on[id] = hooksPlugin{ID: id, Scope: scope, File: f.Path, State: "enabled"}
			}
		}
	}
	if len(on) == 0 {
		return nil
	}
	p := on[slices.Min(slices.Collect(maps.Keys(on)))]
	if p.off = off; off != "" {
		p.State = "disabled"
	}
	return &p
}

// twice reports whether hooks that the settings of some scopes hold run beside those of the plugin.
func (p *hooksPlugin) twice(scopes []string) bool { return p != nil && p.off == "" && len(scopes) > 0 }

// uninstallFrom is what to type to take the hooks out of the settings of scopes.
func uninstallFrom(scopes []string) string {
	var lines []string
	for _, s := range scopes {
		lines = append(lines, "mem hooks uninstall --scope "+s)
	}
	return strings.Join(lines, "; ")
}

// printPlugin says that there is a plugin, and that one is enough.
func (e *Env) printPlugin(p *hooksPlugin, installed []string) {
	e.printf("plugin   %-15s %s, in %s\n", p.State, e.safe(p.ID), e.safe(p.File))
	switch {
	case p.off != "":
		e.printf("         \"disableAllHooks\" is true in %s: take it out\n", e.safe(p.off))
	case p.twice(installed):
		e.printf("         each hook runs twice: take one of the two away\n         %s\n         claude plugin disable %s\n", uninstallFrom(installed), e.safe(p.ID))
	}
}
