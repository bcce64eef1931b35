package capture

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/lane"
)

// A Candidate is a file that memory does not hold as it is now.
type Candidate struct {
	Source
	Known    bool // an earlier state of it is in memory
	Size     int64
	Modified time.Time
}

// Behind returns the session files of a project, and those of their subagents, that are not in memory as they are
// now, those changed last first. It looks at the directories that Claude Code has for the project and for what
// is inside it, and at dir. What was taken out of the lists is left out. It reads no transcript, but once the
// start of those that may have worked inside the project.
func (m Ops) Behind(ctx context.Context, p state.Project, o ListOptions, dir string) ([]Candidate, error) {
	st, err := trust.On(m.DB).Outline(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	files, beside, err := m.ClientFiles(ctx, p, st, o)
	if err != nil {
		return nil, err
	}
	if err := moreFiles(files, beside, dir); err != nil {
		return nil, err
	}
	if err := m.Beneath(ctx, p, st, o, dir, files); err != nil {
		return nil, err
	}
	found := m.ReadSeen(p.ID)
	var out []Candidate
	for id, f := range files {
		s := st.Session(id)
		if s != nil && s.Deleted || st.Purged.Session(id) {
			continue
		}
		src := Source{Path: f.Path}
		if f.Dir || s == nil {
			src = SourceOf(f.Path)
		}
		src.Cwd = f.cwd
		if s != nil {
			_, changed := m.ChangedFile(ctx, p.ID, s, f, found)
			if _, also := m.changedOverflow(ctx, p.ID, s, src, found); !changed && !also {
				continue
			}
		}
		out = append(out, Candidate{src, s != nil, f.Size, f.Modified})
	}
	m.WriteSeen(p.ID, found)
	slices.SortFunc(out, func(a, b Candidate) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

// moreFiles adds the files of one directory of Claude Code, those of subagents in it too, and the subagents of
// all. Beside holds the names of directories in those that were read before.
func moreFiles(files map[string]ClientFile, beside map[string][]string, dir string) error {
	dirs := map[string]bool{dir: dir != ""}
	for _, f := range files {
		dirs[filepath.Dir(f.Path)] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		names, read := beside[dir]
		if !read && dirs[dir] {
			var err error
			if names, err = addDir(files, dir); err != nil {
				return err
			}
		}
		for _, name := range names {
			subagents, err := Subagents(filepath.Join(dir, name+".jsonl"))
			if err != nil {
				return err
			}
			for _, src := range subagents {
				addFile(files, src.Path, false)
			}
		}
	}
	return nil
}

// addDir adds the session files of a directory, if it is there, and returns the names of the directories beside them.
func addDir(files map[string]ClientFile, dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	beside := map[string]bool{}
	for _, e := range entries {
		switch {
		case e.IsDir():
			beside[e.Name()] = true
			names = append(names, e.Name())
		case e.Type().IsRegular() && filepath.Ext(e.Name()) == ".jsonl":
			id := strings.TrimSuffix(e.Name(), ".jsonl") // its directory comes before it
			addFile(files, filepath.Join(dir, e.Name()), beside[id])
		}
	}
	return names, nil
}

// addFile adds a session file unless it is empty or gone. Beside says that it has a directory.
func addFile(files map[string]ClientFile, path string, beside bool) {
	id := Source{Path: path}.SessionID()
	if _, ok := files[id]; ok {
		return
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 {
		files[id] = ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime(), Dir: beside}
	}
}

// Holder returns a function that reports whether a project has a session. It looks at each project once.
func (m Ops) Holder(ctx context.Context) func(project, session string) bool {
	states := map[string]*state.State{}
	return func(project, session string) bool {
		st, ok := states[project]
		if !ok {
			if p, err := lane.ParseProject(project); err == nil {
				st, _ = trust.On(m.DB).Outline(ctx, p) // what cannot be read holds nothing: the file is captured again
			}
			states[project] = st
		}
		return st != nil && st.Session(session) != nil
	}
}
