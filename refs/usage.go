package refs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// A Usage is the size of one git object in the packs, with the kind and name of the file that it belongs to.
type Usage struct {
	Lane  Lane
	Kind  string       // commit, tree, format, record, object, point, stream or patch
	Name  objects.Hash // of a record, an object, a growth point, a stream or a patch
	Time  time.Time    // of the commit that added it
	Bytes int64
}

// Usage calls visit for every git object of both repositories that is reachable from a lane of the wanted projects,
// oldest commits first. An object in several lanes counts for the first of them. It stops at an error of visit and
// returns it.
func (r *Repo) Usage(ctx context.Context, wanted func(Project) bool, visit func(Usage) error) error {
	for _, originals := range []bool{false, true} {
		lanes, err := r.lanes(originals)
		if err != nil {
			return err
		}
		u := usage{git: r.GitOf(Lane{Originals: originals}), seen: map[pack.ID]struct{}{}, visit: visit}
		for _, l := range lanes {
			if !wanted(l.Project) {
				continue
			}
			if err := u.lane(ctx, l); err != nil {
				return fmt.Errorf("usage of %s: %w", l.Ref(), err)
			}
		}
	}
	return nil
}

// usage walks over the commits of one repository.
type usage struct {
	git   *gitstore.Repo
	seen  map[pack.ID]struct{}
	visit func(Usage) error
}

func (u *usage) lane(ctx context.Context, l Lane) error {
	commits, _, err := lane.CommitsSince(ctx, u.git, l.Tip, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return err
	}
	for _, id := range commits {
		c, err := u.git.Commit(id)
		if err != nil {
			return err
		}
		at := Usage{Lane: l, Time: c.Time}
		if _, err = u.add(id, at, "commit", nil); err == nil {
			err = u.tree(c.Tree, at, nil)
		}
		if err != nil {
			return fmt.Errorf("commit %s: %w", id, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// tree visits a tree, and the objects in it, that no tree before contains.
func (u *usage) tree(id pack.ID, at Usage, path []string) error {
	fresh, err := u.add(id, at, "tree", nil)
	if err != nil || !fresh {
		return err
	}
	entries, err := u.git.Tree(id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := append(path, e.Name)
		if e.Tree {
			err = u.tree(e.ID, at, p)
		} else {
			_, err = u.add(e.ID, at, strings.TrimSuffix(strings.TrimSuffix(p[0], "es"), "s"), p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add visits an object and reports whether it is new. An object that was visited before is skipped.
func (u *usage) add(id pack.ID, at Usage, kind string, path []string) (bool, error) {
	if _, ok := u.seen[id]; ok {
		return false, nil
	}
	u.seen[id] = struct{}{}
	n, err := u.git.StoredSize(id)
	if err != nil {
		return false, err
	}
	at.Kind, at.Bytes = kind, n
	if len(path) > 1 {
		name := strings.Join(path[1:], "")
		name, _, _ = strings.Cut(name[:min(len(name), 2*len(at.Name))], ".")
		if at.Name, err = objects.ParseHash(name); err != nil {
			return false, fmt.Errorf("%s: %w", strings.Join(path, "/"), err)
		}
	}
	return true, u.visit(at)
}
