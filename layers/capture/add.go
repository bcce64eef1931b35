package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// AddOptions are the options of [Add].
type AddOptions struct {
	DryRun   bool
	Op       string                   // for the log: "add" (the default), "import", "capture"
	Tool     string                   // for the log: the tool whose store is imported; "" for none
	Progress func(bytes int64)        // called after each source with its size, from any goroutine; may be nil
	Show     bool                     // show hidden sessions again, because the user names them; else they are captured and stay hidden
	Known    bool                     // only sessions that are in memory, and their subagents
	Only     func(state.Project) bool // selects projects; nil selects all
	Within   func(dir string) bool    // selects working directories; nil selects all
	Into     *state.Project           // the project, whatever the working directories say; nil: theirs
	Hide     bool                     // new sessions are hidden
}

// A SourceError is the error of one source.
type SourceError struct {
	Source Source
	Err    error
}

func (e *SourceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *SourceError) Unwrap() error { return e.Err }

// Limits of one commit of a large import, which is the work that a kill can lose. Each commit reads and caches the
// whole project, so the number of files and of bytes grows to an eighth of those that were committed before.
const (
	BatchFiles = 256
	BatchMost  = 4096
	BatchBytes = 4 << 20
	BytesMost  = 256 << 20
)

// Add captures sources, each into the project it belongs to. A source that cannot be captured does not stop the
// others: Add returns the results of those together with the joined errors, each a [*SourceError]. An error of the
// store stops it. Adding a source again changes nothing.
func Add(ctx context.Context, db *state.DB, sources []Source, o AddOptions) ([]Added, error) {
	var failed []error
	groups, err := group(ctx, db, sources, o, &failed)
	if err != nil {
		return nil, err
	}
	if o.Only != nil {
		groups = slices.DeleteFunc(groups, func(g *Group) bool { return !o.Only(g.project) })
	}
	if o.Known {
		if groups, err = knownOnly(ctx, db, groups); err != nil {
			return nil, err
		}
	}
	ended := addGroups(ctx, db, groups, o)
	var out []Added
	for _, g := range groups {
		out = append(out, g.added...)
		failed = append(failed, g.failed...)
	}
	if ended != nil {
		return out, errors.Join(append(failed, ended)...)
	}
	if err := rememberPaths(ctx, db, groups, o); err != nil {
		return out, errors.Join(append(failed, err)...)
	}
	return out, errors.Join(failed...)
}

// knownOnly removes the sources of sessions that are not in memory.
func knownOnly(ctx context.Context, db *state.DB, groups []*Group) ([]*Group, error) {
	for _, g := range groups {
		st, err := trust.Outline(ctx, db, g.project.ID)
		if err != nil {
			return nil, err
		}
		var sources []Source
		var sizes []int64
		for i, src := range g.Sources {
			if st.Session(src.SessionID()) != nil || src.Parent != "" && st.Session(src.Parent) != nil {
				sources, sizes = append(sources, src), append(sizes, g.Sizes[i])
			}
		}
		g.Sources, g.Sizes = sources, sizes
	}
	return slices.DeleteFunc(groups, func(g *Group) bool { return len(g.Sources) == 0 }), nil
}

// addGroups captures groups concurrently, so that one is committed while others are read. It returns the error of
// the first group that an error of the store ended.
func addGroups(ctx context.Context, db *state.DB, groups []*Group, o AddOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(groups))
	side := db.Opts.Workers
	if side > 1 {
		side *= 2
	}
	state.Parallel(len(groups), side, func(i int) {
		g := groups[i]
		b := &batch{m: db, p: g.project, o: o}
		for _, sources := range g.Batches() {
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			added, failed, err := b.add(ctx, sources)
			g.added = append(g.added, added...)
			g.failed = append(g.failed, failed...)
			if errs[i] = err; err != nil {
				cancel()
				return
			}
		}
	})
	var ended error
	for _, err := range errs {
		if ended == nil || errors.Is(ended, context.Canceled) && err != nil {
			ended = err // the cause, not the cancellation of another group
		}
	}
	return ended
}

