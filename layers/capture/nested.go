package capture

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// addNested adds the sessions that ran in directories nested in those of a project, and removes files of other
// projects. Claude Code has a directory for each working directory. Its name begins with the name for the parent
// directory, but so does the name for "shop-old" next to "shop", and one name can stand for two directories. So a
// nested file counts only if its working directory belongs to the project. Files of other projects remain only in
// o.SessionDir and in the directory for o.Dir, where a session is starting.
func addNested(ctx context.Context, db *state.DB, p state.Project, st *state.State, o ListOptions,
	files map[string]ClientFile) error {
	if o.Claude == "" {
		return nil
	}
	find, err := projects.LoadFinder(ctx, db)
	if err != nil {
		return err
	}
	if here, _ := find.Locate(ctx, o.Dir, ""); here.ID != p.ID {
		o.Dir = "" // the command runs in another project
	}
	roots := rootsOf(find.Known, p, o.Dir)
	all := filepath.Join(o.Claude, "projects")
	b := newNestedFiles(db, p, files, withDir(ctx, find, p, o.Dir))
	b.st, b.roots, b.unreadable = st, roots, o.NoteUnreadable
	nested, others := unreadDirs(all, roots, files)
	for i, name := range append(nested, others...) {
		if err := b.addDir(ctx, filepath.Join(all, name), i >= len(nested)); err != nil {
			maps.Copy(b.now, b.known) // the next call continues from here
			writeCwds(db, p, b.now)
			return err
		}
	}
	b.dropForeign(ctx, st, o.SessionDir, filepath.Join(all, ClientDir(o.Dir)))
	return ctx.Err()
}

// dropForeign removes the files of other projects, except captured sessions of st and files in one of the
// directories own.
func (b *nestedFiles) dropForeign(ctx context.Context, st *state.State, own ...string) {
	for id, f := range b.files {
		path := f.Path
		if _, ok := SubagentOf(path); ok {
			path = filepath.Dir(filepath.Dir(path)) + ".jsonl"
		}
		if st.Session(id) == nil && !slices.Contains(own, filepath.Dir(path)) && b.isForeign(ctx, path) {
			delete(b.files, id)
		}
	}
	if !maps.Equal(b.now, b.known) {
		writeCwds(b.m, b.project, b.now)
	}
}

// A nestedFiles selects the session files of a project by their working directories. The working directory of a file
// is cached: it never changes, as the file only grows.
type nestedFiles struct {
	m          *state.DB
	project    state.Project
	find       *projects.Finder
	roots      []string          // the directories of project
	unreadable func(error) error // called if the subagents of a session cannot be read
	st         *state.State      // of project; may be nil
	files      map[string]ClientFile
	known, now map[string]string       // working directories by path of the file: cached, and of this call
	owners     map[string]refs.Project // by working directory
	mine       map[string]bool         // by working directory: whether it belongs to project
}

// withDir returns a finder that knows dir as a directory of the project p, as if dir had been registered before.
func withDir(ctx context.Context, find *projects.Finder, p state.Project, dir string) *projects.Finder {
	if here, known := find.Locate(ctx, dir, ""); known || here.ID != p.ID || !filepath.IsAbs(dir) ||
		filepath.Clean(dir) != dir {
		return find
	}
	return find.With(dir, p)
}

func newNestedFiles(db *state.DB, p state.Project, files map[string]ClientFile, find *projects.Finder) *nestedFiles {
	return &nestedFiles{m: db, project: p, find: find, files: files, known: readCwds(db, p), now: map[string]string{},
		owners: map[string]refs.Project{}, mine: map[string]bool{}}
}

