package capture

import (
	"context"
	"io"
	"maps"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A FileCache is the cache of what lists read from session files.
type FileCache struct {
	// ReadModified has files read that were modified after their capture although their size is the same. Hooks have
	// no time for that: a copied directory has only such files.
	ReadModified bool                   `cache:"-"`
	Titles       map[string]FileTitle   // of files that are not in memory, by path
	Prefixes     map[string]FilePrefix  // of files that became shorter or were modified, by path
	Sizes        map[objects.Hash]int64 // of the exact bytes of snapshots with a patch, by record
	changed      bool
	db           *state.DB
}

// A FileTitle is the title of a session in a file of the given size and time.
type FileTitle struct {
	Size     int64
	Modified int64  // nanoseconds
	Rules    string // that removed the secrets: [redact.Rules]
	Title    string
	ForkOf   string // see [transcript.ForkedFrom]
}

// A FilePrefix says whether a file of the given size and time is a prefix of the snapshot of a record.
type FilePrefix struct {
	Size     int64
	Modified int64 // nanoseconds
	Record   objects.Hash
	IsPrefix bool
	Apart    bool  // the snapshot has turns that the file lacks, and the file has others
	More     int64 // bytes after what a snapshot of another device or another file has, too; 0 if it is none
}

// fileCacheVersion is the version of the encoding of a [FileCache].
const fileCacheVersion = 11

// ReadFileCache returns the cache of a project, empty if there is none.
func ReadFileCache(db *state.DB, p refs.Project) *FileCache {
	s := &FileCache{}
	if !state.ReadCache(db.CachePath("seen", string(p)), fileCacheVersion, s) {
		s = &FileCache{Titles: map[string]FileTitle{}, Prefixes: map[string]FilePrefix{}, Sizes: map[objects.Hash]int64{}}
	}
	s.db = db
	return s
}

// WriteFileCache stores the cache of a project if it has changed.
func WriteFileCache(db *state.DB, p refs.Project, s *FileCache) {
	if s.changed {
		db.WriteCache(db.CachePath("seen", string(p)), fileCacheVersion, s)
	}
}

// Title returns the title of a file that is not in memory.
func (s *FileCache) Title(f ClientFile) string { return s.start(f).Title }

// start returns what a file that is not in memory says of itself, without deleted text.
func (s *FileCache) start(f ClientFile) FileTitle {
	rules := secrets.RulesIn(s.db, f.cwd)
	at := FileTitle{Size: f.Size, Modified: f.Modified.UnixNano(), Rules: rules.ID}
	if t, ok := s.Titles[f.Path]; ok && t.Size == at.Size && t.Modified == at.Modified && t.Rules == at.Rules {
		return t
	}
	g, err := originals.NewGuard(s.db, &state.Purges{})
	if err != nil || f.Forgotten {
		return at // adding the file reports the error
	}
	at.Title, at.ForkOf = titleOf(f.Path, g, rules)
	s.Titles[f.Path], s.changed = at, true
	return at
}

// Prune removes the entries of files that are not in files, the existing files by session.
func (s *FileCache) Prune(files map[string]ClientFile) {
	there := map[string]bool{}
	for _, f := range files {
		there[f.Path] = true
		for _, other := range f.also {
			there[other.Path] = true
		}
	}
	gone := func(path string) bool {
		s.changed = s.changed || !there[path]
		return !there[path]
	}
	maps.DeleteFunc(s.Titles, func(path string, _ FileTitle) bool { return gone(path) })
	maps.DeleteFunc(s.Prefixes, func(path string, _ FilePrefix) bool { return gone(path) })
}

// exactSize returns the size that the file of a session had at the growth point p; ok is false if this device does not
// know it.
func exactSize(ctx context.Context, db *state.DB, project refs.Project, session *state.Session, p *records.Point,
	s *FileCache) (n int64, ok bool) {
	if !p.Withheld {
		return p.Size, true
	}
	if n, ok := s.Sizes[p.Stamp.Record]; ok {
		return n, true
	}
	patches, err := originals.Patches(ctx, db, project, session, p)
	if err != nil || len(patches) == 0 {
		return 0, false // captured on another device
	}
	n = patches[len(patches)-1].RawLen
	s.Sizes[p.Stamp.Record], s.changed = n, true
	return n, true
}

// ChangedFile reports whether the file of a session differs from this device's last capture, or else from the session
// as it is now, and by how many bytes. A truncated file has not changed: memory contains all of it, also if another
// device captured it. Nor has a copy in another directory, with its paths, if it has no turn that memory lacks. A modified
// file of the same size is read only if s.ReadModified is set.
func ChangedFile(ctx context.Context, db *state.DB, p refs.Project, session *state.Session, f ClientFile,
	s *FileCache) (extra int64, changed bool) {
	extra, changed = differsFromOwn(ctx, db, p, session, f, s)
	now := session.Now()
	if !changed || now.Stamp.Device == db.Refs.Device().ID && !isElsewhere(db, session, f) {
		return extra, changed
	}
	if isTruncated(ctx, db, SessionPoint{p, session, now}, f, s) {
		return 0, false
	}
	if more := s.Prefixes[f.Path].More; more > 0 && (extra < 0 || session.Last(db.Refs.Device().ID) == nil) {
		extra = more // the paths of another device are longer or shorter
	}
	return extra, true
}

// differsFromOwn is [ChangedFile] without what other devices captured after this one.
func differsFromOwn(ctx context.Context, db *state.DB, p refs.Project, session *state.Session, f ClientFile,
	s *FileCache) (extra int64, changed bool) {
	last := session.Last(db.Refs.Device().ID)
	if last == nil {
		return f.Size - session.Now().Size, true
	}
	size, ok := exactSize(ctx, db, p, session, last, s)
	if !ok {
		size = last.Size
	}
	if f.Size == size {
		return 0, s.ReadModified && ok && f.Modified.After(last.Time) &&
			!isTruncated(ctx, db, SessionPoint{p, session, last}, f, s)
	}
	return f.Size - size, f.Size > size || !isTruncated(ctx, db, SessionPoint{p, session, last}, f, s)
}

// isElsewhere reports whether a file is not the one that this device captured the session from.
func isElsewhere(db *state.DB, session *state.Session, f ClientFile) bool {
	return SourceOn(session, db.Refs.Device().ID) != f.Path
}

// isTruncated reports whether a file is a prefix of what it was at the growth point, or, if the growth point is of another
// device or another file, has no turns that it lacks. It reads both once for each size and time of the file.
func isTruncated(ctx context.Context, db *state.DB, at SessionPoint, f ClientFile, s *FileCache) bool {
	now := FilePrefix{Size: f.Size, Modified: f.Modified.UnixNano(), Record: at.Point.Stamp.Record}
	if was := s.Prefixes[f.Path]; was.Size == now.Size && was.Modified == now.Modified && was.Record == now.Record {
		return was.IsPrefix
	}
	file, size, err := OpenSource(f.Path)
	switch {
	case err != nil:
	case at.Point.Stamp.Device == db.Refs.Device().ID && !isElsewhere(db, at.Session, f):
		var g *originals.Guard
		var kept io.ReaderAt = file
		if g, err = originals.NewGuard(db, &state.Purges{}); err == nil && g != nil {
			kept, err = g.Through(at.Session.FileID(), file, size)
		}
		if err == nil {
			now.IsPrefix, err = isPrefix(ctx, db, at, io.NewSectionReader(kept, 0, size))
		}
		file.Close()
	default:
		var c transcript.Common
		c, err = CompareFile(ctx, db, at, file)
		if now.IsPrefix = c.Turns > 0 && !c.MoreB; c.Turns > 0 && c.MoreB {
			now.More = size - c.EndB
		}
		now.Apart = c.MoreA && c.MoreB
		file.Close()
	}
	if err != nil || size != f.Size {
		return false // adding the file reports the error
	}
	s.Prefixes[f.Path], s.changed = now, true
	return now.IsPrefix
}

// WriteTokens stores the token counts of this process in the cache.
func WriteTokens(db *state.DB) {
	db.CountedMu.Lock()
	defer db.CountedMu.Unlock()
	for project := range db.Counted {
		known := withCounted(db, project)
		db.WriteCache(tokensPath(db, project), tokensVersion, &known)
	}
	db.Counted = nil
}

// tokensVersion is the version of the encoding of token counts.
const tokensVersion = 2

func tokensPath(db *state.DB, p refs.Project) string { return db.CachePath("tokens", string(p)) }

// KnownTokens returns the tokens of the originals that have been counted, by hash.
func KnownTokens(db *state.DB, project refs.Project) map[objects.Hash]int {
	db.CountedMu.Lock()
	defer db.CountedMu.Unlock()
	return withCounted(db, project)
}

// withCounted merges the cached counts of a project and those of this process. The caller has locked CountedMu.
func withCounted(db *state.DB, project refs.Project) map[objects.Hash]int {
	var known map[objects.Hash]int
	if !state.ReadCache(tokensPath(db, project), tokensVersion, &known) {
		known = map[objects.Hash]int{}
	}
	maps.Copy(known, db.Counted[project])
	return known
}
