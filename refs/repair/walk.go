package repair

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A walker visits all objects that are reachable from a commit. It continues after missing ones.
type walker struct {
	git       *gitstore.Repo
	seen      map[pack.ID]bool
	onObject  func(pack.ID) error
	onMissing func(id pack.ID, path []string)
	old       bool // the tip was visited: only older commits contain the other objects
}

func (v *walker) lane(ctx context.Context, tip pack.ID) error {
	for id := tip; !id.IsZero() && !v.seen[id]; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ok, err := v.visit(id, nil); err != nil || !ok {
			return err
		}
		c, err := v.git.Commit(id)
		if err != nil {
			return v.unreadable(id, nil, err)
		}
		if err := v.tree(c.Tree, nil); err != nil {
			return err
		}
		id, v.old = c.Parent, true
	}
	return nil
}

// visit reports whether id exists and is visited for the first time.
func (v *walker) visit(id pack.ID, path []string) (bool, error) {
	if v.seen[id] {
		return false, nil
	}
	v.seen[id] = true
	if v.onObject != nil {
		if err := v.onObject(id); err != nil {
			return false, err
		}
	}
	ok, err := v.git.Has(id)
	if err == nil && !ok && v.onMissing != nil {
		v.onMissing(id, path)
	}
	if err != nil {
		return false, v.unreadable(id, path, err)
	}
	return ok, nil
}

// unreadable reports an unreadable object as missing. It returns I/O errors.
func (v *walker) unreadable(id pack.ID, path []string, err error) error {
	if !unreadable(err) {
		return err
	}
	if v.onMissing != nil {
		v.onMissing(id, path)
	}
	return nil
}

// unreadable reports whether an error means that an object is missing or malformed. Other errors are I/O errors.
func unreadable(err error) bool {
	return slices.ContainsFunc([]error{pack.ErrNotFound, pack.ErrCorrupt, pack.ErrTooLarge, gitstore.ErrKind,
		gitstore.ErrTree, gitstore.ErrCommit}, func(e error) bool { return errors.Is(err, e) })
}

func (v *walker) tree(id pack.ID, path []string) error {
	if ok, err := v.visit(id, path); err != nil || !ok {
		return err
	}
	es, err := v.git.Tree(id)
	if err != nil {
		return v.unreadable(id, path, err)
	}
	if len(path) > lane.MaxPath {
		return nil
	}
	for _, e := range es {
		p := append(path[:len(path):len(path)], e.Name)
		if e.Tree {
			err = v.tree(e.ID, p)
		} else {
			_, err = v.visit(e.ID, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describeLosses sets Commit and Session of the losses: those of the oldest commit that contains the object.
func (x *repair) describeLosses() error {
	const limit = 2000
	chains := map[pack.ID][]pack.ID{}
	for i := range x.lost[:min(limit, len(x.lost))] {
		l := &x.lost[i]
		if len(l.Path) == 0 {
			continue
		}
		chain, ok := chains[l.Lane.Tip]
		if !ok {
			for c, err := range lane.Ancestors(x.ctx, x.Git, l.Lane.Tip) {
				if err != nil {
					break // older commits are lost
				}
				chain = append(chain, c.ID)
			}
			chains[l.Lane.Tip] = chain
			if err := x.ctx.Err(); err != nil {
				return err
			}
		}
		n := len(chain) - 1
		for ; n > 0; n-- { // oldest first
			if commitHas(x.Git, chain[n], l.Path, l.ID) {
				break
			}
		}
		if n < 0 {
			continue
		}
		c, err := x.Git.Commit(chain[n])
		if err != nil {
			return err
		}
		l.Commit, _, _ = strings.Cut(c.Message, "\n")
		l.Session = refs.Entry{Trailers: lane.Trailers(c.Message)}.Trailer("Session")
	}
	return nil
}

// commitHas reports whether a commit has the object id at a path.
func commitHas(g *gitstore.Repo, commit pack.ID, path []string, id pack.ID) bool {
	c, err := g.Commit(commit)
	if err != nil {
		return false
	}
	at := c.Tree
	for _, name := range path {
		es, err := g.Tree(at)
		i := slices.IndexFunc(es, func(e gitstore.TreeEntry) bool { return e.Name == name })
		if err != nil || i < 0 {
			return false
		}
		at = es[i].ID
	}
	return at == id
}
