package lane

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// CommitsSince returns the commits after have up to tip, oldest first. follows is false if tip does not descend from
// have; then it returns all commits. Every commit descends from the zero have. More than limit commits are an error.
func CommitsSince(ctx context.Context, g *gitstore.Repo, tip, have pack.ID, limit int) (commits []pack.ID, follows bool,
	err error) {
	for id := tip; !id.IsZero(); {
		if id == have {
			follows = true
			break
		}
		if len(commits) == limit {
			return nil, false, fmt.Errorf("more than %d commits", limit)
		}
		commits = append(commits, id)
		c, err := g.Commit(id)
		if err != nil {
			return nil, false, err
		}
		id = c.Parent
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
	}
	slices.Reverse(commits)
	return commits, follows || have.IsZero(), nil
}

// An Ancestor is a commit in the history of a lane.
type Ancestor struct {
	ID pack.ID
	gitstore.Commit
}

// Ancestors yields the commit tip and its ancestors, newest first. After an error, with the ID of the commit that
// cannot be read, it stops.
func Ancestors(ctx context.Context, g *gitstore.Repo, tip pack.ID) iter.Seq2[Ancestor, error] {
	return func(yield func(Ancestor, error) bool) {
		for id := tip; !id.IsZero(); {
			c, err := g.Commit(id)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(Ancestor{id, c}, err) || err != nil {
				return
			}
			id = c.Parent
		}
	}
}

// An Addition is a commit of a lane and the objects that it added, including itself.
type Addition struct {
	Commit  pack.ID
	Objects []pack.ID
}

