package refs

import (
	"cmp"
	"slices"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// A node is a directory of a lane, read when it is first looked into. Setting a path marks the nodes on
// the way; encode writes only those.
type node struct {
	id      pack.ID // zero for a new one
	loaded  bool
	dirty   bool
	entries []entry // sorted by name
}

type entry struct {
	name string
	id   pack.ID // of a blob
	dir  *node   // nil for a blob
}

func (n *node) load(g *gitstore.Repo) error {
	if n.loaded {
		return nil
	}
	if !n.id.IsZero() {
		es, err := g.Tree(n.id)
		if err != nil {
			return err
		}
		n.entries = make([]entry, len(es))
		for i, e := range es {
			n.entries[i] = entry{name: e.Name, id: e.ID}
			if e.Tree {
				n.entries[i] = entry{name: e.Name, dir: &node{id: e.ID}}
			}
		}
		slices.SortFunc(n.entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	}
	n.loaded = true
	return nil
}

func (n *node) index(name string) (int, bool) {
	return slices.BinarySearchFunc(n.entries, name, func(e entry, name string) int { return cmp.Compare(e.name, name) })
}

// find returns the entry at path, or ok == false if there is none.
func (n *node) find(g *gitstore.Repo, path ...string) (e entry, ok bool, err error) {
	e = entry{dir: n}
	for _, name := range path {
		if e.dir == nil {
			return entry{}, false, nil
		}
		if err := e.dir.load(g); err != nil {
			return entry{}, false, err
		}
		i, ok := e.dir.index(name)
		if !ok {
			return entry{}, false, nil
		}
		e = e.dir.entries[i]
	}
	return e, true, nil
}

// set puts the blob id at path, making the directories on the way. It reports whether that changes anything.
func (n *node) set(g *gitstore.Repo, id pack.ID, path ...string) (bool, error) {
	if err := n.load(g); err != nil {
		return false, err
	}
	i, ok := n.index(path[0])
	if len(path) == 1 {
		if ok && n.entries[i].dir == nil && n.entries[i].id == id {
			return false, nil
		}
		if !ok {
			n.entries = slices.Insert(n.entries, i, entry{})
		}
		n.entries[i] = entry{name: path[0], id: id}
		n.dirty = true
		return true, nil
	}
	if !ok || n.entries[i].dir == nil {
		e := entry{name: path[0], dir: &node{loaded: true}}
		if ok {
			n.entries[i] = e
		} else {
			n.entries = slices.Insert(n.entries, i, e)
		}
	}
	changed, err := n.entries[i].dir.set(g, id, path[1:]...)
	n.dirty = n.dirty || changed
	return changed, err
}

// encode gives every changed directory to put, the deepest first, and returns the id of n.
func (n *node) encode(put func(pack.Kind, []byte) (pack.ID, error)) (pack.ID, error) {
	if !n.dirty {
		return n.id, nil
	}
	es := make([]gitstore.TreeEntry, len(n.entries))
	for i, e := range n.entries {
		es[i] = gitstore.TreeEntry{Name: e.name, ID: e.id}
		if e.dir != nil {
			id, err := e.dir.encode(put)
			if err != nil {
				return pack.ID{}, err
			}
			es[i] = gitstore.TreeEntry{Name: e.name, ID: id, Tree: true}
		}
	}
	b, err := gitstore.EncodeTree(es)
	if err != nil {
		return pack.ID{}, err
	}
	if n.id, err = put(pack.Tree, b); err != nil {
		return pack.ID{}, err
	}
	n.dirty = false
	return n.id, nil
}

// walk calls f for every blob under n, in the order of names.
func (n *node) walk(g *gitstore.Repo, path []string, f func(path []string, id pack.ID) error) error {
	if err := n.load(g); err != nil {
		return err
	}
	for _, e := range n.entries {
		p := append(path, e.name)
		var err error
		if e.dir == nil {
			err = f(p, e.id)
		} else {
			err = e.dir.walk(g, p, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// walkNew is walk without what old has in the same place; old may be nil.
func (n *node) walkNew(g *gitstore.Repo, old *node, path []string, f func(path []string, id pack.ID) error) error {
	if old == nil {
		return n.walk(g, path, f)
	}
	if n.id == old.id && !n.dirty {
		return nil
	}
	if err := n.load(g); err != nil {
		return err
	}
	if err := old.load(g); err != nil {
		return err
	}
	for _, e := range n.entries {
		p := append(path, e.name)
		var was entry
		i, ok := old.index(e.name)
		if ok {
			was = old.entries[i]
		}
		var err error
		switch {
		case e.dir != nil:
			err = e.dir.walkNew(g, was.dir, p, f)
		case !ok || was.id != e.id:
			err = f(p, e.id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hashPath returns where a thing with the name h lies under dir: depth levels of one hexadecimal digit,
// so that a commit rewrites small directories only, and the rest of the digits.
func hashPath(dir string, depth int, h objects.Hash, suffix string) []string {
	s := h.String()
	path := append(make([]string, 0, depth+2), dir)
	for i := range depth {
		path = append(path, s[i:i+1])
	}
	return append(path, s[depth:]+suffix)
}

func objectPath(h objects.Hash) []string { return hashPath("objects", 4, h, "") }
func pointPath(h objects.Hash) []string  { return hashPath("points", 4, h, "") }
func recordPath(h objects.Hash) []string { return hashPath("records", 4, h, ".json") }
func streamPath(h objects.Hash) []string { return hashPath("streams", 3, h, "") }
func patchPath(h objects.Hash) []string  { return hashPath("patches", 4, h, "") }
