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
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A ClientFile is a session file of Claude Code.
type ClientFile struct {
	Path     string
	Size     int64
	Modified time.Time
	Dir      bool          // a directory of the same name exists, for subagents and overflow files
	Project  state.Project // to which [Add] adds it, for those of [Untracked]
	// Forgotten: the session was deleted. Lists do not read its file.
	Forgotten bool
	id        string       // of the session that its name says
	otherID   string       // of the session if it was captured as another one
	cwd       string       // the working directory, "" if it is not known
	also      []ClientFile // further files of the session, in other directories
}

// A clientDir is a directory with the sessions of working directories.
type clientDir struct {
	path    string
	files   []ClientFile // see [ClientFile.stat]
	parents []string     // the paths of the session files to which the directories in it belong; some are gone
	hidden  []string     // files that [isSessionName] refuses
	err     error        // it cannot be read
}

// ClientFiles are the directories of sessions of Claude Code at one time.
type ClientFiles struct{ dirs []clientDir }

// ReadFiles reads the directories of the session files of Claude Code, and o.SessionDir.
func (o ListOptions) ReadFiles() (*ClientFiles, error) {
	if o.Claude == "" {
		return &ClientFiles{}, nil
	}
	dirs, err := clientDirs(o)
	return &ClientFiles{dirs}, err
}

// read returns o.Read, or reads it.
func (o ListOptions) read() ([]clientDir, error) {
	if o.Read != nil {
		return o.Read.dirs, nil
	}
	return clientDirs(o)
}

// clientDirs reads the directories of sessions of Claude Code, and o.SessionDir. A symbolic link to a directory is read, unless it
// leads to another one of them.
func clientDirs(o ListOptions) (out []clientDir, err error) {
	root := filepath.Join(o.Claude, "projects")
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, o.NoteUnreadable(err)
	}
	for _, e := range entries {
		path := filepath.Join(root, e.Name())
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := filepath.EvalSymlinks(path)
			real, _ := filepath.EvalSymlinks(root) // it was read
			if err != nil || filepath.Dir(to) == real || !IsDir(to) {
				continue
			}
		} else if !e.IsDir() {
			continue
		}
		out = append(out, readClientDir(path))
	}
	if o.SessionDir != "" && !slices.ContainsFunc(out, func(d clientDir) bool { return d.path == o.SessionDir }) {
		out = append(out, readClientDir(o.SessionDir))
	}
	return out, nil
}

func readClientDir(path string) clientDir {
	d := clientDir{path: path}
	entries, err := os.ReadDir(path)
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = true
			d.parents = append(d.parents, filepath.Join(path, e.Name()+".jsonl"))
		}
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || !e.Type().IsRegular() {
			continue
		}
		file := filepath.Join(path, e.Name())
		if !isSessionName(e.Name()) {
			d.hidden = append(d.hidden, file)
			continue
		}
		f := clientFile(file)
		f.Dir = dirs[name]
		d.files = append(d.files, f)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		d.err = err
	}
	return d
}

// clientFile returns the session file at a path, which is not read.
func clientFile(path string) ClientFile {
	src := Source{Path: path}
	return ClientFile{Path: path, id: src.SessionID(), otherID: otherID(src)}
}

// stat sets the size and the time of a file. It reports false for an empty file and for one that is gone.
func (f *ClientFile) stat() bool {
	fi, err := os.Lstat(f.Path)
	if err != nil || !fi.Mode().IsRegular() || fi.Size() == 0 {
		return false
	}
	f.Size, f.Modified = fi.Size(), fi.ModTime()
	return true
}

// FilesOf returns the session files that Claude Code has for a project, by session ID.
func FilesOf(ctx context.Context, db *state.DB, p state.Project, st *state.State,
	o ListOptions) (map[string]ClientFile, error) {
	files, _, err := filesOf(ctx, db, p, st, o)
	if err != nil {
		return nil, err
	}
	found := ReadFileCache(db, p.ID)
	settle(ctx, db, st, files, found)
	WriteFileCache(db, p.ID, found)
	return files, nil
}

