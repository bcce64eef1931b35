package migration

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
	"github.com/memvcs/mem/layers/foreign"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// endsWork reports whether an error is one of the memory, after which nothing more can be stored.
func endsWork(err error) bool {
	var write *refs.WriteError
	return errors.As(err, &write) || errors.Is(err, refs.ErrLocked) || errors.Is(err, fs.ErrPermission)
}

// sessions captures the transcripts of the sessions. Of several of one session the longest comes first: the others are
// part of it, or something else.
func (w *work) sessions(ctx context.Context) error {
	type copied struct {
		*home
		src capture.Source
	}
	var rounds [][]copied
	list := slices.Clone(w.p.Sessions)
	slices.SortStableFunc(list, func(a, b foreign.Session) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), cmp.Compare(b.Size, a.Size))
	})
	nth := map[string]int{}
	for _, s := range list {
		h := &home{Session: s}
		src, why := w.source(s)
		if why != "" {
			w.tell(Item{Status: NotMapped, Kind: "session", Name: h.name(), Why: why})
			w.homes = append(w.homes, h)
			continue
		}
		h.id = src.SessionID()
		n := nth[h.id]
		nth[h.id]++
		if n == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[n] = append(rounds[n], copied{h, src})
		w.homes = append(w.homes, h)
	}
	for _, round := range rounds {
		var homes []*home
		var sources []capture.Source
		for _, c := range round {
			homes, sources = append(homes, c.home), append(sources, c.src)
		}
		if err := w.capture(ctx, homes, sources); err != nil {
			return err
		}
	}
	return nil
}

// name is how items call the session.
func (h *home) name() string { return cmp.Or(h.Name, h.ID) }

// source returns the file that holds the transcript of a session, or why there is none.
func (w *work) source(s foreign.Session) (src capture.Source, why string) {
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
		return src, "its transcript is gone: the store only points to where it was"
	}
	claude, err2 := filepath.EvalSymlinks(filepath.Join(w.o.Claude, "projects"))
	if err != nil || err2 != nil || !inside(claude, path) || filepath.Base(path) != s.ID+".jsonl" {
		return src, "its transcript is not in the store and not one of Claude Code's: mem add " + s.Outside
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

// capture captures sources, one for each home. What memory has under the same id with other content stays as it is.
func (w *work) capture(ctx context.Context, homes []*home, sources []capture.Source) error {
	known, err := w.add(ctx, sources, capture.AddOptions{DryRun: true, Known: true})
	if err != nil {
		return err
	}
	var todo []capture.Source
	for i, h := range homes {
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
		for i, h := range homes {
			if sources[i].Path == a.Path {
				w.captured(h, a)
			}
		}
	}
	return err
}

// add captures sources. Those that cannot be captured are told.
func (w *work) add(ctx context.Context, sources []capture.Source, o capture.AddOptions) ([]capture.Added, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	added, err := capture.On(w.m.DB).Add(ctx, sources, o)
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	var fatal error
	for _, one := range list {
		var src *capture.SourceError
		switch {
		case errors.As(one, &src) && (o.DryRun && o.Known): // it is tried again
		case errors.As(one, &src):
			why := strings.ReplaceAll(one.Error(), src.Source.Path, filepath.Base(src.Source.Path))
			w.tell(Item{Status: NotMapped, Kind: "session", Name: src.Source.SessionID(), Why: why})
		default:
			fatal = errors.Join(fatal, one)
		}
	}
	return added, fatal
}

// captured tells what became of a session.
func (w *work) captured(h *home, a capture.Added) {
	h.project = a.Project
	it := Item{Kind: "session", Name: h.name(), As: records.ShortID(h.id), Project: a.Project.Name}
	switch a.Change {
	case "new", "grown":
		it.Status, h.change = map[string]string{"new": New, "grown": Grown}[a.Change], a.Change
	case "unchanged":
		it.Status, h.change = Unchanged, a.Change
	case "forgotten":
		it.Status, it.Why = NotMapped, "it was forgotten: it is not taken in again"
	default:
		it.Status, it.Why = Conflict, "memory has this session with other content, which stays"
		h.change = "conflict"
	}
	if h.change == "grown" && a.Growth() != "" {
		it.Why = fmt.Sprintf("+%s", a.Growth())
	}
	w.tell(it)
}
