package hookcmd

import (
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
)

// A Report is the state of the hooks, as mem hooks status prints it.
type Report struct {
	Program  string         `json:"program"`
	Capture  bool           `json:"capture"`
	Blocking string         `json:"blocking"`
	Every    int            `json:"every"`   // uses of a tool between two captures
	Distill  string         `json:"distill"` // the engine that distils a session at its end, "" for none
	Spool    int            `json:"spool"`   // pending notes
	Behind   int            `json:"behind"`  // directories that a worker catches up in
	Runs     []hooks.Timing `json:"runs"`
	Files    []HooksInFile  `json:"files"`
	Plugin   *HooksPlugin   `json:"plugin,omitempty"`
	Log      []string       `json:"log"` // its last lines
	LogFile  string         `json:"logFile"`
}

// ReportOf returns the state of the hooks of a scope, or with "" of all scopes.
func ReportOf(e *app.Env, only string) (r Report, err error) {
	store, err := e.MemoryDir()
	if err != nil {
		return r, err
	}
	s, err := app.HookSettings(e)
	if err != nil {
		return r, err
	}
	self, err := e.Executable()
	if err != nil {
		return r, err
	}
	r = Report{Program: self, Capture: s.Capture, Blocking: s.Blocking, Every: s.Every, Distill: s.Distill, Spool: hooks.Spooled(store),
		Behind: hooks.Backlogs(store), Runs: append([]hooks.Timing{}, hooks.Timings(store)...), LogFile: hooks.LogFile(store),
		Log: LastLines(hooks.LogFile(store), 5)}
	if only == "" {
		r.Plugin = RunningPlugin(e)
	}
	for _, scope := range scopesOf(e, only) {
		f, err := SettingsOf(e, scope)
		if err != nil {
			return r, err
		}
		r.Files = append(r.Files, HooksIn(scope, f, self))
	}
	return r, nil
}

// scopesOf returns the named scope, or all scopes.
func scopesOf(e *app.Env, only string) []string {
	if only != "" {
		return []string{only}
	}
	return DistinctScopes(e)
}

// Scopes returns the scopes with correct hooks.
func (r Report) Scopes() (out []string) {
	for _, f := range r.Files {
		if f.State == "installed" {
			out = append(out, f.Scope)
		}
	}
	return out
}

// Installed reports whether any settings file or plugin has the hooks.
func (r Report) Installed() bool {
	return len(r.Scopes()) > 0 || r.Plugin != nil && r.Plugin.Off == ""
}

// Advice returns the problem with the hooks in a file and the commands that fix it.
func (f HooksInFile) Advice(self string) []string {
	again := "mem hooks install --scope " + f.Scope
	switch f.State {
	case "disabled":
		return []string{"\"disableAllHooks\" is true there: remove it"}
	case "incomplete":
		return []string{"missing: " + strings.Join(f.Missing, ", "), again}
	case "another program":
		return []string{"they run " + strings.Join(f.Commands, ", "), "this is " + self, again}
	case "another memory":
		return []string{"they write " + strings.Join(f.Stores, ", "), again}
	case "outdated":
		return []string{"another version of mem wrote them", again}
	case "unreadable":
		return []string{f.Error}
	}
	return nil
}