// filesOf returns the session files of a project, by session ID, and the paths of the files that may have subagents: the files to which
// [Add] finds the project. Of those that are not in memory it knows only those in o.SessionDir, and those whose directory may be that of
// a directory of the project or of one nested in it: Claude Code's name for it begins with the name for the parent directory, but so does the
// name for "shop-old" next to "shop", and one name can stand for two directories.
func filesOf(ctx context.Context, db *state.DB, p state.Project, st *state.State,
	o ListOptions) (files map[string]ClientFile, parents []string, err error) {
	files = map[string]ClientFile{}
	if o.Claude == "" {
		return files, nil, nil
	}
	dirs, err := o.read()
	if err != nil {
		return nil, nil, err
	}
	find, err := projects.LoadFinder(ctx, db)
	if err != nil {
		return nil, nil, err
	}
	here, known := find.Locate(ctx, o.Dir)
	if here.ID != p.ID {
		o.Dir = "" // the command runs in another project
	} else if !known && filepath.IsAbs(o.Dir) && filepath.Clean(o.Dir) == o.Dir {
		find = find.With(o.Dir, p) // as if it had been registered before
	}
	own, prefixes := clientNames(find, p, o.Dir)
	device := db.Refs.Device().ID
	add := func(f *ClientFile) {
		addTo(files, device, st, *f)
		if f.Dir {
			parents = append(parents, f.Path)
		}
	}
	var near []*ClientFile
	for i := range dirs {
		d := &dirs[i]
		name := filepath.Base(d.path)
		mine := own[name] || d.path == o.SessionDir
		if mine && d.err != nil {
			if err := o.NoteUnreadable(d.err); err != nil {
				return nil, nil, err
			}
		}
		if mine {
			parents = append(parents, d.parents...)
			for _, path := range d.hidden {
				o.ignore(p, path)
			}
		}
		nested := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
		for k := range d.files {
			f := &d.files[k]
			s := st.Session(f.sessionID(st))
			if s == nil && !mine && !nested || !f.stat() {
				continue
			}
			if s != nil && SourceOn(s, device) == f.Path {
				add(f)
			} else {
				near = append(near, f)
			}
		}
	}
	if err := locateFiles(ctx, db, find, near, o.Dir); err != nil {
		return nil, nil, err
	}
	for _, f := range near {
		if starting := filepath.Dir(f.Path) == o.SessionDir && f.cwd == ""; f.Project.ID == p.ID || starting {
			add(f)
		}
	}
	return files, parents, nil
}

// clientNames returns Claude Code's names for the directories of a project on this device, and the prefixes of its names for directories
// nested in them. The directories are the known ones, dir, and the root of the repository that contains dir.
func clientNames(find *projects.Finder, p state.Project, dir string) (own map[string]bool, prefixes []string) {
	roots := []string{}
	if filepath.IsAbs(dir) {
		roots = append(roots, dir)
	}
	for _, b := range find.Known {
		if b.Project == p.ID {
			roots = append(roots, b.Path)
		}
	}
	for d := dir; d != ""; d = projects.Parent(d) {
		if projects.IsRepo(d) {
			roots = append(roots, d)
			break
		}
	}
	own = map[string]bool{}
	for _, root := range roots {
		if name := ClientDir(root); !own[name] {
			own[name] = true
			prefixes = append(prefixes, clientPrefix(root))
		}
	}
	return own, prefixes
}

// clientPrefix returns the common prefix of the names that [ClientDir] returns for directories nested in dir.
func clientPrefix(dir string) string {
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	name := ClientDir(dir)
	return name[:min(len(name), clientNameMax)]
}

const cwdsVersion = 3

