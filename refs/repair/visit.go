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

// A visit goes through what a commit needs, past what is missing.
type visit struct {
	git  *gitstore.Repo
	seen map[pack.ID]bool
	each func(pack.ID) error
	gone func(id pack.ID, path []string)
	old  bool // what is met is of older commits only
}

func (v *visit) lane(ctx context.Context, tip pack.ID) error {
	for id := tip; !id.IsZero() && !v.seen[id]; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ok, err := v.meet(id, nil); err != nil || !ok {
			return err
		}
		c, err := v.git.Commit(id)
		if err != nil {
			return v.broken(id, nil, err)
		}
		if err := v.tree(c.Tree, nil); err != nil {
			return err
		}
		id, v.old = c.Parent, true
	}
	return nil
}

// meet reports whether id is there to be looked at, for the first time.
func (v *visit) meet(id pack.ID, path []string) (bool, error) {
	if v.seen[id] {
		return false, nil
	}
	v.seen[id] = true
	if v.each != nil {
		if err := v.each(id); err != nil {
			return false, err
		}
	}
	ok, err := v.git.Has(id)
	if err == nil && !ok && v.gone != nil {
		v.gone(id, path)
	}
	if err != nil {
		return false, v.broken(id, path, err)
	}
	return ok, nil
}

// broken takes an object that cannot be read for one that is not there, unless the disk is to blame.
func (v *visit) broken(id pack.ID, path []string, err error) error {
	if !unreadable(err) {
		return err
	}
	if v.gone != nil {
		v.gone(id, path)
	}
	return nil
}

// unreadable reports whether an object is to blame for an error, not the disk.
func unreadable(err error) bool {
	for _, e := range []error{pack.ErrNotFound, pack.ErrCorrupt, pack.ErrTooLarge, gitstore.ErrKind, gitstore.ErrTree,
		gitstore.ErrCommit} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func (v *visit) tree(id pack.ID, path []string) error {
	if ok, err := v.meet(id, path); err != nil || !ok {
		return err
	}
	es, err := v.git.Tree(id)
	if err != nil {
		return v.broken(id, path, err)
	}
	if len(path) > lane.MaxPath {
		return nil
	}
	for _, e := range es {
		p := append(path[:len(path):len(path)], e.Name)
		if e.Tree {
			err = v.tree(e.ID, p)
		} else {
			_, err = v.meet(e.ID, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// explain finds out which commit brought what is lost.
func (x *repair) explain() error {
	const most = 2000
	chains := map[pack.ID][]pack.ID{}
	for i := range x.lost[:min(most, len(x.lost))] {
		l := &x.lost[i]
		if len(l.Path) == 0 {
			continue
		}
		chain, ok := chains[l.Lane.Tip]
		if !ok {
			for id := l.Lane.Tip; !id.IsZero(); {
				c, err := x.Git.Commit(id)
				if err != nil {
					break // what is older is lost
				}
				chain = append(chain, id)
				id = c.Parent
			}
			chains[l.Lane.Tip] = chain
		}
		n := len(chain) - 1
		for ; n > 0; n-- { // the oldest first
			if has(x.Git, chain[n], l.Path, l.ID) {
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

// has reports whether a commit has the object id at a path.
func has(g *gitstore.Repo, commit pack.ID, path []string, id pack.ID) bool {
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
