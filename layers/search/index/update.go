package index

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gofrs/flock"
)

// A Plan lists the contents that an index should have.
type Plan struct {
	Key      string
	Sessions []Session
	Sources  []Source
}

// A Source yields documents for the index.
type Source struct {
	Name    string
	Version string                    // of its content: the index keeps documents of the same name and version
	Session int                       // index in Sessions; -1 if there is no session
	Docs    func(add func(Doc)) error // returns [ErrIncomplete] after the available documents if others are missing
}

// ErrIncomplete reports that a source has lost documents. Each update reads such a source again.
var ErrIncomplete = errors.New("documents of the source are missing")

// ErrBusy reports that another process writes the index.
var ErrBusy = errors.New("search index is being written")

const (
	maxMemory    = 24 << 20 // bytes of postings in memory before a segment is written
	maxSegments  = 12       // before small ones are merged
	smallSegment = 8 << 20  // bytes; a larger segment is merged only when most of its documents are dead
)

// An updater runs one [Update].
type updater struct {
	dir     string
	valid   func() bool
	plan    Plan
	old     *Head
	head    *Head
	b       *builder
	f       *os.File // of the segment that is being built
	pending []Span   // of the segment that is being built
}

// Update changes the index in dir to match plan. It keeps the documents of sources whose version is unchanged and
// reads the others. It calls valid before each rename of a new file into place; if valid returns false, nothing more
// changes and the error is [ErrBusy]. The error is also [ErrBusy] if another process updates the index. An error of
// a source stops the update and is returned.
func Update(dir string, plan Plan, valid func() bool) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	lock := flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return err
	}
	if !got {
		return ErrBusy
	}
	defer lock.Close()
	u := &updater{dir: dir, valid: valid, plan: plan}
	if u.old, err = ReadHead(dir); err != nil {
		u.old = &Head{}
	}
	err = u.run()
	if u.f != nil {
		u.f.Close()
		os.Remove(u.f.Name()) // an incomplete segment
	}
	u.sweep()
	return err
}

func (u *updater) run() error {
	if err := u.gather(); err != nil {
		return err
	}
	if err := u.merge(); err != nil {
		return err
	}
	if err := u.flush(); err != nil {
		return err
	}
	u.compact()
	return u.write()
}

// gather makes a head of the plan. It keeps the spans of the old head whose source is unchanged and adds the others to
// the segment that is being built.
func (u *updater) gather() error {
	u.head = &Head{Key: u.plan.Key, Sessions: u.plan.Sessions, Segments: slices.Clone(u.old.Segments)}
	have := make(map[[2]string]Span, len(u.old.Spans))
	for _, s := range u.old.Spans {
		have[[2]string{s.Source, s.Version}] = s
	}
	for _, src := range u.plan.Sources {
		if s, ok := have[[2]string{src.Name, src.Version}]; ok {
			s.Session = src.Session
			u.head.Spans = append(u.head.Spans, s)
			continue
		}
		if err := u.add(src.Name, src.Version, src.Session, src.Docs); err != nil {
			return err
		}
	}
	return nil
}

// add appends the documents of a source to the segment that is being built and starts one if there is none.
func (u *updater) add(name, version string, session int, docs func(func(Doc)) error) error {
	if u.b == nil {
		f, err := os.CreateTemp(u.dir, ".tmp-*")
		if err != nil {
			return err
		}
		u.f, u.b = f, newBuilder(f)
	}
	first, words, tools := u.b.docs(), u.b.words, u.b.tools
	err := docs(u.b.add)
	if errors.Is(err, ErrIncomplete) {
		version, err = "", nil
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", name, err)
	}
	u.pending = append(u.pending, Span{Source: name, Version: version, Session: session, First: first,
		Count: u.b.docs() - first, Words: u.b.words - words, ToolWords: u.b.tools - tools})
	if u.b.memory > maxMemory {
		return u.flush()
	}
	return nil
}

// flush completes the segment that is being built and adds it to the head.
func (u *updater) flush() error {
	if u.b == nil {
		return nil
	}
	docs := u.b.docs()
	size, err := u.b.finish()
	err = errors.Join(err, u.f.Close())
	tmp := u.f.Name()
	name := "s" + filepath.Base(tmp)[len(".tmp-"):]
	if err == nil && !u.valid() {
		err = ErrBusy
	}
	if err == nil {
		err = os.Rename(tmp, filepath.Join(u.dir, name))
	}
	u.b, u.f = nil, nil
	if err != nil {
		os.Remove(tmp) // the error is returned
		return err
	}
	for _, s := range u.pending {
		s.Segment = len(u.head.Segments)
		u.head.Spans = append(u.head.Spans, s)
	}
	u.head.Segments = append(u.head.Segments, Ref{name, docs, size})
	u.pending = nil
	return nil
}

