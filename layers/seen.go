package layers

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A seen is what lists found out about files, so that they need not look again: the titles of files that are
// in no memory, of files that were cut off or written to whether memory has all of it, and the exact sizes of snapshots whose
// exact bytes differ from the clean ones.
type seen struct {
	reads   bool // lists read files that were written to after they were captured and are as long as they were then
	format  int
	titles  map[string]fileTitle // by path
	cuts    map[string]fileCut   // by path
	sizes   map[objects.Hash]int64
	changed bool
}

type fileTitle struct {
	size     int64
	modified int64 // nanoseconds
	title    string
}

// A fileCut says whether a file that is not longer than a snapshot is its beginning.
type fileCut struct {
	size     int64
	modified int64 // nanoseconds
	record   objects.Hash
	held     bool
}

const seenVersion = 2

func (m *Memory) readSeen(p refs.Project) *seen {
	s := &seen{}
	if decodeCache(m.cachePath("seen", string(p)), s.code) {
		return s
	}
	return &seen{format: seenVersion, titles: map[string]fileTitle{}, cuts: map[string]fileCut{}, sizes: map[objects.Hash]int64{}}
}

func (m *Memory) writeSeen(p refs.Project, s *seen) {
	if s.changed {
		m.writeCacheBytes(m.cachePath("seen", string(p)), encode(s.code))
	}
}

// title returns the title of a file that is in no memory.
func (s *seen) title(f clientFile) string {
	at := fileTitle{size: f.size, modified: f.modified.UnixNano()}
	if t, ok := s.titles[f.path]; ok && t.size == at.size && t.modified == at.modified {
		return t.title
	}
	at.title = firstTitle(f.path)
	s.titles[f.path], s.changed = at, true
	return at.title
}

// forget drops what is known of files that are not among those that there are.
func (s *seen) forget(files map[string]clientFile) {
	gone := func(path string) bool {
		name := path[strings.LastIndexAny(path, `/\`)+1:]
		f, ok := files[strings.TrimSuffix(name, ".jsonl")]
		gone := !ok || f.path != path
		s.changed = s.changed || gone
		return gone
	}
	maps.DeleteFunc(s.titles, func(path string, _ fileTitle) bool { return gone(path) })
	maps.DeleteFunc(s.cuts, func(path string, _ fileCut) bool { return gone(path) })
}

func (s *seen) code(c *codec) {
	number(c, &s.format)
	if s.format != seenVersion {
		c.failed = true
		return
	}
	if c.reading {
		s.titles, s.cuts, s.sizes = map[string]fileTitle{}, map[string]fileCut{}, map[objects.Hash]int64{}
	}
	paths := slices.Sorted(maps.Keys(s.titles))
	list(c, &paths, func(path *string) {
		word(c, path)
		t := s.titles[*path]
		number(c, &t.size)
		number(c, &t.modified)
		word(c, &t.title)
		s.titles[*path] = t
	})
	paths = slices.Sorted(maps.Keys(s.cuts))
	list(c, &paths, func(path *string) {
		word(c, path)
		f := s.cuts[*path]
		number(c, &f.size)
		number(c, &f.modified)
		c.hash(&f.record)
		c.bool(&f.held)
		s.cuts[*path] = f
	})
	codeHashes(c, s.sizes)
}

// codeHashes writes or reads numbers by hash, in the order of the hashes.
func codeHashes[T ~int | ~int64](c *codec, m map[objects.Hash]T) {
	ids := slices.SortedFunc(maps.Keys(m), objects.Hash.Compare)
	list(c, &ids, func(id *objects.Hash) {
		c.hash(id)
		n := m[*id]
		number(c, &n)
		m[*id] = n
	})
}

// exactSize returns how long the file of a session was at the growth point p, patches included; ok is false
// if this machine does not know.
func (m *Memory) exactSize(ctx context.Context, project refs.Project, session *Session, p *Point, s *seen) (n int64, ok bool) {
	if !p.Withheld {
		return p.Size, true
	}
	if n, ok := s.sizes[p.Stamp.Record]; ok {
		return n, true
	}
	patches, err := m.patches(ctx, project, session, p)
	if err != nil || len(patches) == 0 {
		return 0, false // captured on another device
	}
	n = patches[len(patches)-1].RawLen
	s.sizes[p.Stamp.Record], s.changed = n, true
	return n, true
}

// changedFile reports by how much the file of a session differs from what this device captured of it last, or else
// from the session now, and whether it does. A file that was cut off holds nothing that is not in memory. One that is as long
// as it was and was written to is read if s says so: hooks have no time for all files of a directory that was copied.
func (m *Memory) changedFile(ctx context.Context, p refs.Project, session *Session, f clientFile, s *seen) (extra int64, changed bool) {
	last := session.last(m.repo.Device().ID)
	if last == nil {
		last = session.Now()
	}
	size, ok := m.exactSize(ctx, p, session, last, s)
	if !ok {
		size = last.Size
	}
	if f.size == size {
		return 0, s.reads && ok && f.modified.After(last.Time) && !m.cutOff(ctx, p, session, last, f, s)
	}
	return f.size - size, f.size > size || !m.cutOff(ctx, p, session, last, f, s)
}

// cutOff reports whether a file that is not longer than it was at the growth point p holds what it held then, or the beginning of it. It
// reads both once for each state of the file.
func (m *Memory) cutOff(ctx context.Context, project refs.Project, session *Session, p *Point, f clientFile, s *seen) bool {
	now := fileCut{size: f.size, modified: f.modified.UnixNano(), record: p.Stamp.Record}
	if was := s.cuts[f.path]; was.size == now.size && was.modified == now.modified && was.record == now.record {
		return was.held
	}
	file, size, err := openSource(f.path)
	if err == nil {
		now.held, err = m.begins(ctx, project, session, p, file, size)
		file.Close()
	}
	if err != nil || size != f.size {
		return false // adding it says what is wrong
	}
	s.cuts[f.path], s.changed = now, true
	return now.held
}

// noteTokens keeps the size of a session where lists find it quickly; Close writes it.
func (m *Memory) noteTokens(project refs.Project, h objects.Hash, raw int) {
	m.countedMu.Lock()
	defer m.countedMu.Unlock()
	if m.counted == nil {
		m.counted = map[refs.Project]map[objects.Hash]int{}
	}
	if m.counted[project] == nil {
		m.counted[project] = map[objects.Hash]int{}
	}
	m.counted[project][h] = raw
}

// writeTokens adds what was counted to the cached lists.
func (m *Memory) writeTokens() {
	m.countedMu.Lock()
	defer m.countedMu.Unlock()
	for project := range m.counted {
		known := m.withCounted(project)
		m.writeCacheBytes(m.tokensPath(project), encode(func(c *codec) { codeHashes(c, known) }))
	}
	m.counted = nil
}

func (m *Memory) tokensPath(p refs.Project) string { return m.cachePath("tokens", string(p)) }

// knownTokens returns the plain tokens of the originals that have been counted, by name.
func (m *Memory) knownTokens(project refs.Project) map[objects.Hash]int {
	m.countedMu.Lock()
	defer m.countedMu.Unlock()
	return m.withCounted(project)
}

// withCounted merges the cached counts of a project and those of this process. The caller holds countedMu.
func (m *Memory) withCounted(project refs.Project) map[objects.Hash]int {
	known := map[objects.Hash]int{}
	if !decodeCache(m.tokensPath(project), func(c *codec) { codeHashes(c, known) }) {
		known = map[objects.Hash]int{}
	}
	maps.Copy(known, m.counted[project])
	return known
}
