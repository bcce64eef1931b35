package refs

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// A Lane is a branch of memory.git: where a device is in a project.
type Lane struct {
	Project   Project
	Device    string
	Tip       pack.ID
	Originals bool // it is one of originals.git
}

// Ref returns the name of the lane's branch on every remote. In memory.git it is the same.
func (l Lane) Ref() string {
	if l.Originals {
		return originalsPrefix + string(l.Project) + "/" + l.Device
	}
	return laneRef(l.Project, l.Device)
}

// local returns the name of the lane's branch in the repository that it belongs to.
func (l Lane) local() string { return laneRef(l.Project, l.Device) }

// ParseLane reads the name of a branch. It reports false if no lane has such a name. Lanes of [Home] are none that
// may travel.
func ParseLane(ref string) (Lane, bool) {
	p, device, ok := parseLane(ref)
	return Lane{Project: p, Device: device}, ok && p != Home && ref == laneRef(p, device)
}

// Lanes returns the lanes of memory.git but for those of [Home], sorted by project and device.
func (r *Repo) Lanes() ([]Lane, error) {
	all, err := r.memory.Refs(lanePrefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if l, ok := ParseLane(ref.Name); ok {
			l.Tip = ref.ID
			lanes = append(lanes, l)
		}
	}
	return lanes, nil
}

// Git returns memory.git, from which lanes are copied to remotes. originals.git is to be had for a remote
// alone: [Repo.Originals].
func (r *Repo) Git() *gitstore.Repo { return r.memory }

// Since returns the commits from tip back to and without have, the oldest first. It reports false if tip does not go on
// from have; then they are all. The zero have is what every commit goes on from.
func Since(ctx context.Context, g *gitstore.Repo, tip, have pack.ID, most int) (commits []pack.ID, follows bool,
	err error) {
	for id := tip; !id.IsZero(); {
		if id == have {
			follows = true
			break
		}
		if len(commits) == most {
			return nil, false, fmt.Errorf("more than %d commits", most)
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

// A Step is a commit of a lane and the objects that it brought, itself included.
type Step struct {
	Commit  pack.ID
	Objects []pack.ID
}

// Steps yields what each of the commits, the oldest first, brought beside its parent's tree and those before it. What
// is in seen is left out and what is yielded is added to it.
func Steps(ctx context.Context, g *gitstore.Repo, commits []pack.ID, seen map[pack.ID]struct{}) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		for _, id := range commits {
			s, err := newStep(g, id, seen)
			if err == nil {
				err = ctx.Err()
			}
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

func newStep(g *gitstore.Repo, id pack.ID, seen map[pack.ID]struct{}) (Step, error) {
	s := Step{Commit: id}
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
		d := differ{git: g, tree: func(_ []string, id pack.ID) (bool, error) { return add(id), nil },
			blob: func(_ []string, id, _ pack.ID) error { add(id); return nil }}
		if err := d.diff(nil, c.Tree, old); err != nil {
			return s, fmt.Errorf("commit %s: %w", id, err)
		}
	}
	add(id)
	return s, nil
}

// A differ compares two trees. Where it is the same it does not look.
type differ struct {
	git  *gitstore.Repo
	tree func(path []string, id pack.ID) (bool, error) // a directory that is new or has changed: go into it?
	blob func(path []string, id, was pack.ID) error    // a file that is new, or was another
	gone func(path []string) error                     // nil: nobody cares
}

// maxPath is the number of names in the longest path of a lane.
const maxPath = 7

func (d *differ) diff(path []string, tree, old pack.ID) error {
	if len(path) >= maxPath {
		return fmt.Errorf("directories are %d deep: %w", len(path), gitstore.ErrTree)
	}
	now, err := d.git.Tree(tree)
	if err != nil {
		return err
	}
	var was []gitstore.TreeEntry
	if !old.IsZero() {
		if was, err = d.git.Tree(old); err != nil {
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
	if d.gone == nil {
		return nil
	}
	for _, e := range was {
		if _, left := before[e.Name]; left {
			return d.gone(append(path, e.Name))
		}
	}
	return nil
}

// entry compares one entry of a directory with what had its name.
func (d *differ) entry(path []string, e, was gitstore.TreeEntry) error {
	if e.Tree {
		into, err := d.tree(path, e.ID)
		if err != nil || !into {
			return err
		}
		old := was.ID
		if !was.Tree {
			if !was.ID.IsZero() && d.gone != nil {
				return d.gone(path)
			}
			old = pack.ID{}
		}
		return d.diff(path, e.ID, old)
	}
	if was.Tree && d.gone != nil {
		return d.gone(path)
	}
	return d.blob(path, e.ID, was.ID)
}

// Selves returns the devices that this store is or was of, sorted: those that have a lane in [Home], which
// never travels.
func (r *Repo) Selves() ([]string, error) {
	all, err := r.memory.Refs(lanePrefix + string(Home) + "/")
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var out []string
	for _, ref := range all {
		if _, device, ok := parseLane(ref.Name); ok {
			out = append(out, device)
		}
	}
	return out, nil
}

// Describe tells f what the newest commit of a lane says of its device: its name, its key, and when it was made.
func (r *Repo) Describe(l Lane, f func(name, key string, at time.Time)) error {
	c, err := r.memory.Commit(l.Tip)
	if err != nil {
		return fmt.Errorf("lane of %s: %w", l.Device, err)
	}
	key, err := signer(c)
	if err != nil {
		return fmt.Errorf("lane of %s: commit %s: %w", l.Device, l.Tip, err)
	}
	f(c.Name, key, c.Time)
	return nil
}