// merge copies segments whose documents are mostly dead, and small segments if there are too many, into the segment
// that is being built.
func (u *updater) merge() error {
	live := make([]int, len(u.head.Segments))
	for _, s := range u.head.Spans {
		live[s.Segment] += s.Count
	}
	var rewrite, small []int
	n := 0
	for i, ref := range u.head.Segments {
		switch {
		case live[i] == 0:
		case live[i]*2 < ref.Docs:
			rewrite = append(rewrite, i)
		case ref.Size < smallSegment:
			small = append(small, i)
			n++
		default:
			n++
		}
	}
	if n > maxSegments {
		rewrite = append(rewrite, u.smallest(small)...)
	}
	for _, i := range rewrite {
		if err := u.rewrite(i); err != nil {
			return err
		}
	}
	return nil
}

// smallest returns the segments to merge when there are too many, in order of size. It stops, after at least
// maxSegments/2 segments, before one that is larger than all previous ones together.
func (u *updater) smallest(of []int) []int {
	size := func(i int) int64 { return u.head.Segments[i].Size }
	slices.SortFunc(of, func(a, b int) int { return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a, b)) })
	total := int64(0)
	for k, i := range of {
		if k >= maxSegments/2 && size(i) > total {
			return of[:k]
		}
		total += size(i)
	}
	return of
}

// rewrite copies the live documents of a segment into the segment that is being built.
func (u *updater) rewrite(i int) error {
	seg, err := openSegment(u.dir, u.head.Segments[i])
	if err != nil {
		return err
	}
	defer seg.close()
	spans := u.head.Spans
	u.head.Spans = nil
	var moved []Span
	for _, s := range spans {
		if s.Segment == i {
			moved = append(moved, s)
		} else {
			u.head.Spans = append(u.head.Spans, s)
		}
	}
	for _, s := range moved {
		err := u.add(s.Source, s.Version, s.Session, func(add func(Doc)) error {
			for n := range s.Count {
				d, err := seg.Doc(s.First + n)
				if err != nil {
					return err
				}
				add(d)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// compact removes segments without live documents from the head and sorts the spans.
func (u *updater) compact() {
	used := make([]bool, len(u.head.Segments))
	for _, s := range u.head.Spans {
		used[s.Segment] = used[s.Segment] || s.Count > 0
	}
	at := make([]int, len(used))
	var refs []Ref
	for i, ref := range u.head.Segments {
		if at[i] = len(refs); used[i] {
			refs = append(refs, ref)
		}
	}
	u.head.Segments = refs
	if len(refs) == 0 && len(u.head.Spans) > 0 { // the spans are empty
		u.head.Spans = nil
		return
	}
	for i := range u.head.Spans {
		if s := &u.head.Spans[i]; s.Count == 0 {
			s.Segment, s.First = 0, 0
		} else {
			s.Segment = at[s.Segment]
		}
	}
	slices.SortFunc(u.head.Spans, func(a, b Span) int {
		return cmp.Or(cmp.Compare(a.Segment, b.Segment), cmp.Compare(a.First, b.First), cmp.Compare(a.Count, b.Count),
			cmp.Compare(a.Source, b.Source))
	})
}

// write writes the head and renames it into place.
func (u *updater) write() error {
	b, err := u.head.encode()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(u.dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Close())
	if err == nil && !u.valid() {
		err = ErrBusy
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(u.dir, headName))
	}
	if err != nil {
		os.Remove(f.Name()) // the error is returned
	}
	return err
}

// sweep deletes the files that the head does not list.
func (u *updater) sweep() {
	h, err := ReadHead(u.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	entries, err := os.ReadDir(u.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		name := e.Name()
		if name == headName || name == "lock" || h != nil && slices.ContainsFunc(h.Segments, func(r Ref) bool {
			return r.Name == name
		}) {
			continue
		}
		os.Remove(filepath.Join(u.dir, name)) // other processes keep the files that they have open
	}
}
