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

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// An UntrackedFile is a session file of Claude Code whose session is not in memory, with the project that
// capturing it would add it to.
type UntrackedFile struct {
	ID      string
	Project state.Project
	File    ClientFile
}

// Untracked returns the session files of Claude Code, of all projects, whose sessions are not in memory, sorted
// by path. Files of forgotten sessions count as captured, and files of subagents belong to their session.
// Unlike [ClientFiles] it needs no known directory: the project of a file is the one that [Add] finds.
func Untracked(ctx context.Context, db *state.DB, o ListOptions) ([]UntrackedFile, error) {
	if o.Claude == "" {
		return nil, nil
	}
	files, err := allClientFiles(filepath.Join(o.Claude, "projects"), o)
	if err != nil || len(files) == 0 {
		return nil, err
	}
	if err := dropKnown(ctx, db, files); err != nil || len(files) == 0 {
		return nil, err
	}
	find, err := projects.LoadFinder(ctx, db)
	if err != nil {
		return nil, err
	}
	return withProjects(ctx, db, files, find)
}

// allClientFiles returns the session files in all directories of root, by session.
func allClientFiles(root string, o ListOptions) (map[string]ClientFile, error) {
	files := map[string]ClientFile{}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return files, o.NoteUnreadable(err)
	}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		if !IsDir(dir) {
			continue
		}
		if _, err := readClientDir(dir, "", nil, files); err != nil && !errors.Is(err, fs.ErrNotExist) {
			if err := o.NoteUnreadable(err); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// dropKnown removes the files of sessions that a project contains or has forgotten, and of forks in which nothing was said.
func dropKnown(ctx context.Context, db *state.DB, files map[string]ClientFile) error {
	all, err := trust.Projects(ctx, db)
	if err != nil {
		return err
	}
	found := ReadFileCache(db, "every")
	found.Prune(files)
	for _, p := range all {
		st, err := trust.Outline(ctx, db, p.ID)
		if err != nil {
			return err
		}
		maps.DeleteFunc(files, func(id string, f ClientFile) bool {
			return st.Session(id) != nil || st.Purged.Session(id, db.Refs.Device().ID) || IsFork(ctx, db, st, id, f, found)
		})
	}
	WriteFileCache(db, "every", found)
	return nil
}

// withProjects finds the project of each file, by the working directory that it names.
func withProjects(ctx context.Context, db *state.DB, files map[string]ClientFile,
	find *projects.Finder) ([]UntrackedFile, error) {
	every := state.Project{ID: "every"} // the name of the cache of working directories
	b := newNestedFiles(db, every, files, find)
	var looked []peeked
	for _, id := range slices.Sorted(maps.Keys(files)) {
		src := Source{Path: files[id].Path}
		looked = append(looked, peeked{src: src, cwd: b.cwd(src.Path)})
	}
	if !maps.Equal(b.now, b.known) {
		writeCwds(db, every, b.now)
	}
	guess := guesser{m: db, others: looked}
	known := map[string]state.Project{}
	var out []UntrackedFile
	for _, l := range looked {
		dir := l.cwd
		if dir == "" {
			var err error
			if dir, err = guess.dir(ctx, l.src); err != nil {
				return nil, err
			}
		}
		p, ok := known[dir]
		if !ok {
			p, _ = find.Locate(ctx, dir, "")
			known[dir] = p
		}
		id := l.src.SessionID()
		out = append(out, UntrackedFile{id, p, files[id]})
	}
	slices.SortFunc(out, func(a, b UntrackedFile) int { return strings.Compare(a.File.Path, b.File.Path) })
	return out, ctx.Err()
}
