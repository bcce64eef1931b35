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

// A Plan is what an index is to consist of.
type Plan struct {
	Key      string
	Sessions []Session
	Sources  []Source
}

// A Source is a thing whose documents are to be in the index.
type Source struct {
	Name    string
	Version string // of its content: documents of the same name and version are not read again
	Session int    // in Sessions; -1 if it belongs to none
	Docs    func(add func(Doc)) error
}

// ErrBusy says that another process writes the index.
var ErrBusy = errors.New("search index is being written")

const (
	mostMemory   = 24 << 20 // bytes of postings held before a segment is written
	mostSegments = 12       // before small ones are merged
	smallSegment = 8 << 20  // bytes: what is larger is merged only when most of it is dead
)

// An Update is a writer at work.
type updating struct {
	dir  string
	keep func() bool
	plan Plan
	old  *Head
	head *Head
	b    *builder
	f    *os.File
	news []Span // of the segment that is being built
}

// Update brings the index in dir to the plan: documents of sources that it has in the same version stay, others
// are read. keep is asked before the result is put in its place: if it is false nothing changes. The error is
// [ErrBusy] if another process does it now. An error of a source ends it and is returned.
func Update(dir string, plan Plan, keep func() bool) error {
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
	u := &updating{dir: dir, keep: keep, plan: plan}
	if u.old, err = readHead(dir, true); err != nil {
		u.old = &Head{}
	}
	err = u.run()
	if u.f != nil {
		u.f.Close()
		os.Remove(u.f.Name()) // half of a segment
	}
	u.sweep()
	return err
}

func (u *updating) run() error {
	u.head = &Head{Key: u.plan.Key, Sessions: encodeSessions(u.plan.Sessions), Segments: slices.Clone(u.old.Segments)}
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
		if err := u.take(src.Name, src.Version, src.Session, src.Docs); err != nil {
			return err
		}
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

// take adds the documents of a source to the segment that is being built.
func (u *updating) take(name, version string, session int, docs func(func(Doc)) error) error {
	if u.b == nil {
		f, err := os.CreateTemp(u.dir, ".tmp-*")
		if err != nil {
			return err
		}
		u.f, u.b = f, newBuilder(f)
	}
	first, words, tools := u.b.docs(), u.b.words, u.b.tools
	if err := docs(u.b.add); err != nil {
		return fmt.Errorf("index %s: %w", name, err)
	}
	u.news = append(u.news, Span{Source: name, Version: version, Session: session, First: first, Count: u.b.docs() - first,
		Words: u.b.words - words, ToolWords: u.b.tools - tools})
	if u.b.held > mostMemory {
		return u.flush()
	}
	return nil
}

// flush ends the segment that is being built.
func (u *updating) flush() error {
	if u.b == nil {
		return nil
	}
	docs := u.b.docs()
	size, err := u.b.finish()
	err = errors.Join(err, u.f.Close())
	tmp := u.f.Name()
	name := "s" + filepath.Base(tmp)[len(".tmp-"):]
	if err == nil && !u.keep() {
		err = ErrBusy
	}
	if err == nil {
		err = os.Rename(tmp, filepath.Join(u.dir, name))
	}
	u.b, u.f = nil, nil
	if err != nil {
		os.Remove(tmp) // the error is told
		return err
	}
	for _, s := range u.news {
		s.Segment = len(u.head.Segments)
		u.head.Spans = append(u.head.Spans, s)
	}
	u.head.Segments = append(u.head.Segments, Ref{name, docs, size})
	u.news = nil
	return nil
}

// merge builds small segments, and those of which most is dead, again as part of the one that is being built.
func (u *updating) merge() error {
	live := make([]int, len(u.head.Segments))
	for _, s := range u.head.Spans {
		live[s.Segment] += s.Count
	}
	var again, small []int
	n := 0
	for i, ref := range u.head.Segments {
		switch {
		case live[i] == 0:
		case live[i]*2 < ref.Docs:
			again = append(again, i)
		case ref.Size < smallSegment:
			small = append(small, i)
			n++
		default:
			n++
		}
	}
	if n > mostSegments {
		again = append(again, u.smallest(small)...)
	}
	for _, i := range again {
		if err := u.again(i); err != nil {
			return err
		}
	}
	return nil
}

// smallest returns the segments that are merged when there are too many: from the smallest on, until the next
// is larger than all before together, at least half of them.
func (u *updating) smallest(of []int) []int {
	size := func(i int) int64 { return u.head.Segments[i].Size }
	slices.SortFunc(of, func(a, b int) int { return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a, b)) })
	total := int64(0)
	for k, i := range of {
		if k >= mostSegments/2 && size(i) > total {
			return of[:k]
		}
		total += size(i)
	}
	return of
}

// again takes the live documents of a segment again.
func (u *updating) again(i int) error {
	seg, err := openSegment(filepath.Join(u.dir, u.head.Segments[i].Name))
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
		err := u.take(s.Source, s.Version, s.Session, func(add func(Doc)) error {
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

// compact takes segments without live documents out of the head.
func (u *updating) compact() {
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
	if len(refs) == 0 && len(u.head.Spans) > 0 { // of which nothing can be found
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

// write puts the head in its place.
func (u *updating) write() error {
	f, err := os.CreateTemp(u.dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(u.head.encode())
	err = errors.Join(err, f.Close())
	if err == nil && !u.keep() {
		err = ErrBusy
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(u.dir, headName))
	}
	if err != nil {
		os.Remove(f.Name()) // the error is told
	}
	return err
}

// sweep removes the files that the head does not name.
func (u *updating) sweep() {
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
		os.Remove(filepath.Join(u.dir, name)) // one that another process reads goes when it is done
	}
}
