package capture

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A seen is what lists found out about files, so that they need not look again: the titles of files that are
// in no memory, of files that were cut off or written to whether memory has all of it, and the exact sizes of
// snapshots whose exact bytes differ from the clean ones.
type Seen struct {
	Reads   bool // lists read files that were written to after they were captured and are as long as they were then
	Format  int
	Titles  map[string]FileTitle // by path
	Cuts    map[string]FileCut   // by path
	Sizes   map[objects.Hash]int64
	changed bool
}

type FileTitle struct {
	Size     int64
	Modified int64 // nanoseconds
	Title    string
}

// A fileCut says whether a file that is not longer than a snapshot is its beginning.
type FileCut struct {
	Size     int64
	Modified int64 // nanoseconds
	Record   objects.Hash
	Held     bool
}

const SeenVersion = 2

func (m Ops) ReadSeen(p refs.Project) *Seen {
	s := &Seen{}
	if state.DecodeCache(m.CachePath("seen", string(p)), s.Code) {
		return s
	}
	return &Seen{Format: SeenVersion, Titles: map[string]FileTitle{}, Cuts: map[string]FileCut{},
		Sizes: map[objects.Hash]int64{}}
}

func (m Ops) WriteSeen(p refs.Project, s *Seen) {
	if s.changed {
		m.WriteCacheBytes(m.CachePath("seen", string(p)), state.Encode(s.Code))
	}
}

// Title returns the title of a file that is in no memory.
func (s *Seen) Title(f ClientFile) string {
	at := FileTitle{Size: f.Size, Modified: f.Modified.UnixNano()}
	if t, ok := s.Titles[f.Path]; ok && t.Size == at.Size && t.Modified == at.Modified {
		return t.Title
	}
	at.Title = firstTitle(f.Path)
	s.Titles[f.Path], s.changed = at, true
	return at.Title
}

// Forget drops what is known of files that are not among those that there are.
func (s *Seen) Forget(files map[string]ClientFile) {
	gone := func(path string) bool {
		name := path[strings.LastIndexAny(path, `/\`)+1:]
		f, ok := files[strings.TrimSuffix(name, ".jsonl")]
		gone := !ok || f.Path != path
		s.changed = s.changed || gone
		return gone
	}
	maps.DeleteFunc(s.Titles, func(path string, _ FileTitle) bool { return gone(path) })
	maps.DeleteFunc(s.Cuts, func(path string, _ FileCut) bool { return gone(path) })
}

func (s *Seen) Code(c *records.Codec) {
	records.Number(c, &s.Format)
	if s.Format != SeenVersion {
		c.Failed = true
		return
	}
	if c.Reading {
		s.Titles, s.Cuts, s.Sizes = map[string]FileTitle{}, map[string]FileCut{}, map[objects.Hash]int64{}
	}
	paths := slices.Sorted(maps.Keys(s.Titles))
	records.List(c, &paths, func(path *string) {
		records.Word(c, path)
		t := s.Titles[*path]
		records.Number(c, &t.Size)
		records.Number(c, &t.Modified)
		records.Word(c, &t.Title)
		s.Titles[*path] = t
	})
	paths = slices.Sorted(maps.Keys(s.Cuts))
	records.List(c, &paths, func(path *string) {
		records.Word(c, path)
		f := s.Cuts[*path]
		records.Number(c, &f.Size)
		records.Number(c, &f.Modified)
		c.Hash(&f.Record)
		c.Bool(&f.Held)
		s.Cuts[*path] = f
	})
	codeHashes(c, s.Sizes)
}

// codeHashes writes or reads numbers by hash, in the order of the hashes.
func codeHashes[T ~int | ~int64](c *records.Codec, m map[objects.Hash]T) {
	ids := slices.SortedFunc(maps.Keys(m), objects.Hash.Compare)
	records.List(c, &ids, func(id *objects.Hash) {
		c.Hash(id)
		n := m[*id]
		records.Number(c, &n)
		m[*id] = n
	})
}

// exactSize returns how long the file of a session was at the growth point p, patches included; ok is false
// if this machine does not know.
func (m Ops) exactSize(ctx context.Context, project refs.Project, session *state.Session, p *records.Point,
	s *Seen) (n int64, ok bool) {
	if !p.Withheld {
		return p.Size, true
	}
	if n, ok := s.Sizes[p.Stamp.Record]; ok {
		return n, true
	}
	patches, err := originals.On(m.DB).Patches(ctx, project, session, p)
	if err != nil || len(patches) == 0 {
		return 0, false // captured on another device
	}
	n = patches[len(patches)-1].RawLen
	s.Sizes[p.Stamp.Record], s.changed = n, true
	return n, true
}

// ChangedFile reports by how much the file of a session differs from what this device captured of it last, or else
// from the session now, and whether it does. A file that was cut off holds nothing that is not in memory. One
// that is as long as it was and was written to is read if s says so: hooks have no time for all files of a
// directory that was copied.
func (m Ops) ChangedFile(ctx context.Context, p refs.Project, session *state.Session, f ClientFile,
	s *Seen) (extra int64, changed bool) {
	last := session.Last(m.Refs.Device().ID)
	if last == nil {
		last = session.Now()
	}
	size, ok := m.exactSize(ctx, p, session, last, s)
	if !ok {
		size = last.Size
	}
	if f.Size == size {
		return 0, s.Reads && ok && f.Modified.After(last.Time) && !m.cutOff(ctx, Moment{p, session, last}, f, s)
	}
	return f.Size - size, f.Size > size || !m.cutOff(ctx, Moment{p, session, last}, f, s)
}

// cutOff reports whether a file that is not longer than it was at the growth point holds what it held then,
// or the beginning of it. It reads both once for each state of the file.
func (m Ops) cutOff(ctx context.Context, at Moment, f ClientFile, s *Seen) bool {
	now := FileCut{Size: f.Size, Modified: f.Modified.UnixNano(), Record: at.Point.Stamp.Record}
	if was := s.Cuts[f.Path]; was.Size == now.Size && was.Modified == now.Modified && was.Record == now.Record {
		return was.Held
	}
	file, size, err := OpenSource(f.Path)
	if err == nil {
		now.Held, err = m.begins(ctx, at, io.NewSectionReader(file, 0, size))
		file.Close()
	}
	if err != nil || size != f.Size {
		return false // adding it says what is wrong
	}
	s.Cuts[f.Path], s.changed = now, true
	return now.Held
}

// WriteTokens adds what was counted to the cached lists.
func (m Ops) WriteTokens() {
	m.CountedMu.Lock()
	defer m.CountedMu.Unlock()
	for project := range m.Counted {
		known := m.withCounted(project)
		m.WriteCacheBytes(m.tokensPath(project), state.Encode(func(c *records.Codec) { codeHashes(c, known) }))
	}
	m.Counted = nil
}

func (m Ops) tokensPath(p refs.Project) string { return m.CachePath("tokens", string(p)) }

// KnownTokens returns the plain tokens of the originals that have been counted, by name.
func (m Ops) KnownTokens(project refs.Project) map[objects.Hash]int {
	m.CountedMu.Lock()
	defer m.CountedMu.Unlock()
	return m.withCounted(project)
}

// withCounted merges the cached counts of a project and those of this process. The caller holds countedMu.
func (m Ops) withCounted(project refs.Project) map[objects.Hash]int {
	known := map[objects.Hash]int{}
	if !state.DecodeCache(m.tokensPath(project), func(c *records.Codec) { codeHashes(c, known) }) {
		known = map[objects.Hash]int{}
	}
	maps.Copy(known, m.Counted[project])
	return known
}