// A Group is the sources of one project.
type Group struct {
	project state.Project
	Sources []Source
	Sizes   []int64  // of the files, in the order of Sources
	dirs    []string // their working directories that are not registered yet

	added  []Added
	failed []error
}

// A place is a working directory with its project.
type place struct {
	project state.Project
	known   bool
	earlier []state.Project // that it or a parent belonged to before it was linked or unlinked
}

// placesOf finds the projects of the working directories of sources, and their earlier projects. Existing directories
// come first: the repository of a worktree that is gone may be one of them.
func placesOf(ctx context.Context, db *state.DB, looked []peeked) (map[string]*place, error) {
	find, err := projects.LoadFinder(ctx, db)
	if err != nil {
		return nil, err
	}
	places := map[string]*place{}
	for _, gone := range []bool{false, true} {
		for _, l := range looked {
			if places[l.cwd] == nil && gone != IsDir(l.cwd) {
				places[l.cwd] = placeOf(ctx, find, l.cwd)
			}
		}
	}
	return places, nil
}

func placeOf(ctx context.Context, find *projects.Finder, dir string) *place {
	at := &place{}
	at.project, at.known = find.Locate(ctx, dir)
	for d := dir; d != ""; d = projects.Parent(d) {
		for _, b := range find.Known {
			if b.Path == d && b.Project != at.project.ID {
				at.earlier = append(at.earlier, state.Project{ID: b.Project, Name: b.Name, Identity: b.Identity})
			}
		}
	}
	return at
}

// homeOf returns the project to capture a source into: a session stays in the project that has it, also after its
// directory was linked to another project or unlinked.
func homeOf(ctx context.Context, db *state.DB, at *place, src Source) (state.Project, error) {
	if len(at.earlier) == 0 {
		return at.project, nil
	}
	for _, p := range append([]state.Project{at.project}, at.earlier...) {
		st, err := trust.Outline(ctx, db, p.ID)
		if err != nil {
			return p, err
		}
		if st.Session(src.SessionID()) != nil || src.Parent != "" && st.Session(src.Parent) != nil {
			return p, nil
		}
	}
	return at.project, nil
}

// group finds the project of each source. The groups are in the order of their first source. Sources that cannot be
// read go to failed.
func group(ctx context.Context, db *state.DB, sources []Source, o AddOptions, failed *[]error) ([]*Group, error) {
	var groups []*Group
	looked, err := withDirs(ctx, db, peekAll(sources, db.Opts.Workers, failed), o)
	if err != nil {
		return nil, err
	}
	places, err := placesOf(ctx, db, looked)
	if err != nil {
		return nil, err
	}
	for _, l := range looked {
		src, cwd, size := l.src, l.cwd, l.size
		src.dir = cwd
		at := places[cwd]
		p, err := homeOf(ctx, db, at, src)
		if err != nil {
			return nil, err
		}
		if o.Into != nil {
			p = *o.Into
		}
		i := slices.IndexFunc(groups, func(g *Group) bool { return g.project.ID == p.ID })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &Group{project: p})
		}
		g := groups[i]
		if !at.known && p.ID == at.project.ID {
			g.dirs = append(g.dirs, cwd)
			at.known = true
		}
		g.Sources = append(g.Sources, src)
		g.Sizes = append(g.Sizes, size)
	}
	return groups, nil
}

// withDirs returns the sources that o selects, each with a working directory.
func withDirs(ctx context.Context, db *state.DB, looked []peeked, o AddOptions) ([]peeked, error) {
	guess := guesser{m: db, others: slices.Clone(looked)}
	var out []peeked
	for _, l := range looked {
		if l.cwd = cmp.Or(l.cwd, dirName(l.src.Cwd)); l.cwd == "" {
			var err error
			if l.cwd, err = guess.dir(ctx, l.src); err != nil {
				return nil, err
			}
		}
		if o.Within == nil || o.Within(l.cwd) {
			out = append(out, l)
		}
	}
	return out, nil
}

// dirName returns s, or "" if s cannot be the name of a directory.
func dirName(s string) string {
	if strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
		return ""
	}
	return s
}

