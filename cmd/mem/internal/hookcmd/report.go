package hookcmd

import (
	"errors"
	"slices"

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

// Judge returns where hooks of a scope, or with "" of all scopes, are installed, also after an error about another scope.
func Judge(e *app.Env, only string) (r Report, err error) {
	r.Program, err = e.Executable() // "" if it was deleted meanwhile: hooks run another program
	if only == "" {
		r.Plugin = pluginOf(e)
	}
	for _, scope := range scopesOf(e, only) {
		f, ferr := SettingsOf(e, scope)
		if err = errors.Join(err, ferr); ferr == nil {
			r.Files = append(r.Files, hooksIn(scope, f, r.Program))
		}
	}
	return r, err
}

// ReportOf returns the state of the hooks of a scope, or with "" of all scopes.
func ReportOf(e *app.Env, only string) (Report, error) {
	r, err := Judge(e, only)
	if err != nil {
		return r, err
	}
	store, err := e.MemoryDir()
	if err != nil {
		return r, err
	}
	s, err := app.HookSettings(e)
	r.Capture, r.Blocking, r.Every, r.Distill = s.Capture, s.Blocking, s.Every, s.Distill
	r.Spool, r.Behind, r.Runs = hooks.Spooled(store), hooks.Backlogs(store), append([]hooks.Timing{}, hooks.Timings(store)...)
	r.LogFile = hooks.LogFile(store)
	r.Log = LastLines(r.LogFile, 5)
	return r, err
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

// Any reports whether hooks are installed, even if they do not work.
func (r Report) Any() bool {
	return r.Plugin != nil || slices.ContainsFunc(r.Files, func(f HooksInFile) bool { return f.State != "none" })
}

// Found reports whether hooks are installed, even if they do not work: "mem doctor" explains that.
func Found(e *app.Env) bool {
	r, _ := Judge(e, "") // without a home there are no settings
	return r.Any()
}
