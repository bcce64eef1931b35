package api

import "time"

// A Check is one check of "mem doctor".
type Check struct {
	Name  string
	Level string // ok, warn, fail or fixed
	What  string
	Fix   string // the command that fixes it, "" if nothing is wrong
}

// A HooksState is what "mem hooks status" shows.
type HooksState struct {
	Program  string
	Capture  bool
	Blocking string
	Every    int    // uses of a tool between two captures
	Distill  string // the engine that distils a session at its end, "" for none
	Spool    int    // pending notes
	Behind   int    // directories whose sessions a worker still captures
	Files    []HooksFile
	Plugin   string // the plugin that brings the hooks, "" for none
	Runs     []HookRuns
	Log      []string // its last lines
	LogFile  string
}

// Installed reports whether any settings file or plugin has the hooks.
func (h HooksState) Installed() bool {
	for _, f := range h.Files {
		if f.State == "installed" {
			return true
		}
	}
	return h.Plugin != ""
}

// A HooksFile is a settings file of Claude Code and what it has of the hooks.
type HooksFile struct {
	Scope, File, State string
	Advice             []string
}

// HookRuns is how the last runs of the hooks of one event went.
type HookRuns struct {
	Event    string
	Runs     int
	Failed   int
	Last     time.Time
	P50, P95 time.Duration // inside the program
}
