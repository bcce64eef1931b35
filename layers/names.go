package layers

import (
	"context"
	"maps"
	"slices"

	"github.com/memvcs/mem/refs"
)

// What projects are called stands in their outlines, which are megabytes to decode in a large memory. Who asks for all projects
// mostly wants no more than the names: they are cached in a file of their own.

// names are the projects of a memory with their names.
type names struct {
	version int
	of      map[refs.Project]storedName
	changed bool
}

const namesVersion = 2

// A storedName is what a project is called at some tips, as long as the same devices are trusted: see [Memory.stillHeeds].
type storedName struct {
	tips           []refs.Tip
	name, identity string
	heeded         []string
	unheeded       []string
	strangers      []string
}

func (m *Memory) readNames() *names {
	n := &names{}
	if decodeCache(m.cachePath("names"), n.code) {
		return n
	}
	return &names{version: namesVersion, of: map[refs.Project]storedName{}}
}

func (m *Memory) writeNames(n *names) {
	if n.changed {
		m.writeCacheBytes(m.cachePath("names"), encode(n.code))
	}
}

// nameOf returns the project with an id, from what is known of names or else from its outline.
func (m *Memory) nameOf(ctx context.Context, id refs.Project, known *names) (Project, error) {
	var tips []refs.Tip
	err := m.repo.View(ctx, id, func(tx *refs.Tx) error { tips = tx.Tips(); return nil })
	if err != nil {
		return Project{}, err
	}
	n := known.of[id]
	same, err := m.stillHeeds(ctx, id, n.heeded, n.unheeded)
	if err != nil {
		return Project{}, err
	}
	strangers, err := m.strangersAt(ctx, id, tips)
	if err != nil {
		return Project{}, err
	}
	if same && slices.Equal(n.strangers, strangers) && len(tips) > 0 && slices.Equal(n.tips, tips) {
		return Project{id, n.name, n.identity}, nil
	}
	st, err := m.Outline(ctx, id)
	if err != nil {
		return Project{}, err
	}
	p := st.project()
	known.of[id] = storedName{st.Tips, p.Name, p.Identity, st.heeded(), st.Unheeded, st.Strangers}
	known.changed = true
	return p, nil
}

func (n *names) code(c *codec) {
	number(c, &n.version)
	if n.version != namesVersion {
		c.failed = true
		return
	}
	if c.reading {
		n.of = map[refs.Project]storedName{}
	}
	ids := slices.Sorted(maps.Keys(n.of))
	list(c, &ids, func(id *refs.Project) {
		word(c, id)
		x := n.of[*id]
		codeTips(c, &x.tips)
		word(c, &x.name)
		word(c, &x.identity)
		c.words(&x.heeded)
		c.words(&x.unheeded)
		c.words(&x.strangers)
		n.of[*id] = x
	})
}
