package capture

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// settle decides which sessions the further files of a session in memory are: the session itself if a file continues it, and
// another one, as [Add] captures it, if it has other turns.
func settle(ctx context.Context, db *state.DB, st *state.State, files map[string]ClientFile, found *FileCache) {
	for _, id := range slices.Sorted(maps.Keys(files)) {
		s, f := st.Session(id), files[id]
		if _, subagent := SubagentOf(f.Path); s == nil || subagent {
			continue
		}
		var same []ClientFile
		for _, other := range f.also {
			if isTruncated(ctx, db, SessionPoint{st.Project, s, s.Now()}, other, found) {
				same = append(same, other)
				continue
			}
			if _, changed := ChangedFile(ctx, db, st.Project, s, f, found); changed || found.Prefixes[other.Path].Apart {
				files[other.otherID] = other
				continue
			}
			same, f = append(same, f), other
		}
		f.also = same
		files[id] = f
	}
}

// addTo adds a session file by the ID of its session. Of two files with one ID, the one that a device captured the session in st
// from comes first.
func addTo(files map[string]ClientFile, device string, st *state.State, f ClientFile) {
	id := f.sessionID(st)
	if was, ok := files[id]; ok {
		if st != nil && st.Session(id) != nil && SourceOn(st.Session(id), device) == was.Path {
			was, f = f, was
		}
		f.also = append(f.also, append([]ClientFile{was}, was.also...)...)
	}
	files[id] = f
}

// sessionID returns the ID of the session in a file, which may have been captured as another session than its name says.
func (f *ClientFile) sessionID(st *state.State) string {
	if st != nil && st.Session(f.otherID) != nil {
		return f.otherID
	}
	return f.id
}

// ChangedCompanions reports whether the subagents or overflow files of a session file differ from the captured ones,
// and by how many bytes.
func ChangedCompanions(ctx context.Context, db *state.DB, st *state.State, s *state.Session, f ClientFile,
	found *FileCache) (extra int64, changed bool, err error) {
	subagents, err := Subagents(f.Path)
	for _, src := range subagents {
		fi, err := os.Lstat(src.Path)
		if err != nil {
			continue // deleted meanwhile
		}
		sub := st.Session(src.SessionID())
		if sub == nil {
			extra, changed = extra+fi.Size(), true
			continue
		}
		more, also := ChangedFile(ctx, db, st.Project, sub, ClientFile{Path: src.Path, Size: fi.Size(), Modified: fi.ModTime()},
			found)
		extra, changed = extra+more, changed || also
		more, also = changedOverflow(ctx, db, st.Project, sub, src, found)
		extra, changed = extra+more, changed || also
	}
	src := SourceOf(f.Path)
	more, also := changedOverflow(ctx, db, st.Project, s, src, found)
	return extra + more, changed || also, errors.Join(err, src.filesErr)
}

// changedOverflow reports whether the overflow files of a session file differ from those that this device captured
// last, and by how many bytes.
func changedOverflow(ctx context.Context, db *state.DB, project refs.Project, s *state.Session, src Source,
	found *FileCache) (extra int64, changed bool) {
	if len(src.Files) == 0 {
		return 0, false
	}
	points := []*records.Point{s.Now()}
	if last := s.Last(db.Refs.Device().ID); last != nil && last != points[0] {
		points = []*records.Point{last, points[0]} // another device captured it later
	}
	for _, path := range src.Files {
		fi, err := os.Lstat(path)
		if err != nil {
			continue // deleted meanwhile
		}
		size, known := int64(0), false
		for _, p := range points {
			i := slices.IndexFunc(p.Files, func(f records.FileRef) bool { return f.Name == filepath.Base(path) })
			if i < 0 || known {
				continue
			}
			var ok bool
			if size, ok = fileSize(ctx, db, SessionPoint{project, s, p}, p.Files[i], found); !ok {
				size = p.Files[i].Size
			}
			known = fi.Size() == size
		}
		if known {
			continue
		}
		extra, changed = extra+fi.Size()-size, true
	}
	return extra, changed
}
