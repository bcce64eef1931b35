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

// A visit walks over all objects that a commit leads to and continues past missing ones.
type visit struct {
	git     *gitstore.Repo
	seen    map[pack.ID]bool
	each    func(pack.ID) error
	missing func(id pack.ID, path []string)
	old     bool // the tip of the lane has been visited: what is new now belongs to older commits only
}

func (v *visit) lane(ctx context.Context, tip pack.ID) error {
	for id := tip; !id.IsZero() && !v.seen[id]; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ok, err := v.visit(id, nil); err != nil || !ok {
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

// visit reports whether id exists and is visited for the first time.
func (v *visit) visit(id pack.ID, path []string) (bool, error) {
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
	if err == nil && !ok && v.missing != nil {
		v.missing(id, path)
	}
	if err != nil {
		return false, v.broken(id, path, err)
	}
	return ok, nil
}

// broken reports an unreadable object as missing. It returns errors of the disk.
func (v *visit) broken(id pack.ID, path []string, err error) error {
	if !unreadable(err) {
		return err
	}
	if v.missing != nil {
		v.missing(id, path)
	}
	return nil
}

// unreadable reports whether an error means that an object is missing or malformed. Other errors come from the disk.
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
	if ok, err := v.visit(id, path); err != nil || !ok {
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
			_, err = v.visit(e.ID, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// explain sets Commit and Session of the losses: those of the oldest commit that contains the object.
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
					break // older commits are lost
				}
				chain = append(chain, id)
				id = c.Parent
			}
			chains[l.Lane.Tip] = chain
		}
		n := len(chain) - 1
		for ; n > 0; n-- { // oldest first
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
