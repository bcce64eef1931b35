package lane

import (
	"cmp"
	"slices"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// A Dir is a directory of a lane, read on first use. [Dir.Set] marks the directories on the path as changed;
// [Dir.Encode] writes only those. It is not safe for concurrent use.
type Dir struct {
	ID      pack.ID // zero for a new one
	loaded  bool
	dirty   bool
	entries []DirEntry // sorted by name
}

// A DirEntry is a blob or a subdirectory of a [Dir].
type DirEntry struct {
	name string
	ID   pack.ID // of a blob
	Dir  *Dir    // nil for a blob
}

// DirAt returns the directory of a tree object; the zero id is an empty directory.
func DirAt(tree pack.ID) *Dir { return &Dir{ID: tree} }

// Touch makes [Dir.Encode] write n even if it has not changed.
func (n *Dir) Touch() { n.dirty = true }

// Changed reports whether [Dir.Encode] will write n.
func (n *Dir) Changed() bool { return n.dirty }

func (n *Dir) load(g *gitstore.Repo) error {
	if n.loaded {
		return nil
	}
	if !n.ID.IsZero() {
		es, err := g.Tree(n.ID)
		if err != nil {
			return err
		}
		n.entries = make([]DirEntry, len(es))
		for i, e := range es {
			n.entries[i] = DirEntry{name: e.Name, ID: e.ID}
			if e.Tree {
				n.entries[i] = DirEntry{name: e.Name, Dir: &Dir{ID: e.ID}}
			}
		}
		slices.SortFunc(n.entries, func(a, b DirEntry) int { return cmp.Compare(a.name, b.name) })
	}
	n.loaded = true
	return nil
}

func (n *Dir) index(name string) (int, bool) {
	return slices.BinarySearchFunc(n.entries, name, func(e DirEntry, name string) int { return cmp.Compare(e.name, name) })
}

// Find returns the entry at path, or ok == false if there is none.
func (n *Dir) Find(g *gitstore.Repo, path ...string) (e DirEntry, ok bool, err error) {
	e = DirEntry{Dir: n}
	for _, name := range path {
		if e.Dir == nil {
			return DirEntry{}, false, nil
		}
		if err := e.Dir.load(g); err != nil {
			return DirEntry{}, false, err
		}
		i, ok := e.Dir.index(name)
		if !ok {
			return DirEntry{}, false, nil
		}
		e = e.Dir.entries[i]
	}
	return e, true, nil
}

// Set sets path to the blob id and creates missing directories. It reports whether that changes anything.
func (n *Dir) Set(g *gitstore.Repo, id pack.ID, path ...string) (bool, error) {
	if err := n.load(g); err != nil {
		return false, err
	}
	i, ok := n.index(path[0])
	if len(path) == 1 {
		if ok && n.entries[i].Dir == nil && n.entries[i].ID == id {
			return false, nil
		}
		if !ok {
			n.entries = slices.Insert(n.entries, i, DirEntry{})
		}
		n.entries[i] = DirEntry{name: path[0], ID: id}
		n.dirty = true
		return true, nil
	}
	if !ok || n.entries[i].Dir == nil {
		e := DirEntry{name: path[0], Dir: &Dir{loaded: true}}
		if ok {
			n.entries[i] = e
		} else {
			n.entries = slices.Insert(n.entries, i, e)
		}
	}
	changed, err := n.entries[i].Dir.Set(g, id, path[1:]...)
	n.dirty = n.dirty || changed
	return changed, err
}

// Encode calls put with every changed directory, children first, and returns the id of n.
func (n *Dir) Encode(put func(pack.Kind, []byte) (pack.ID, error)) (pack.ID, error) {
	if !n.dirty {
		return n.ID, nil
	}
	es := make([]gitstore.TreeEntry, len(n.entries))
	for i, e := range n.entries {
		es[i] = gitstore.TreeEntry{Name: e.name, ID: e.ID}
		if e.Dir != nil {
			id, err := e.Dir.Encode(put)
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
	if n.ID, err = put(pack.Tree, b); err != nil {
		return pack.ID{}, err
	}
	n.dirty = false
	return n.ID, nil
}

// Walk calls f for every blob under n, in the order of names. f must not keep path.
func (n *Dir) Walk(g *gitstore.Repo, path []string, f func(path []string, id pack.ID) error) error {
	return n.WalkNew(g, nil, path, f)
}

// WalkNew is [Dir.Walk] without the blobs that old has at the same path; old may be nil.
func (n *Dir) WalkNew(g *gitstore.Repo, old *Dir, path []string, f func(path []string, id pack.ID) error) error {
	if old == nil {
		old = &Dir{loaded: true}
	}
	if n.ID == old.ID && !n.dirty {
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
		var was DirEntry
		i, ok := old.index(e.name)
		if ok {
			was = old.entries[i]
		}
		var err error
		switch {
		case e.Dir != nil:
			err = e.Dir.WalkNew(g, was.Dir, p, f)
		case !ok || was.ID != e.ID:
			err = f(p, e.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
