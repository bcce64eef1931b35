package capture

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A ClientFile is a session file of Claude Code.
type ClientFile struct {
	Path     string
	Size     int64
	Modified time.Time
	Dir      bool         // a directory of the same name exists, for subagents and overflow files
	cwd      string       // the working directory of a session nested in the project, "" for others
	also     []ClientFile // further files of the session, in other directories
}

// ClientFiles returns the session files that Claude Code has for a project, by session ID: those of the project's
// directories and of directories nested in them. Some may belong to other projects, see [DropForeign].
func ClientFiles(ctx context.Context, db *state.DB, p state.Project, st *state.State,
	o ListOptions) (map[string]ClientFile, error) {
	files, _, err := ownFiles(ctx, db, p, st, o)
	if err != nil {
		return nil, err
	}
	if err := addNested(ctx, db, p, st, o, files); err != nil {
		return nil, err
	}
	found := ReadFileCache(db, p.ID)
	settle(ctx, db, st, files, found)
	WriteFileCache(db, p.ID, found)
	return files, nil
}

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
				files[otherID(Source{Path: other.Path})] = other
				continue
			}
			same, f = append(same, f), other
		}
		f.also = same
		files[id] = f
	}
}

// ownFiles returns the session files of the project's directories, by session ID, and the names of the directories
// next to them, by the directory they are in. The project's directories are those that this device knows and those
// that sessions were captured from.
func ownFiles(ctx context.Context, db *state.DB, p state.Project, st *state.State,
	o ListOptions) (files map[string]ClientFile, subdirs map[string][]string, err error) {
	files, subdirs = map[string]ClientFile{}, map[string][]string{}
	if o.Claude == "" {
		return files, subdirs, nil
	}
	paths, err := projects.Paths(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	dirs := map[string]bool{}
	for _, b := range paths {
		if b.Project == p.ID {
			dirs[ClientDir(b.Path)] = true
		}
	}
	if here, _, err := projects.Locate(ctx, db, o.Dir); err == nil && here.ID == p.ID {
		dirs[ClientDir(o.Dir)] = true
	}
	all := filepath.Join(o.Claude, "projects")
	for _, s := range st.Sessions {
		if last := s.Last(db.Refs.Device().ID); last != nil {
			if dir, name := filepath.Split(filepath.Dir(last.Source)); filepath.Clean(dir) == all {
				dirs[name] = true
			}
		}
	}
	for path := range readWritten(db).Resumed {
		if dir, name := filepath.Split(filepath.Dir(path)); filepath.Clean(dir) == all && st.Session(Source{Path: path}.SessionID()) != nil {
			dirs[name] = true // another checkout of the project, from which nothing was captured
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		dir := filepath.Join(all, name)
		found, err := readClientDir(dir, db.Refs.Device().ID, st, files)
		o.noteHidden(dir)
		if err == nil {
			subdirs[dir] = found
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := o.NoteUnreadable(err); err != nil {
			return nil, nil, err
		}
	}
	return files, subdirs, nil
}

// DropForeign removes the files whose sessions are in another project: Claude Code uses one directory for several
// working directories, for example a/b and a-b.
func DropForeign(ctx context.Context, db *state.DB, p state.Project, files map[string]ClientFile) error {
	if len(files) == 0 {
		return nil
	}
	return revision.Scoped(ctx, db, state.Scope{Project: p}, func(other state.Project, st *state.State) bool {
		if other.ID != p.ID {
			maps.DeleteFunc(files, func(id string, _ ClientFile) bool { return st.Session(id) != nil })
		}
		return len(files) == 0
	})
}

// readClientDir adds the session files of a directory to files and returns the names of its subdirectories. st may be nil;
// see [addTo].
func readClientDir(dir, device string, st *state.State, files map[string]ClientFile) (subdirs []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = true
			subdirs = append(subdirs, e.Name())
		}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || !isSessionName(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Size() == 0 {
			continue // deleted meanwhile, or empty
		}
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, e.Name())
		addTo(files, device, st, ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime(), Dir: dirs[name]})
	}
	return subdirs, nil
}

// addTo adds a session file by the ID of its session. Of two files with one ID, the one that a device captured the session in st
// from comes first.
func addTo(files map[string]ClientFile, device string, st *state.State, f ClientFile) {
	id := fileID(st, f.Path)
	if was, ok := files[id]; ok {
		if st != nil && st.Session(id) != nil && SourceOn(st.Session(id), device) == was.Path {
			was, f = f, was
		}
		f.also = append(f.also, append([]ClientFile{was}, was.also...)...)
	}
	files[id] = f
}

// fileID returns the ID of the session in a file, which may have been captured as another session than its name says.
func fileID(st *state.State, path string) string {
	src := Source{Path: path}
	if st != nil && st.Session(otherID(src)) != nil {
		return otherID(src)
	}
	return src.SessionID()
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
