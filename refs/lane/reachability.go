package lane

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// AddReachable adds a commit and all objects reachable from it to seen. It does not walk objects that are in seen
// already.
func AddReachable(ctx context.Context, g *gitstore.Repo, tip pack.ID, seen map[pack.ID]struct{}) error {
	for id := tip; !id.IsZero(); {
		if _, ok := seen[id]; ok {
			return nil
		}
		seen[id] = struct{}{}
		c, err := g.Commit(id)
		if err == nil {
			err = addReachableTree(g, c.Tree, seen)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		id = c.Parent
	}
	return nil
}

// Reachable returns the objects reachable from the refs of a repository.
func Reachable(ctx context.Context, g *gitstore.Repo) (map[pack.ID]struct{}, error) {
	all, err := g.Refs("refs/heads/")
	if err != nil {
		return nil, err
	}
	outside, err := g.Refs(OutsidePrefix)
	if err != nil {
		return nil, err
	}
	all = append(all, outside...)
	seen := map[pack.ID]struct{}{}
	for _, ref := range all {
		if err := AddReachable(ctx, g, ref.ID, seen); err != nil {
			return nil, fmt.Errorf("%s: %w", ref.Name, err)
		}
	}
	return seen, nil
}

func addReachableTree(g *gitstore.Repo, tree pack.ID, seen map[pack.ID]struct{}) error {
	if _, ok := seen[tree]; ok {
		return nil
	}
	seen[tree] = struct{}{}
	es, err := g.Tree(tree)
	if err != nil {
		return err
	}
	for _, e := range es {
		if e.Tree {
			if err := addReachableTree(g, e.ID, seen); err != nil {
				return err
			}
			continue
		}
		seen[e.ID] = struct{}{}
	}
	return nil
}
