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

// Beneath adds to files the sessions that ran in directories inside those of a project. Claude Code has a
// directory for each, which nothing need have captured from yet. Its name begins with that of the one above it;
// but so does that of "shop-old" beside "shop", and one name can stand for two directories. So a file counts
// only if the working directory that it names is the project's, and files of other projects that came with the
// rest of a directory are taken out, unless a session starts there.
func (m Ops) Beneath(ctx context.Context, p state.Project, st *state.State, o ListOptions, dir string,
	files map[string]ClientFile) error {
	if o.Claude == "" {
		return nil
	}
	paths, err := projects.On(m.DB).Paths(ctx)
	if err != nil {
		return err
	}
	if here, _ := projects.Locate(ctx, paths, o.Dir); here.ID != p.ID {
		o.Dir = "" // where the command runs says nothing of this project
	}
	roots := rootsOf(paths, p, o.Dir)
	projects := filepath.Join(o.Claude, "projects")
	b := m.filesOf(p, files, meeting(ctx, paths, p, o.Dir))
	b.roots, b.unreadable = roots, o.NoteUnreadable
	for _, inside := range dirsBeneath(projects, roots, files) {
		if err := b.look(ctx, filepath.Join(projects, inside)); err != nil {
			maps.Copy(b.now, b.known) // whoever goes on need not begin anew
			m.writeCwds(p, b.now)
			return err
		}
	}
	b.dropOthers(ctx, st, dir, filepath.Join(projects, ClientDir(o.Dir)))
	return ctx.Err()
}

// dropOthers takes files out that no session of st is of and that other projects' sessions are, which came with
// the rest of a directory, unless they are in one of own.
func (b *beneath) dropOthers(ctx context.Context, st *state.State, own ...string) {
	for id, f := range b.files {
		path := f.Path
		if _, ok := SubagentOf(path); ok {
			path = filepath.Dir(filepath.Dir(path)) + ".jsonl"
		}
		if st.Session(id) == nil && !slices.Contains(own, filepath.Dir(path)) && b.others(ctx, path) {
			delete(b.files, id)
		}
	}
	if !maps.Equal(b.now, b.known) {
		b.m.writeCwds(b.project, b.now)
	}
}

// A beneath is the look at files that may be a project's. What was found out about a file is kept: it never
// changes, as the file only grows.
type beneath struct {
	m          Ops
	project    state.Project
	paths      []records.PathBody // what is known of directories
	roots      []string
	unreadable func(error) error // what to do of what cannot be read beside a session
	files      map[string]ClientFile
	known, now map[string]string       // the working directories that files name, by path
	owners     map[string]refs.Project // of working directories
	mine       map[string]bool         // whether those are the project's
}

// meeting returns what is known of directories once dir, a directory of the project p that nothing was known
// of, is met: what the second look inside it sees, the first one sees too.
func meeting(ctx context.Context, paths []records.PathBody, p state.Project, dir string) []records.PathBody {
	if here, known := projects.Locate(ctx, paths, dir); known || here.ID != p.ID || !filepath.IsAbs(dir) ||
		filepath.Clean(dir) != dir {
		return paths
	}
	return append(slices.Clone(paths), records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name})
}

func (m Ops) filesOf(p state.Project, files map[string]ClientFile, paths []records.PathBody) *beneath {
	return &beneath{m: m, project: p, paths: paths, files: files, known: m.readCwds(p), now: map[string]string{},
		owners: map[string]refs.Project{}, mine: map[string]bool{}}
}

