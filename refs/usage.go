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

// A Usage is the size of one git object in the packs, and what it is part of.
type Usage struct {
	Lane  Lane
	Kind  string       // commit, tree, format, record, object, point, stream or patch
	Name  objects.Hash // of a record, an object, a growth point, a stream or a patch
	Time  time.Time    // of the commit that brought it
	Bytes int64
}

// Usage calls visit for every git object that a lane of either repository leads to, oldest commits first. An
// object that several lanes contain belongs to the first of them. An error of visit ends it and is returned.
func (r *Repo) Usage(ctx context.Context, visit func(Usage) error) error {
	for _, originals := range []bool{false, true} {
		lanes, err := r.laneTips(originals)
		if err != nil {
			return err
		}
		u := usage{git: r.Of(Lane{Originals: originals}), seen: map[pack.ID]struct{}{}, visit: visit}
		for _, l := range lanes {
			if err := u.lane(ctx, l); err != nil {
				return fmt.Errorf("usage of %s: %w", l.Ref(), err)
			}
		}
	}
	return nil
}

// laneTips returns the lanes of one repository, those of [Home] included, sorted by project and device.
func (r *Repo) laneTips(originals bool) ([]Lane, error) {
	all, err := r.Of(Lane{Originals: originals}).Refs(lane.Prefix)
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	var lanes []Lane
	for _, ref := range all {
		if p, device, ok := lane.Split(ref.Name); ok {
			lanes = append(lanes, Lane{Project: p, Device: device, Tip: ref.ID, Originals: originals})
		}
	}
	return lanes, nil
}

// usage walks over the commits of one repository.
type usage struct {
	git   *gitstore.Repo
	seen  map[pack.ID]struct{}
	visit func(Usage) error
}

func (u *usage) lane(ctx context.Context, l Lane) error {
	commits, _, err := lane.Since(ctx, u.git, l.Tip, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return err
	}
	var tree pack.ID
	for _, id := range commits {
		c, err := u.git.Commit(id)
		if err != nil {
			return err
		}
		if err := u.commit(id, tree, c, Usage{Lane: l, Time: c.Time}); err != nil {
			return fmt.Errorf("commit %s: %w", id, err)
		}
		tree = c.Tree
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// commit visits what a commit brought on top of the tree old. The lane and the time of at are those of the commit.
func (u *usage) commit(id, old pack.ID, c gitstore.Commit, at Usage) error {
	if _, err := u.add(id, at, "commit", nil); err != nil {
		return err
	}
	if fresh, err := u.add(c.Tree, at, "tree", nil); err != nil || !fresh {
		return err
	}
	d := lane.Differ{Git: u.git,
		Tree: func(path []string, id pack.ID) (bool, error) { return u.add(id, at, "tree", nil) },
		Blob: func(path []string, id, _ pack.ID) error {
			_, err := u.add(id, at, strings.TrimSuffix(strings.TrimSuffix(path[0], "es"), "s"), path)
			return err
		}}
	return d.Diff(nil, c.Tree, old)
}

// add visits an object unless it was visited, and reports whether it was not.
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
