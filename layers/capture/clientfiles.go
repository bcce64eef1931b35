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

// A clientFile is a session file of Claude Code.
type ClientFile struct {
	Path     string
	Size     int64
	Modified time.Time
	Dir      bool   // there is a directory beside it, for subagents and overflow files
	cwd      string // where it works, if that is why it counts
}

// ClientFiles returns the session files that Claude Code has for the directories of a project, by session, and
// the names of the directories beside them, by where they were found. The project's directories are those that
// this device knows, and those that sessions were captured from: one inside another is not known by itself.
func (m Ops) ClientFiles(ctx context.Context, p state.Project, st *state.State,
	o ListOptions) (files map[string]ClientFile, beside map[string][]string, err error) {
	files, beside = map[string]ClientFile{}, map[string][]string{}
	if o.Claude == "" {
		return files, beside, nil
	}
	paths, err := projects.On(m.DB).Paths(ctx)
	if err != nil {
		return nil, nil, err
	}
	dirs := map[string]bool{}
	for _, b := range paths {
		if b.Project == p.ID {
			dirs[ClientDir(b.Path)] = true
		}
	}
	if here, _, err := projects.On(m.DB).Locate(ctx, o.Dir); err == nil && here.ID == p.ID {
		dirs[ClientDir(o.Dir)] = true
	}
	for _, s := range st.Sessions {
		last := s.Last(m.Refs.Device().ID)
		if last == nil {
			continue
		}
		if dir, name := filepath.Split(filepath.Dir(last.Source)); filepath.Clean(dir) == filepath.Join(o.Claude,
			"projects") {
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
		if err := o.NoteUnreadable(err); err != nil {
			return nil, nil, err
		}
	}
	return files, beside, nil
}

// WithoutOthers drops the files that another project holds: one directory of Claude Code may stand for several working
// directories, such as a/b and a-b.
func (m Ops) WithoutOthers(ctx context.Context, p state.Project, files map[string]ClientFile) error {
	if len(files) == 0 {
		return nil
	}
	return revision.On(m.DB).Scoped(ctx, state.Scope{Project: p}, func(other state.Project, st *state.State) bool {
		if other.ID != p.ID {
			maps.DeleteFunc(files, func(id string, _ ClientFile) bool { return st.Session(id) != nil })
		}
		return len(files) == 0
	})
}

// readClientDir adds the session files of a directory to files. It returns the names of the directories beside them.
func readClientDir(dir string, files map[string]ClientFile) (beside []string, err error) {
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
		files[Source{Path: path}.SessionID()] = ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime(),
			Dir: dirs[name]}
	}
	return beside, nil
}

// ChangedBeside reports by how much the subagents and overflow files of a session's file differ from what is in
// memory, and whether they do.
func (m Ops) ChangedBeside(ctx context.Context, st *state.State, s *state.Session, f ClientFile,
	found *Seen) (extra int64, changed bool, err error) {
	subagents, err := Subagents(f.Path)
	for _, src := range subagents {
		fi, err := os.Lstat(src.Path)
		if err != nil {
			continue // gone meanwhile
		}
		sub := st.Session(src.SessionID())
		if sub == nil {
			extra, changed = extra+fi.Size(), true
			continue
		}
		more, also := m.ChangedFile(ctx, st.Project, sub, ClientFile{Path: src.Path, Size: fi.Size(), Modified: fi.ModTime()},
			found)
		extra, changed = extra+more, changed || also
	}
	beside := SourceOf(f.Path)
	more, also := m.changedOverflow(ctx, st.Project, s, beside, found)
	return extra + more, changed || also, errors.Join(err, beside.unread)
}

// changedOverflow reports by how much the overflow files of a session's file differ from what this device captured of
// them last, and whether they do.
func (m Ops) changedOverflow(ctx context.Context, project refs.Project, s *state.Session, src Source,
	found *Seen) (extra int64, changed bool) {
	if len(src.Files) == 0 {
		return 0, false
	}
	last := s.Last(m.Refs.Device().ID)
	if last == nil {
		last = s.Now()
	}
	known := map[string]records.FileRef{}
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
			if size, ok = m.fileSize(ctx, Moment{project, s, last}, ref, found); !ok {
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