// look adds the sessions in a directory that are the project's, and their subagents. A directory that cannot be
// read may be another project's: whoever asks for that one is told.
func (b *beneath) look(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	beside := map[string]bool{}
	for _, e := range entries { // a session's directory comes before its file
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case e.IsDir():
			beside[e.Name()] = true
		case ok && e.Type().IsRegular() && b.files[id].Path == "":
			if err := b.add(ctx, filepath.Join(dir, e.Name()), beside[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a session if it is the project's.
func (b *beneath) add(ctx context.Context, path string, beside bool) error {
	cwd := b.cwd(path)
	mine, ok := b.mine[cwd]
	if !ok {
		mine = b.works(ctx, cwd)
		b.mine[cwd] = mine
	}
	if !mine {
		return nil
	}
	sources := []Source{{Path: path}}
	if beside {
		subagents, err := Subagents(path)
		if err != nil {
			if err := b.unreadable(err); err != nil {
				return err
			}
		}
		sources = append(sources, subagents...)
	}
	for i, src := range sources {
		addFile(b.files, src.Path, i == 0 && beside)
		if f, ok := b.files[src.SessionID()]; ok && f.Path == src.Path {
			f.cwd = cwd
			b.files[src.SessionID()] = f
		}
	}
	return nil
}

// works reports whether a working directory lies in one of the roots and is the project's: a repository inside
// it that nothing is known of may be another.
func (b *beneath) works(ctx context.Context, cwd string) bool {
	within := func(root string) bool { return isWithin(root, cwd) }
	if !filepath.IsAbs(cwd) || filepath.Clean(cwd) != cwd || !slices.ContainsFunc(b.roots, within) ||
		b.owner(ctx, cwd) != b.project.ID {
		return false
	}
	for d := cwd; d != "" && !slices.Contains(b.roots, d); d = projects.Parent(d) {
		if projects.IsRepo(d) {
			return projects.Identify(ctx, d).ID == b.project.ID
		}
	}
	return true
}

// others reports whether the file at path is another project's.
func (b *beneath) others(ctx context.Context, path string) bool {
	cwd := b.cwd(path)
	owner := b.owner(ctx, cwd)
	return cwd != "" && owner != "" && owner != b.project.ID
}

// cwd returns the working directory that the file at path names, "" if it names none yet.
func (b *beneath) cwd(path string) string {
	cwd, ok := b.known[path]
	if !ok {
		var err error
		if cwd, _, err = peek(Source{Path: path}); err != nil || cwd == "" {
			return "" // what is wrong with it is told when it is captured
		}
	}
	b.now[path] = cwd
	return cwd
}

// owner returns the project of a working directory.
func (b *beneath) owner(ctx context.Context, cwd string) refs.Project {
	owner, ok := b.owners[cwd]
	if !ok {
		p, _ := projects.Locate(ctx, b.paths, cwd)
		owner = p.ID
		b.owners[cwd] = owner
	}
	return owner
}

// dirsBeneath returns the directories of Claude Code, sorted, whose names begin as those of directories inside
// roots do, without those that files are from. A link to a directory is none.
func dirsBeneath(projects string, roots []string, files map[string]ClientFile) (out []string) {
	entries, err := os.ReadDir(projects)
	if err != nil {
		return nil // Claude Code has written nothing, or nothing that can be read
	}
	read := map[string]bool{}
	for _, f := range files {
		read[filepath.Dir(f.Path)] = true
	}
	for _, e := range entries {
		under := func(root string) bool { return strings.HasPrefix(e.Name(), clientPrefix(root)) }
		if e.IsDir() && slices.ContainsFunc(roots, under) && !read[filepath.Join(projects, e.Name())] {
			out = append(out, e.Name())
		}
	}
	return out
}

// clientPrefix returns how the names begin that [ClientDir] gives to directories inside dir.
func clientPrefix(dir string) string {
	if !strings.HasSuffix(dir, string(filepath.Separator)) {
		dir += string(filepath.Separator)
	}
	name := ClientDir(dir)
	return name[:min(len(name), clientNameMax)]
}

// rootsOf returns the directories of a project on this device: those it is known by, dir, and the root of dir's
// repository.
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

// isWithin reports whether path is root or lies inside it, by their names.
func isWithin(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// readCwds reads what is kept of the working directories that files name.
func (m Ops) readCwds(p state.Project) map[string]string {
	cwds := map[string]string{}
	if !state.DecodeCache(m.CachePath("beneath", string(p.ID)), func(c *records.Codec) { codeWords(c, cwds) }) {
		return map[string]string{}
	}
	return cwds
}

func (m Ops) writeCwds(p state.Project, cwds map[string]string) {
	m.WriteCacheBytes(m.CachePath("beneath", string(p.ID)), state.Encode(func(c *records.Codec) { codeWords(c, cwds) }))
}

// codeWords writes or reads words by words, in order.
func codeWords(c *records.Codec, words map[string]string) {
	keys := slices.Sorted(maps.Keys(words))
	records.List(c, &keys, func(key *string) {
		records.Word(c, key)
		value := words[*key]
		records.Word(c, &value)
		words[*key] = value
	})
}
