package layers

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

	"github.com/memvcs/mem/refs"
)

// A clientFile is a session file of Claude Code.
type clientFile struct {
	path     string
	size     int64
	modified time.Time
	dir      bool   // there is a directory beside it, for subagents and overflow files
	cwd      string // where it works, if that is why it counts
}

// clientFiles returns the session files that Claude Code has for the directories of a project, by session, and the names of the
// directories beside them, by where they were found. The project's directories are those that this device knows, and those that
// sessions were captured from: one inside another is not known by itself.
func (m *Memory) clientFiles(ctx context.Context, p Project, st *State, o ListOptions) (files map[string]clientFile, beside map[string][]string, err error) {
	files, beside = map[string]clientFile{}, map[string][]string{}
	if o.Claude == "" {
		return files, beside, nil
	}
	paths, err := m.paths(ctx)
	if err != nil {
		return nil, nil, err
	}
	dirs := map[string]bool{}
	for _, b := range paths {
		if b.Project == p.ID {
			dirs[ClientDir(b.Path)] = true
		}
	}
	if here, _, err := m.Locate(ctx, o.Dir); err == nil && here.ID == p.ID {
		dirs[ClientDir(o.Dir)] = true
	}
	for _, s := range st.Sessions {
		last := s.last(m.repo.Device().ID)
		if last == nil {
			continue
		}
		if dir, name := filepath.Split(filepath.Dir(last.Source)); filepath.Clean(dir) == filepath.Join(o.Claude, "projects") {
			dirs[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dirs)) {
		dir := filepath.Join(o.Claude, "projects", name)
		found, err := readClientDir(dir, files)
		if err == nil {
			beside[dir] = found
		}
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := o.unreadable(err); err != nil {
			return nil, nil, err
		}
	}
	return files, beside, nil
}

// withoutOthers drops the files that another project holds: one directory of Claude Code may stand for several working
// directories, such as a/b and a-b.
func (m *Memory) withoutOthers(ctx context.Context, p Project, files map[string]clientFile) error {
	if len(files) == 0 {
		return nil
	}
	return m.scoped(ctx, Scope{Project: p}, func(other Project, st *State) bool {
		if other.ID != p.ID {
			maps.DeleteFunc(files, func(id string, _ clientFile) bool { return st.session(id) != nil })
		}
		return len(files) == 0
	})
}

// readClientDir adds the session files of a directory to files. It returns the names of the directories beside them.
func readClientDir(dir string, files map[string]clientFile) (beside []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = true
			beside = append(beside, e.Name())
		}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || name == "" || !e.Type().IsRegular() {
			continue
		}
		fi, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && fi.Size() == 0 {
			continue // gone meanwhile, or nothing in it yet
		}
		if err != nil {
			return nil, err
		}
		path := filepath.Join(dir, e.Name())
		files[Source{Path: path}.SessionID()] = clientFile{path: path, size: fi.Size(), modified: fi.ModTime(), dir: dirs[name]}
	}
	return beside, nil
}

// changedBeside reports by how much the subagents and overflow files of a session's file differ from what is in
// memory, and whether they do.
func (m *Memory) changedBeside(ctx context.Context, st *State, s *Session, f clientFile, found *seen) (extra int64, changed bool, err error) {
	subagents, err := Subagents(f.path)
	for _, src := range subagents {
		fi, err := os.Lstat(src.Path)
		if err != nil {
			continue // gone meanwhile
		}
		sub := st.session(src.SessionID())
		if sub == nil {
			extra, changed = extra+fi.Size(), true
			continue
		}
		more, also := m.changedFile(ctx, st.Project, sub, clientFile{path: src.Path, size: fi.Size(), modified: fi.ModTime()}, found)
		extra, changed = extra+more, changed || also
	}
	beside := SourceOf(f.path)
	more, also := m.changedOverflow(ctx, st.Project, s, beside, found)
	return extra + more, changed || also, errors.Join(err, beside.unread)
}

// changedOverflow reports by how much the overflow files of a session's file differ from what this device captured of
// them last, and whether they do.
func (m *Memory) changedOverflow(ctx context.Context, project refs.Project, s *Session, src Source, found *seen) (extra int64, changed bool) {
	if len(src.Files) == 0 {
		return 0, false
	}
	last := s.last(m.repo.Device().ID)
	if last == nil {
		last = s.Now()
	}
	known := map[string]FileRef{}
	for _, ref := range last.Files {
		known[ref.Name] = ref
	}
	for _, path := range src.Files {
		fi, err := os.Lstat(path)
		if err != nil {
			continue // gone meanwhile
		}
		size := int64(0)
		if ref, ok := known[filepath.Base(path)]; ok {
			if size, ok = m.fileSize(ctx, project, s, last, ref, found); !ok {
				size = ref.Size
			}
			if fi.Size() == size {
				continue
			}
		}
		extra, changed = extra+fi.Size()-size, true
	}
	return extra, changed
}