// Additions yields the objects that each of the commits, oldest first, adds to its parent and to the commits before
// it. It skips objects in seen and adds the yielded ones to it.
func Additions(ctx context.Context, g *gitstore.Repo, commits []pack.ID, seen map[pack.ID]struct{}) iter.Seq2[Addition,
	error] {
	return func(yield func(Addition, error) bool) {
		for _, id := range commits {
			s, err := newAddition(g, id, seen)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func newAddition(g *gitstore.Repo, id pack.ID, seen map[pack.ID]struct{}) (Addition, error) {
	s := Addition{Commit: id}
	add := func(id pack.ID) bool {
		if _, ok := seen[id]; ok {
			return false
		}
		seen[id] = struct{}{}
		s.Objects = append(s.Objects, id)
		return true
	}
	c, err := g.Commit(id)
	if err != nil {
		return s, err
	}
	var old pack.ID
	if !c.Parent.IsZero() {
		parent, err := g.Commit(c.Parent)
		if err != nil {
			return s, err
		}
		old = parent.Tree
	}
	if c.Tree != old && add(c.Tree) {
		d := Differ{Git: g, Tree: func(_ []string, id pack.ID) (bool, error) { return add(id), nil },
			Blob: func(_ []string, id, _ pack.ID) error { add(id); return nil }}
		if err := d.Diff(nil, c.Tree, old); err != nil {
			return s, fmt.Errorf("commit %s: %w", id, err)
		}
	}
	add(id)
	return s, nil
}

// A Differ compares two trees. It skips equal subtrees.
type Differ struct {
	Git     *gitstore.Repo
	Tree    func(path []string, id pack.ID) (bool, error) // a new or changed directory; reports whether to enter it
	Blob    func(path []string, id, was pack.ID) error    // a new or changed file; was is zero for a new one
	Removed func(path []string) error                     // a removed entry; may be nil
}

// Diff compares tree with the tree old, which may be zero. Both are at path. It stops at the first error of a callback.
func (d *Differ) Diff(path []string, tree, old pack.ID) error {
	if len(path) >= MaxPath {
		return fmt.Errorf("directories are %d deep: %w", len(path), gitstore.ErrTree)
	}
	now, err := d.Git.Tree(tree)
	if err != nil {
		return err
	}
	var was []gitstore.TreeEntry
	if !old.IsZero() {
		if was, err = d.Git.Tree(old); err != nil {
			return err
		}
	}
	before := make(map[string]gitstore.TreeEntry, len(was))
	for _, e := range was {
		before[e.Name] = e
	}
	for _, e := range now {
		w, known := before[e.Name]
		delete(before, e.Name)
		if known && w.ID == e.ID && w.Tree == e.Tree {
			continue
		}
		if err := d.entry(append(path[:len(path):len(path)], e.Name), e, w); err != nil {
			return err
		}
	}
	if d.Removed == nil {
		return nil
	}
	for _, e := range was {
		if _, removed := before[e.Name]; removed {
			return d.Removed(append(path, e.Name))
		}
	}
	return nil
}

// entry compares one entry of a directory with the former entry of the same name.
func (d *Differ) entry(path []string, e, was gitstore.TreeEntry) error {
	if e.Tree {
		enter, err := d.Tree(path, e.ID)
		if err != nil || !enter {
			return err
		}
		old := was.ID
		if !was.Tree {
			if !was.ID.IsZero() && d.Removed != nil {
				return d.Removed(path)
			}
			old = pack.ID{}
		}
		return d.Diff(path, e.ID, old)
	}
	if was.Tree && d.Removed != nil {
		return d.Removed(path)
	}
	return d.Blob(path, e.ID, was.ID)
}

// MaxPath is the number of names in the longest path of a lane.
const MaxPath = 7

// MaxCommits limits the commits that are read of one lane.
const MaxCommits = 5_000_000

// LamportOf returns the Lamport time of a commit, from its trailer.
func LamportOf(c gitstore.Commit) (uint64, error) {
	v, ok := trailer(Trailers(c.Message), "Lamport")
	if !ok {
		return 0, errors.New("no Mem-Lamport trailer")
	}
	return strconv.ParseUint(v, 10, 64)
}

// CommitRef returns the ref of the lane of a commit: of its author and of the project in its trailer.
func CommitRef(c gitstore.Commit) (string, bool) {
	device, ours := strings.CutSuffix(c.Email, "@mem.invalid")
	p, ok := trailer(Trailers(c.Message), "Project")
	ref := Ref(Project(p), device)
	_, _, valid := SplitRef(ref)
	return ref, ours && ok && valid
}

// trailer returns the value of the first trailer "Mem-<key>".
func trailer(trailers []string, key string) (string, bool) {
	for _, t := range trailers {
		if v, ok := strings.CutPrefix(t, "Mem-"+key+": "); ok {
			return v, true
		}
	}
	return "", false
}

// Trailers returns the lines of the last paragraph of a commit message.
func Trailers(message string) []string {
	message = strings.TrimRight(message, "\n")
	_, last, ok := strings.Cut(message, "\n\n")
	if !ok {
		return nil
	}
	if i := strings.LastIndex(last, "\n\n"); i >= 0 {
		last = last[i+2:]
	}
	return strings.Split(last, "\n")
}

// EpochOf returns the epoch that a commit starts, 0 if it has no trailer Mem-Epoch.
//
// An epoch of a lane starts with a commit without a parent. When a lane restarts, because data is deleted, that commit
// has the trailer with a number that increases each time. It is signed like every commit, so other devices can
// distinguish a lane that its device restarted from one that somebody rolled back.
func EpochOf(c gitstore.Commit) (uint64, error) {
	v, ok := trailer(Trailers(c.Message), "Epoch")
	if !ok {
		return 0, nil
	}
	return strconv.ParseUint(v, 10, 63)
}

// EpochAt returns the epoch of the lane with the given tip, from its first commit.
func EpochAt(ctx context.Context, g *gitstore.Repo, tip pack.ID) (uint64, error) {
	for c, err := range Ancestors(ctx, g, tip) {
		if err != nil {
			return 0, err
		}
		if c.Parent.IsZero() {
			return EpochOf(c.Commit)
		}
	}
	return 0, nil
}