// A peeked is a source and the working directory that its start names.
type peeked struct {
	src  Source
	cwd  string
	size int64
}

// peekAll reads the start of each source. Sources that cannot be read go to failed.
func peekAll(sources []Source, workers int, failed *[]error) []peeked {
	looked, errs := make([]peeked, len(sources)), make([]error, len(sources))
	state.Parallel(len(sources), workers, func(i int) { looked[i], errs[i] = peek(sources[i]) })
	var out []peeked
	for i, src := range sources {
		if errs[i] != nil {
			*failed = append(*failed, &SourceError{src, errs[i]})
			continue
		}
		if src.filesErr != nil { // its transcript is captured nevertheless
			*failed = append(*failed, &SourceError{src, src.filesErr})
		}
		out = append(out, looked[i])
	}
	return out
}

// peek reads the start of a source. The working directory is "" if it names none that can exist.
func peek(src Source) (peeked, error) {
	f, size, err := OpenSource(src.Path)
	if err != nil {
		return peeked{}, err
	}
	defer f.Close()
	cwd, err := transcript.Cwd(f)
	if err != nil {
		return peeked{}, fmt.Errorf("read %s: %w", src.Path, err)
	}
	return peeked{src, dirName(cwd), size}, nil
}

// A guesser finds the working directories of sources that do not name one yet.
type guesser struct {
	m      *state.DB
	others []peeked
	names  map[string]string       // working directories by the names of Claude Code's directories for them; nil until needed
	states map[string]*state.State // of the projects of directories of files
}

// dir returns the working directory of a source: the directory of the file if its project contains the session; or a
// directory that is registered, or named by another source, and for which Claude Code uses the directory of the file;
// or else the directory of the file.
func (g *guesser) dir(ctx context.Context, src Source) (string, error) {
	if g.names == nil {
		paths, err := projects.Paths(ctx, g.m)
		if err != nil {
			return "", err
		}
		g.names, g.states = map[string]string{}, map[string]*state.State{}
		for _, l := range slices.Backward(g.others) {
			if l.cwd != "" {
				g.names[ClientDir(l.cwd)] = l.cwd
			}
		}
		for _, b := range paths {
			g.names[ClientDir(b.Path)] = b.Path
		}
	}
	dir := filepath.Dir(src.Path)
	st := g.states[dir]
	if st == nil {
		p, _, err := projects.Locate(ctx, g.m, dir)
		if err == nil {
			st, err = trust.Outline(ctx, g.m, p.ID)
		}
		if err != nil {
			return "", err
		}
		g.states[dir] = st
	}
	if st.Session(src.SessionID()) != nil {
		return dir, nil
	}
	return cmp.Or(g.names[filepath.Base(dir)], dir), nil
}

// Batches divides the sources into commits of bounded size, none with two files of the same session.
func (g *Group) Batches() [][]Source {
	var out [][]Source
	start, bytes, before := 0, int64(0), int64(0)
	ids := map[string]bool{}
	for i, src := range g.Sources {
		if i-start == min(max(BatchFiles, start/8), BatchMost) || i > start && bytes+g.Sizes[i] > min(max(BatchBytes, before/8), BytesMost) ||
			ids[src.SessionID()] {
			out = append(out, g.Sources[start:i])
			start, bytes, before = i, 0, before+bytes
			clear(ids)
		}
		bytes += g.Sizes[i]
		ids[src.SessionID()] = true
	}
	return append(out, g.Sources[start:])
}

// add captures sources in one commit. If another writer commits first, it starts again from the new state.
func (b *batch) add(ctx context.Context, sources []Source) ([]Added, []error, error) {
	for try := 0; ; try++ {
		added, errs, err := b.try(ctx, sources)
		if !errors.Is(err, refs.ErrConflict) || try == 100 {
			return added, errs, err
		}
		b.st = nil
	}
}

