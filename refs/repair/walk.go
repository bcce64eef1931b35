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
	seen      map[place]bool
	onObject  func(id pack.ID, path []string, file bool) error
	onMissing func(id pack.ID, path []string)
	old       bool // the tip was visited: only older commits contain the other objects
}

// A place is an object at a path.
type place struct {
	path string
	id   pack.ID
}

func newWalker(git *gitstore.Repo) *walker { return &walker{git: git, seen: map[place]bool{}} }

func (v *walker) lane(ctx context.Context, tip pack.ID) error {
	for id := tip; !id.IsZero(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ok, err := v.visit(id, nil, false); err != nil || !ok {
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

// visit reports whether id exists and is visited for the first time at path.
func (v *walker) visit(id pack.ID, path []string, file bool) (bool, error) {
	at := place{strings.Join(path, "/"), id}
	if v.seen[at] {
		return false, nil
	}
	v.seen[at] = true
	if v.onObject != nil {
		if err := v.onObject(id, path, file); err != nil {
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
	if ok, err := v.visit(id, path, false); err != nil || !ok {
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
			_, err = v.visit(e.ID, p, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describeLosses sets Commit and Session of the losses: those of the oldest commit that contains the object.
func (x *repair) describeLosses() error {
	byTip := map[pack.ID]map[pack.ID]gitstore.Commit{} // by lost object
	for _, l := range x.lost {
		if byTip[l.Lane.Tip] == nil {
			byTip[l.Lane.Tip] = map[pack.ID]gitstore.Commit{}
		}
		byTip[l.Lane.Tip][l.ID] = gitstore.Commit{}
	}
	for tip, oldest := range byTip {
		if err := x.oldestCommits(tip, oldest); err != nil {
			return err
		}
	}
	for i := range x.lost {
		l := &x.lost[i]
		if len(l.Path) == 0 {
			continue
		}
		message := byTip[l.Lane.Tip][l.ID].Message
		l.Commit, _, _ = strings.Cut(message, "\n")
		l.Session = refs.Entry{Trailers: lane.Trailers(message)}.Trailer("Session")
	}
	return nil
}

// oldestCommits sets the oldest commit of a lane that contains each object of the map.
func (x *repair) oldestCommits(tip pack.ID, oldest map[pack.ID]gitstore.Commit) error {
	var chain []pack.ID // newest first
	for c, err := range lane.Ancestors(x.ctx, x.Git, tip) {
		if err != nil {
			break // older commits are lost
		}
		chain = append(chain, c.ID)
	}
	v := newWalker(x.Git)
	for _, id := range slices.Backward(chain) {
		c, err := x.Git.Commit(id)
		if err != nil {
			return err
		}
		v.onObject = func(id pack.ID, _ []string, _ bool) error { // the oldest is first
			if c0, lost := oldest[id]; lost && c0.Message == "" {
				oldest[id] = c
			}
			return x.ctx.Err()
		}
		if err := v.tree(c.Tree, nil); err != nil {
			return err
		}
	}
	return x.ctx.Err()
}
