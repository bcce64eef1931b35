package capture

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
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

// A PendingFile is a session file that is new or has changed since it was captured.
type PendingFile struct {
	Source
	Known    bool // the session is in memory
	Size     int64
	Modified time.Time
}

// Pending returns the session files of a project and of its subagents that are new or have changed since they were
// captured, the last modified first, without removed and forgotten sessions. It reads the directories of
// [ClientFiles] and o.SessionDir. It reads no transcript except, once, the start of those in directories that may
// be nested in the project.
func Pending(ctx context.Context, db *state.DB, p state.Project, o ListOptions) ([]PendingFile, error) {
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	files, subdirs, err := ownFiles(ctx, db, p, st, o)
	if err != nil {
		return nil, err
	}
	if err := addSubagents(db.Refs.Device().ID, st, files, subdirs, o.SessionDir); err != nil {
		return nil, err
	}
	if err := addNested(ctx, db, p, st, o, files); err != nil {
		return nil, err
	}
	found := ReadFileCache(db, p.ID)
	settle(ctx, db, st, files, found)
	var out []PendingFile
	for id, f := range files {
		s := st.Session(id)
		if st.Purged.Session(id, db.Refs.Device().ID) {
			continue
		}
		if s == nil && IsFork(ctx, db, st, id, f, found) {
			continue
		}
		src := Source{Path: f.Path}
		if _, subagent := SubagentOf(f.Path); f.Dir || s == nil || subagent {
			src = SourceOf(f.Path)
		}
		src.Cwd = f.cwd
		if s != nil {
			_, changed := ChangedFile(ctx, db, p.ID, s, f, found)
			if _, also := changedOverflow(ctx, db, p.ID, s, src, found); !changed && !also {
				continue
			}
		}
		out = append(out, PendingFile{src, s != nil, f.Size, f.Modified})
	}
	WriteFileCache(db, p.ID, found)
	slices.SortFunc(out, func(a, b PendingFile) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Path, b.Path))
	})
	return out, nil
}

// addSubagents adds the sessions in sessionDir, and the subagents of all files. subdirs has the names of the
// directories in each directory that was read before.
func addSubagents(device string, st *state.State, files map[string]ClientFile, subdirs map[string][]string, sessionDir string) error {
	if _, read := subdirs[sessionDir]; !read && sessionDir != "" {
		found := map[string]ClientFile{}
		names, err := readClientDir(sessionDir, device, st, found)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		subdirs[sessionDir] = names
		maps.Copy(found, files)
		maps.Copy(files, found)
	}
	for _, dir := range slices.Sorted(maps.Keys(subdirs)) {
		for _, name := range subdirs[dir] {
			subagents, err := Subagents(filepath.Join(dir, name+".jsonl"))
			if err != nil {
				return err
			}
			for _, src := range subagents {
				addFile(files, device, st, src.Path, false)
			}
		}
	}
	return nil
}

// addFile adds a session file unless it is empty or does not exist. hasDir is the field Dir of the file.
func addFile(files map[string]ClientFile, device string, st *state.State, path string, hasDir bool) {
	_, subagent := SubagentOf(path)
	if was, ok := files[fileID(st, path)]; ok && (subagent || was.Path == path) {
		return
	}
	if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && fi.Size() > 0 {
		addTo(files, device, st, ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime(), Dir: hasDir})
	}
}

// SessionLookup returns a function that reports whether a project contains a session. It reads each project once. The
// function is not safe for concurrent use.
func SessionLookup(ctx context.Context, db *state.DB) func(project, session string) bool {
	states := map[string]*state.State{}
	return func(project, session string) bool {
		st, ok := states[project]
		if !ok {
			if p, err := lane.ParseProject(project); err == nil {
				st, _ = trust.Outline(ctx, db, p) // on an error the file is captured again
			}
			states[project] = st
		}
		return st != nil && st.Session(session) != nil
	}
}