func (b *batch) try(ctx context.Context, sources []Source) ([]Added, []error, error) {
	var err error
	if b.st == nil {
		if b.st, err = trust.State(ctx, b.m, b.p.ID); err != nil {
			return nil, nil, err
		}
	}
	s, err := b.m.Refs.Stage(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	b.ids = map[string]objects.Hash{}
	captures, errs := b.captureAll(ctx, s, sources)
	var store *refs.WriteError
	if slices.ContainsFunc(errs, func(err error) bool { return errors.As(err, &store) }) {
		return nil, nil, fmt.Errorf("store new data: %w", store) // reported once, not for each source
	}
	markEchoes(b.st, captures)
	var added []Added
	var failed []error
	for i, c := range captures {
		if errs[i] != nil {
			if errors.Is(errs[i], refs.ErrConflict) || ctx.Err() != nil {
				return nil, nil, errs[i]
			}
			failed = append(failed, &SourceError{sources[i], errs[i]})
			continue
		}
		added = append(added, c.added)
	}
	changed := slices.DeleteFunc(captures, func(c *Capture) bool {
		return c.added.Change == "" || c.added.Change == "forgotten" || c.added.Change == "unchanged" && !c.added.Shown
	})
	if b.o.DryRun || len(changed) == 0 {
		return added, failed, nil
	}
	if len(failed) > 0 { // the data that a failed source staged must not be committed
		added, more, err := b.withoutFailed(ctx, sources, errs)
		return added, append(failed, more...), err
	}
	commit, err := b.commit(ctx, s, changed)
	b.st = nil
	if err != nil {
		return nil, failed, err
	}
	for i := range added {
		if id, ok := b.ids[added[i].Session]; ok {
			added[i].ID, added[i].Commit = id, commit
		}
	}
	return added, failed, nil
}

// commit writes the staged captures and returns the name of the commit. The error is [refs.ErrConflict] if the
// captures must be made again from a newer state.
func (b *batch) commit(ctx context.Context, s *refs.Stage, changed []*Capture) (string, error) {
	m, st := b.m, b.st
	var done *refs.Tx
	direct := false // no other commit came between st and this one
	err := m.Refs.Update(ctx, b.p.ID, addMessage(changed, b.o), func(tx *refs.Tx) error {
		done, direct = tx, slices.Equal(tx.Tips(), st.Tips)
		if !direct {
			if err := originals.CheckNoPurge(ctx, tx, st.Tips); err != nil {
				return err
			}
		}
		if err := originals.SameSeals(m, changed[0].guard); err != nil {
			return err
		}
		if err := tx.Adopt(s); err != nil {
			return err
		}
		return b.record(tx, changed)
	})
	if err != nil {
		return "", err
	}
	if direct {
		m.Advance(st, done)
	}
	return done.Commit(), nil
}

// A batch captures sources of one project on top of a state of it. The next sources meet the same state if nothing was
// committed.
type batch struct {
	m   *state.DB
	p   state.Project
	st  *state.State // nil to read it
	o   AddOptions
	ids map[string]objects.Hash // of the records that were stored, by session
}

// withoutFailed adds the sources without an error in a new batch.
func (b *batch) withoutFailed(ctx context.Context, sources []Source, errs []error) ([]Added, []error, error) {
	var good []Source
	for i, src := range sources {
		if errs[i] == nil {
			good = append(good, src)
		}
	}
	o := b.o
	o.Progress = nil
	again := &batch{m: b.m, p: b.p, o: o}
	defer func() { b.st = nil }()
	return again.add(ctx, good)
}

// captureAll stages sources on several goroutines.
func (b *batch) captureAll(ctx context.Context, s *refs.Stage, sources []Source) ([]*Capture, []error) {
	m, st, o := b.m, b.st, b.o
	captures, errs := make([]*Capture, len(sources)), make([]error, len(sources))
	st.Index() // built here, then read by several goroutines
	g, err := originals.NewGuard(m, st.Purged)
	if err != nil {
		for i := range sources {
			captures[i], errs[i] = &Capture{M: m, src: sources[i]}, fmt.Errorf("read the list of deletions: %w", err)
		}
		return captures, errs
	}
	var broken atomic.Bool
	state.Parallel(len(sources), m.Opts.Workers, func(i int) {
		if broken.Load() {
			return // the store cannot be written: the batch fails
		}
		c := &Capture{M: m, src: sources[i], guard: g, show: o.Show}
		c.added = Added{Session: sources[i].SessionID(), Path: sources[i].Path, Project: b.p}
		captures[i] = c
		m.Slots <- struct{}{}
		defer func() { <-m.Slots }()
		if st.Purged.Session(sources[i].SessionID(), m.Refs.Device().ID) {
			c.added.Change = "forgotten"
		} else if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = c.stage(ctx, st, s)
		}
		if store := (*refs.WriteError)(nil); errors.As(errs[i], &store) {
			broken.Store(true)
		}
		c.added.Now, c.added.Hidden, c.added.Shown = c.snap, c.hidden() && !o.Show, c.hidden() && o.Show
		if errs[i] != nil {
			c.added.Change = ""
		}
		if o.Progress != nil {
			o.Progress(c.size)
		}
	})
	return captures, errs
}