// addDir adds the project's sessions in a directory, and their subagents, with known only those in memory. A directory that
// cannot be read is skipped: it may belong to another project.
func (b *nestedFiles) addDir(ctx context.Context, dir string, known bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	subdirs := map[string]bool{}
	for _, e := range entries { // sorted: the directory of a session comes before its file
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir():
			subdirs[e.Name()] = true
		case ok && e.Type().IsRegular() && (b.st.Session(id) != nil || !known && b.files[id].Path == ""):
			if err := b.add(ctx, filepath.Join(dir, e.Name()), subdirs[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a session if it belongs to the project. hasDir says that it has a directory for subagents.
func (b *nestedFiles) add(ctx context.Context, path string, hasDir bool) error {
	cwd := b.cwd(path)
	mine, ok := b.mine[cwd]
	if b.st.Session((Source{Path: path}).SessionID()) != nil {
		mine = filepath.IsAbs(cwd) && b.owner(ctx, cwd) == b.project.ID
	} else if !ok {
		mine = b.belongs(ctx, cwd)
		b.mine[cwd] = mine
	}
	if !mine {
		return nil
	}
	sources := []Source{{Path: path}}
	if hasDir {
		subagents, err := Subagents(path)
		if err != nil {
			if err := b.unreadable(err); err != nil {
				return err
			}
		}
		sources = append(sources, subagents...)
	}
	for i, src := range sources {
		addFile(b.files, b.m.Refs.Device().ID, b.st, src.Path, i == 0 && hasDir)
		if f, ok := b.files[fileID(b.st, src.Path)]; ok && f.Path == src.Path {
			f.cwd = cwd
			b.files[fileID(b.st, src.Path)] = f
		}
	}
	return nil
}

// belongs reports whether a working directory lies in one of the roots and belongs to the project. A nested
// repository may be another project.
func (b *nestedFiles) belongs(ctx context.Context, cwd string) bool {
	within := func(root string) bool { return isWithin(root, cwd) }
	if !filepath.IsAbs(cwd) || filepath.Clean(cwd) != cwd || !slices.ContainsFunc(b.roots, within) ||
		b.owner(ctx, cwd) != b.project.ID {
		return false
	}
	for d := cwd; d != "" && !slices.Contains(b.roots, d); d = projects.Parent(d) {
		if projects.IsRepo(d) {
			return b.owner(ctx, d) == b.project.ID
		}
	}
	return true
}

// isForeign reports whether the file at path belongs to another project.
func (b *nestedFiles) isForeign(ctx context.Context, path string) bool {
	cwd := b.cwd(path)
	owner := b.owner(ctx, cwd)
	return cwd != "" && owner != "" && owner != b.project.ID
}

// cwd returns the working directory that the file at path names, "" if it names none yet.
func (b *nestedFiles) cwd(path string) string {
	cwd, ok := b.known[path]
	if !ok {
		l, err := peek(Source{Path: path})
		if cwd = l.cwd; err != nil || cwd == "" {
			return "" // capturing the file reports the error
		}
	}
	b.now[path] = cwd
	return cwd
}

// owner returns the project of a working directory.
func (b *nestedFiles) owner(ctx context.Context, cwd string) refs.Project {
	owner, ok := b.owners[cwd]
	if !ok {
		p, _ := b.find.Locate(ctx, cwd, "")
		owner = p.ID
		b.owners[cwd] = owner
	}
	return owner
}

// unreadDirs returns the names of the directories in projects, sorted, except those of files: those that may stand for
// directories nested in roots, and the others. Symbolic links are skipped.
func unreadDirs(projects string, roots []string, files map[string]ClientFile) (nested, others []string) {
	entries, err := os.ReadDir(projects)
	if err != nil {
		return nil, nil // it does not exist or cannot be read
	}
	read := map[string]bool{}
	for _, f := range files {
		read[filepath.Dir(f.Path)] = true
	}
	for _, e := range entries {
		under := func(root string) bool { return strings.HasPrefix(e.Name(), clientPrefix(root)) }
		switch {
		case !e.IsDir() || read[filepath.Join(projects, e.Name())]:
		case slices.ContainsFunc(roots, under):
			nested = append(nested, e.Name())
		default:
			others = append(others, e.Name())
		}
	}
	return nested, others
}

// clientPrefix returns the common prefix of the names that [ClientDir] returns for directories nested in dir.
func clientPrefix(dir string) string {
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	name := ClientDir(dir)
	return name[:min(len(name), clientNameMax)]
}

// rootsOf returns the directories of a project on this device: the known ones, dir, and the root of the repository
// that contains dir.
func rootsOf(paths []records.PathBody, p state.Project, dir string) []string {
	roots := map[string]bool{dir: filepath.IsAbs(dir)}
	for _, b := range paths {
		if b.Project == p.ID {
			roots[b.Path] = true
		}
	}
	for d := dir; d != ""; d = projects.Parent(d) {
		if projects.IsRepo(d) {
			roots[d] = true
			break
		}
	}
	maps.DeleteFunc(roots, func(_ string, ok bool) bool { return !ok })
	return slices.Sorted(maps.Keys(roots))
}

// isWithin reports whether path is root or is nested in it. It compares names only.
func isWithin(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

const cwdsVersion = 2

// readCwds reads the cached working directories of files.
func readCwds(db *state.DB, p state.Project) map[string]string {
	var cwds map[string]string
	if !state.ReadCache(db.CachePath("beneath", string(p.ID)), cwdsVersion, &cwds) {
		return map[string]string{}
	}
	return cwds
}

func writeCwds(db *state.DB, p state.Project, cwds map[string]string) {
	db.WriteCache(db.CachePath("beneath", string(p.ID)), cwdsVersion, &cwds)
}
