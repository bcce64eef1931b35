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
		if u.sizes, err = u.git.Packs().EntrySizes(); err != nil {
			return err
		}
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
	sizes map[pack.ID]int64 // of the entries in packs
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
		at := Usage{Lane: l, Time: c.Time, Kind: "commit"}
		if _, err = u.add(id, at, ""); err == nil {
			err = u.tree(c.Tree, at)
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

// A directory is a tree in a lane: the kind of the files in it, and their path so far without slashes.
type directory struct {
	id         pack.ID
	kind, path string
}

// tree visits a tree, and the objects in it, that no tree before contains. The trees of a level are read together, on
// all cores.
func (u *usage) tree(root pack.ID, at Usage) error {
	for level := []directory{{id: root}}; len(level) > 0; {
		var fresh []directory
		var ids []pack.ID
		at.Kind = "tree"
		for _, d := range level {
			added, err := u.add(d.id, at, "")
			if err != nil {
				return err
			}
			if added {
				fresh, ids = append(fresh, d), append(ids, d.id)
			}
		}
		trees, err := u.git.Trees(ids)
		if err != nil {
			return err
		}
		level = level[:0]
		for i, entries := range trees {
			for _, e := range entries {
				d := directory{e.ID, fresh[i].kind, fresh[i].path + e.Name}
				if d.kind == "" {
					d.kind, d.path = strings.TrimSuffix(strings.TrimSuffix(e.Name, "es"), "s"), ""
				}
				if e.Tree {
					level = append(level, d)
					continue
				}
				at.Kind = d.kind
				if _, err := u.add(e.ID, at, d.path); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// add visits an object at a path and reports whether it is new. An object that was visited before is skipped.
func (u *usage) add(id pack.ID, at Usage, path string) (bool, error) {
	if _, ok := u.seen[id]; ok {
		return false, nil
	}
	u.seen[id] = struct{}{}
	var err error
	var ok bool
	if at.Bytes, ok = u.sizes[id]; !ok { // it is loose, or its pack is new
		if at.Bytes, err = u.git.StoredSize(id); err != nil {
			return false, err
		}
	}
	if path != "" {
		name, _, _ := strings.Cut(path[:min(len(path), 2*len(at.Name))], ".")
		if at.Name, err = objects.ParseHash(name); err != nil {
			return false, fmt.Errorf("%s %s: %w", at.Kind, path, err)
		}
	}
	return true, u.visit(at)
}
