package interchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// isFatal reports whether an error means that nothing more can be stored.
func isFatal(err error) bool {
	var write *refs.WriteError
	return errors.As(err, &write) || errors.Is(err, refs.ErrLocked) || errors.Is(err, fs.ErrPermission)
}

// sessions captures the transcripts of the sessions. If one session has several, the longest is captured first: the
// others are part of it or conflict with it.
func (w *projectImport) sessions(ctx context.Context) error {
	type copied struct {
		*target
		src capture.Source
	}
	var rounds [][]copied
	list := slices.Clone(w.p.Sessions)
	slices.SortStableFunc(list, func(a, b storeSession) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(b.Size, a.Size))
	})
	nth := map[string]int{}
	for _, s := range list {
		h := &target{storeSession: s}
		src, why := w.source(s)
		if why != "" {
			w.record(Item{Status: NotMapped, Kind: "session", Name: h.name(), Why: why})
			w.targets = append(w.targets, h)
			continue
		}
		h.id = src.SessionID()
		n := nth[h.id]
		nth[h.id]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], copied{h, src})
		w.targets = append(w.targets, h)
	}
	for _, round := range rounds {
		var targets []*target
		var sources []capture.Source
		for _, c := range round {
			targets, sources = append(targets, c.target), append(sources, c.src)
		}
		if err := w.capture(ctx, targets, sources); err != nil {
			return err
		}
	}
	return nil
}

// name returns the name of the session in items.
func (h *target) name() string { return cmp.Or(h.Name, h.ID) }

// source returns the transcript of a session, or why there is none.
func (w *projectImport) source(s storeSession) (src capture.Source, why string) {
	switch {
	case records.SessionOf(s.ID) != records.Session(s.ID):
		return src, "its id is not a session id"
	case s.File != "":
		return capture.Source{Path: w.store.Path(s.File), ID: s.ID}, ""
	case s.Problem != "":
		return src, s.Problem
	case s.Outside == "":
		return src, "the store has no transcript of it"
	}
	path, err := filepath.EvalSymlinks(s.Outside)
	if errors.Is(err, fs.ErrNotExist) {
		return src, "its transcript was deleted: the store has only its path"
	}
	claude, err2 := filepath.EvalSymlinks(filepath.Join(w.o.Claude, "projects"))
	if err != nil || err2 != nil || !inside(claude, path) || filepath.Base(path) != s.ID+".jsonl" {
		return src, "its transcript is neither in the store nor one of Claude Code's: mem add " + s.Outside
	}
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return src, "its transcript is not a regular file"
	}
	return capture.SourceOf(path), ""
}

func inside(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// capture captures one source for each target. A session with other content in memory is not changed.
func (w *projectImport) capture(ctx context.Context, targets []*target, sources []capture.Source) error {
	known, err := w.add(ctx, sources, capture.AddOptions{DryRun: true, Known: true})
	if err != nil {
		return err
	}
	var todo []capture.Source
	for i, h := range targets {
		k := slices.IndexFunc(known, func(a capture.Added) bool { return a.Path == sources[i].Path })
		if k < 0 || known[k].Change == "grown" {
			todo = append(todo, sources[i])
			continue
		}
		w.captured(h, known[k])
	}
	added, err := w.add(ctx, todo, capture.AddOptions{DryRun: w.o.DryRun, Op: "import", Tool: w.store.Tool,
		Progress: w.o.Progress})
	w.report.Added = append(w.report.Added, added...)
	for _, a := range added {
		for i, h := range targets {
			if sources[i].Path == a.Path {
				w.captured(h, a)
			}
		}
	}
	return err
}

// add captures sources. It records those that cannot be captured.
func (w *projectImport) add(ctx context.Context, sources []capture.Source,
	o capture.AddOptions) ([]capture.Added, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	added, err := capture.Add(ctx, w.m, sources, o)
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var fatal error
	for _, one := range list {
		var src *capture.SourceError
		switch {
		case errors.As(one, &src) && (o.DryRun && o.Known): // it is retried
		case errors.As(one, &src):
			why := strings.ReplaceAll(one.Error(), src.Source.Path, filepath.Base(src.Source.Path))
			w.record(Item{Status: NotMapped, Kind: "session", Name: src.Source.SessionID(), Why: why})
		default:
			fatal = errors.Join(fatal, one)
		}
	}
	return added, fatal
}

// captured records the result of a capture.
func (w *projectImport) captured(h *target, a capture.Added) {
	h.project = a.Project
	it := Item{Kind: "session", Name: h.name(), As: records.ShortID(h.id), Project: a.Project.Name}
	switch a.Change {
	case "new", "grown":
		it.Status, h.change = map[string]string{"new": New, "grown": Grown}[a.Change], a.Change
	case "unchanged":
		it.Status, h.change = Unchanged, a.Change
	case "forgotten":
		it.Status, it.Why = NotMapped, "it was forgotten, and is not captured again"
	default:
		it.Status, it.Why = Conflict, "memory has this session with other content and keeps it"
		h.change = "conflict"
	}
	if h.change == "grown" && a.Growth() != "" {
		it.Why = fmt.Sprintf("+%s", a.Growth())
	}
	w.record(it)
}