// hidden reports whether the user hid the session.
func (c *Capture) hidden() bool { return c.known != nil && c.known.Deleted }

// record stages the records and patches of captures.
func (b *batch) record(tx *refs.Tx, captures []*Capture) error {
	op := cmp.Or(b.o.Op, "add")
	if b.st.Name == "" {
		body := records.ProjectBody{Identity: b.p.Identity, Name: b.p.Name}
		if _, err := tx.Add(records.KindProject, body); err != nil {
			return err
		}
	}
	for _, c := range captures {
		if c.added.Shown {
			if _, err := tx.Add(records.KindSet, records.SetBody{Target: "session/" + c.snap.Session, Field: "deleted",
				Value: false}); err != nil {
				return err
			}
		}
		if c.added.Change == "unchanged" {
			continue
		}
		rec, err := tx.Add(records.KindSession, c.snap)
		if err == nil && b.o.Hide && c.known == nil {
			_, err = tx.Add(records.KindSet, records.SetBody{Target: "session/" + c.snap.Session, Field: "deleted", Value: true})
		}
		if err != nil {
			return err
		}
		b.ids[c.snap.Session] = rec.ID
		for _, u := range compositionUses(b.st, c) {
			if _, err := tx.Add(records.KindUse, u); err != nil {
				return err
			}
		}
		if err := c.putPatches(tx, rec.ID); err != nil {
			return err
		}
		if len(captures) == 1 {
			tx.Trailer("Op", op)
			tx.Trailer("Session", c.snap.Session)
			tx.Trailer("Output", c.snap.Original.String())
		}
	}
	if len(captures) > 1 {
		tx.Trailer("Op", op)
		tx.Trailer("Sessions", fmt.Sprint(len(captures)))
	}
	return nil
}

func addMessage(captures []*Capture, o AddOptions) string {
	op, from := cmp.Or(o.Op, "add"), ""
	if o.Tool != "" {
		from = " from " + o.Tool
	}
	if len(captures) > 1 {
		return fmt.Sprintf("%s %d sessions%s", op, len(captures), from)
	}
	c := captures[0]
	what := fmt.Sprintf("%s %s%s", op, records.ShortID(c.snap.Session), from)
	if c.added.Change == "grown" {
		what += "  +" + c.added.Growth()
	} else if title := c.snap.Scan.Title; title != "" {
		what += fmt.Sprintf(" %q", title)
	}
	if n := c.added.Rewound; n > 0 {
		what += ", " + records.Numbered(n, "turn", "turns") + " rewound"
	}
	if c.added.Shown {
		what += ", shown again"
	}
	return what
}

// rememberPaths registers the new directories of groups with their projects.
func rememberPaths(ctx context.Context, db *state.DB, groups []*Group, o AddOptions) error {
	if o.DryRun {
		return nil
	}
	var paths []records.PathBody
	for _, g := range groups {
		for _, dir := range g.dirs {
			paths = append(paths, records.PathBody{Path: dir, Project: g.project.ID, Identity: g.project.Identity,
				Name: g.project.Name})
		}
	}
	return projects.AddPaths(ctx, db, paths)
}
