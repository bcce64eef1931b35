// Package migration imports the stores of other memory tools.
//
// Originals are captured like any session, byte for byte and with the same rules for secrets. Derived data of
// another tool is verified like the answer of a model: a version is stored only if its text follows from its
// session, a fact without a quote in a session is inferred, and a rule is proposed until the user promotes it.
// Existing data is never overwritten, and a second import of the same store changes nothing. Everything in a store
// is reported as an [Item], with the reason if it was not imported.
package migration

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/foreign"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// Ops are the operations of this package on a store.
type Ops struct{ *state.DB }

// On returns the operations on db.
func On(db *state.DB) Ops { return Ops{db} }

// Options say how to import.
type Options struct {
	DryRun   bool
	Claude   string           // the directory of Claude Code, whose transcripts a store may point to
	Project  *state.Project   // that facts, concepts and rules belong to; nil: what the store says
	Here     string           // the working directory, if the store says nothing
	Progress func(done int64) // told the bytes of each transcript; may be nil
}

// What became of an [Item].
const (
	New       = "new"
	Grown     = "grown"
	Unchanged = "unchanged"
	Conflict  = "conflict"   // memory has something else under that name, which stays
	Skipped   = "skipped"    // memory makes it by itself, or needs no such thing
	NotMapped = "not mapped" // see Why
)

// An Item is something in a store and what became of it.
type Item struct {
	Status  string `json:"status"`
	Kind    string `json:"kind"` // session, version, marker, title, tag, composition, fact, concept, rule, file, ...
	Name    string `json:"name"` // in the store
	As      string `json:"as"`   // in memory
	Project string `json:"project"`
	Why     string `json:"why"`
}

// A Report is what became of a store.
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

// Import imports a store. An error of the memory itself ends it; the report then lists the items imported before.
func (m Ops) Import(ctx context.Context, s *foreign.Store, o Options) (Report, error) {
	forgotten, err := capture.On(m.DB).Forgotten()
	if err != nil {
		return Report{Tool: s.Tool}, err
	}
	r := &run{m: m, o: o, store: s, forgotten: forgotten, report: Report{Tool: s.Tool}}
	for _, p := range s.Projects {
		w := &work{run: r, p: p}
		if err := w.all(ctx); err != nil {
			return r.report, err
		}
	}
	return r.report, nil
}

// A run is an import on its way.
type run struct {
	m      Ops
	o      Options
	store  *foreign.Store
	report Report

	forgotten func(text string) bool // whether it contains what was forgotten
}

// errForgotten says that something is not taken in again.
var errForgotten = errors.New("it contains what was forgotten")

// A work is the import of one project of a store.
type work struct {
	*run
	p     foreign.Project
	homes []*home
}

// A home is where a session of the store is in memory.
type home struct {
	foreign.Session
	id      string
	project state.Project
	change  string // what became of it; "" if it is not in memory
}

func (w *work) all(ctx context.Context) error {
	for _, step := range []func(context.Context) error{w.sessions, w.parts, w.compositions, w.knowledge} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	name := w.p.Name
	for _, h := range w.homes {
		if h.project.Name != "" {
			name = h.project.Name
			break
		}
	}
	for _, l := range w.p.Left {
		status := NotMapped
		if l.Made {
			status = Skipped
		}
		w.tell(Item{Status: status, Kind: l.Kind, Name: l.Name, Project: name, Why: l.Why})
	}
	return nil
}

// tell adds an item.
func (w *work) tell(it Item) {
	if it.Project == "" {
		it.Project = w.p.Name
	}
	it.Why = strings.Join(strings.Fields(it.Why), " ")
	w.report.Items = append(w.report.Items, it)
}

// refused tells that something was not imported because of an error, unless it is one that ends the work.
func (w *work) refused(it Item, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || endsWork(err) {
		return err
	}
	it.Status, it.Why = NotMapped, err.Error()
	w.tell(it)
	return nil
}

// session returns the session of a home as it is in memory, nil if it is not there.
func (w *work) session(ctx context.Context, h *home) (*state.State, *state.Session, error) {
	if h.change == "" {
		return nil, nil, nil
	}
	st, err := trust.On(w.m.DB).State(ctx, h.project.ID)
	if err != nil {
		return nil, nil, err
	}
	return st, st.Session(h.id), nil
}

// homeOf returns the home of the session that the store calls name, nil if it is not in memory.
func (w *work) homeOf(name string) *home {
	for _, h := range w.homes {
		if h.change != "" && (h.ID == name || h.Name == name) && name != "" {
			return h
		}
	}
	return nil
}

// project returns the project that facts, concepts and rules of the store's project belong to.
func (w *work) project(ctx context.Context) (state.Project, error) {
	if w.o.Project != nil {
		return *w.o.Project, nil
	}
	for _, h := range w.homes {
		if h.change != "" {
			return h.project, nil
		}
	}
	dir := w.p.Dir
	if dir == "" {
		dir = w.o.Here
	}
	p, _, err := projects.On(w.m.DB).Locate(ctx, dir)
	return p, err
}

// redacted returns a text of the store without the secrets in it, which are numbered as in the session they came from
// if numbers knows that one's.
func (w *work) redacted(text string, numbers *redact.Numbers) string {
	clean, _ := secrets.On(w.m.DB).RulesIn(w.p.Dir).Redact([]byte(text), numbers)
	return string(clean)
}