// locateFiles sets the working directories and projects of session files, as [Add] finds them; here is a working directory that a file
// without one may have. The working directory of a file is cached: it never changes, as the file only grows.
func locateFiles(ctx context.Context, db *state.DB, find *projects.Finder, files []*ClientFile, here string) error {
	if len(files) == 0 {
		return nil
	}
	var known map[string]string
	if !state.ReadCache(db.CachePath("cwds"), cwdsVersion, &known) {
		known = map[string]string{}
	}
	size := len(known)
	defer func() {
		if len(known) != size { // if the context has ended, the next call continues from here
			maps.DeleteFunc(known, func(path, _ string) bool { return !isRegular(path) })
			db.WriteCache(db.CachePath("cwds"), cwdsVersion, &known)
		}
	}()
	var looked []peeked
	for _, f := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		cwd, ok := known[f.Path]
		if !ok {
			l, err := peek(Source{Path: f.Path})
			if cwd = l.cwd; err == nil && cwd != "" { // capturing the file reports the error
				known[f.Path] = cwd
			}
		}
		f.cwd = cwd
		looked = append(looked, peeked{cwd: cwd})
	}
	guess := guesser{m: db, others: append(looked, peeked{cwd: here})}
	places := map[string]*place{}
	for _, f := range files {
		dir, src := f.cwd, Source{Path: f.Path}
		if dir == "" {
			var err error
			if dir, err = guess.dir(ctx, src); err != nil {
				return err
			}
		}
		if places[dir] == nil {
			places[dir] = placeOf(ctx, find, dir)
		}
		var err error
		if f.Project, err = homeOf(ctx, db, places[dir], src); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Untracked returns the session files of Claude Code, of all projects, whose sessions are not in memory, sorted by path. Forks in which
// nothing was said, and files of forgotten sessions unless o.Forgotten is set, count as captured; files of subagents belong to their session.
func Untracked(ctx context.Context, db *state.DB, o ListOptions) ([]ClientFile, error) {
	if o.Claude == "" {
		return nil, nil
	}
	dirs, err := o.read()
	if err != nil {
		return nil, err
	}
	files := map[string]ClientFile{}
	for _, d := range dirs {
		if d.err != nil {
			if err := o.NoteUnreadable(d.err); err != nil {
				return nil, err
			}
		}
		for _, f := range d.files {
			if f.stat() {
				files[f.id] = f
			}
		}
	}
	if err := dropKnown(ctx, db, files, o.Forgotten); err != nil || len(files) == 0 {
		return nil, err
	}
	find, err := projects.LoadFinder(ctx, db)
	if err != nil {
		return nil, err
	}
	var out []*ClientFile
	for _, f := range files {
		out = append(out, &f)
	}
	slices.SortFunc(out, func(a, b *ClientFile) int { return strings.Compare(a.Path, b.Path) })
	err = locateFiles(ctx, db, find, out, o.Dir)
	var list []ClientFile
	for _, f := range out {
		list = append(list, *f)
	}
	return list, err
}

// dropKnown removes the files of sessions that a project contains, and of forks in which nothing was said. Files of forgotten
// sessions are removed or marked; nothing is read from them.
func dropKnown(ctx context.Context, db *state.DB, files map[string]ClientFile, forgotten bool) error {
	all, err := trust.Projects(ctx, db)
	if err != nil {
		return err
	}
	var states []*state.State
	for _, p := range all {
		st, err := trust.Outline(ctx, db, p.ID)
		if err != nil {
			return err
		}
		states = append(states, st)
		for id, f := range files {
			f.Forgotten = f.Forgotten || st.Purged.Session(id, db.Refs.Device().ID)
			if files[id] = f; st.Session(id) != nil || f.Forgotten && !forgotten {
				delete(files, id)
			}
		}
	}
	const every = refs.Project("every") // the name of the cache
	found := ReadFileCache(db, every)
	found.Prune(files)
	for _, st := range states {
		maps.DeleteFunc(files, func(id string, f ClientFile) bool { return !f.Forgotten && IsFork(ctx, db, st, id, f, found) })
	}
	WriteFileCache(db, every, found)
	return nil
}
