package interchange

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// ImportOptions of an import.
type ImportOptions struct {
	DryRun   bool
	Claude   string           // the directory of Claude Code, whose transcripts a store may point to
	Project  *state.Project   // of facts, concepts and rules; nil: the one that the store names
	Here     string           // the working directory, if the store names no project
	Progress func(done int64) // receives the bytes of each transcript; may be nil
}

// Statuses of an [Item].
const (
	New       = "new"
	Grown     = "grown"
	Unchanged = "unchanged"
	Conflict  = "conflict"   // memory has other content under that name and keeps it
	skipped   = "skipped"    // memory derives it or does not need it
	NotMapped = "not mapped" // see Why
)

// An Item is an entry of a store and the result of its import. JSON is the output of mem import.
type Item struct {
	Status  string `json:"status"`
	Kind    string `json:"kind"` // session, marker, title, tag, fact, concept, rule, file, ...
	Name    string `json:"name"` // in the store
	As      string `json:"as"`   // in memory
	Project string `json:"project"`
	Why     string `json:"why"`
}

// A Report is the result of an import.
type Report struct {
	Tool  string
	Items []Item
	Added []capture.Added // sessions that are new or have grown
}

// Count returns how many items have one of the statuses.
func (r Report) Count(statuses ...string) (n int) {
	for _, it := range r.Items {
		if slices.Contains(statuses, it.Status) {
			n++
		}
	}
	return n
}

// Import imports a store. An error of the memory itself ends it; the report then lists what was done before.
func Import(ctx context.Context, db *state.DB, s *Store, o ImportOptions) (Report, error) {
	forgotten, err := originals.Forgotten(db)
	if err != nil {
		return Report{Tool: s.Tool}, err
	}
	r := &importer{m: db, o: o, store: s, forgotten: forgotten, report: Report{Tool: s.Tool}}
	for _, p := range s.Projects {
		if err := (&projectImport{importer: r, p: p}).run(ctx); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// An importer imports one store.
type importer struct {
	m      *state.DB
	o      ImportOptions
	store  *Store
	report Report

	forgotten func(text string) bool // reports whether text contains forgotten text
}

// errForgotten reports an entry with forgotten text, which is not imported again.
var errForgotten = errors.New("it contains forgotten text")

// A projectImport imports one project of a store.
type projectImport struct {
	*importer
	p       storeProject
	targets []*target
}

// A target is a session of the store and its place in memory.
type target struct {
	storeSession
	id      string
	project state.Project
	change  string // status of the capture; "" if it is not in memory
}

func (w *projectImport) run(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.sessions, w.sessionParts, w.knowledge} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	name := w.p.Name
	for _, h := range w.targets {
		if h.project.Name != "" {
			name = h.project.Name
			break
		}
	}
	for _, l := range w.p.Omitted {
		status := NotMapped
		if l.Redundant {
			status = skipped
		}
		w.record(Item{Status: status, Kind: l.Kind, Name: l.Name, Project: name, Why: l.Why})
	}
	return nil
}

// record adds an item to the report.
func (w *projectImport) record(it Item) {
	if it.Project == "" {
		it.Project = w.p.Name
	}
	it.Why = strings.Join(strings.Fields(it.Why), " ")
	w.report.Items = append(w.report.Items, it)
}

// reject records an item that was not imported because of an error. It returns the error if that ends the import.
func (w *projectImport) reject(it Item, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || isFatal(err) {
		return err
	}
	it.Status, it.Why = NotMapped, err.Error()
	w.record(it)
	return nil
}

// session returns the session of a target, nil if it is not in memory.
func (w *projectImport) session(ctx context.Context, h *target) (*state.Session, error) {
	if h.change == "" {
		return nil, nil
	}
	st, err := trust.State(ctx, w.m, h.project.ID)
	if err != nil {
		return nil, err
	}
	return st.Session(h.id), nil
}

// targetOf returns the target of the session with a name or ID in the store, nil if it is not in memory.
func (w *projectImport) targetOf(name string) *target {
	for _, h := range w.targets {
		if h.change != "" && (h.ID == name || h.Name == name) && name != "" {
			return h
		}
	}
	return nil
}

// project returns the project for facts, concepts and rules.
func (w *projectImport) project(ctx context.Context) (state.Project, error) {
	if w.o.Project != nil {
		return *w.o.Project, nil
	}
	for _, h := range w.targets {
		if h.change != "" {
			return h.project, nil
		}
	}
	p, _, err := projects.Locate(ctx, w.m, cmp.Or(w.p.Dir, w.o.Here))
	return p, err
}

// redacted returns a text of the store with its secrets replaced. Numbers gives secrets of the session their numbers
// there.
func (w *projectImport) redacted(text string, numbers *redact.Numbers) string {
	clean, _ := secrets.RulesIn(w.m, w.p.Dir).Redact([]byte(text), numbers)
	return string(clean)
}
