package refs

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// Log yields the operations of a project, newest first: in descending order of (lamport, device). It stops in each
// lane at a commit of until.
func (r *Repo) Log(ctx context.Context, p Project, until []Tip) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		refs, err := r.memory.Refs(lane.Prefix + string(p) + "/")
		if err != nil {
			yield(Entry{}, err)
			return
		}
		seen := map[string]bool{}
		for _, t := range until {
			seen[t.Commit] = true
		}
		var heads []Entry
		push := func(commit, device string) error {
			if commit == "" || seen[commit] {
				return nil
			}
			e, err := r.entry(p, commit, device)
			heads = append(heads, e)
			return err
		}
		for _, ref := range refs {
			_, device, _ := lane.SplitRef(ref.Name)
			if err := push(ref.ID.String(), device); err != nil {
				yield(Entry{}, err)
				return
			}
		}
		for len(heads) > 0 && ctx.Err() == nil {
			newest := 0
			for i, e := range heads {
				if cmp.Or(cmp.Compare(e.Lamport, heads[newest].Lamport), cmp.Compare(e.Device, heads[newest].Device)) > 0 {
					newest = i
				}
			}
			e := heads[newest]
			heads[newest] = heads[len(heads)-1]
			heads = heads[:len(heads)-1]
			if !yield(e, nil) {
				return
			}
			if err := push(e.Parent, e.Device); err != nil {
				yield(Entry{}, err)
				return
			}
		}
		if ctx.Err() != nil {
			yield(Entry{}, ctx.Err())
		}
	}
}

func (r *Repo) entry(p Project, commit, device string) (Entry, error) {
	id, err := pack.ParseID(commit)
	if err != nil {
		return Entry{}, err
	}
	c, err := r.memory.Commit(id)
	if err != nil {
		return Entry{}, fmt.Errorf("log: %w", err)
	}
	return lane.NewEntry(p, id, device, c)
}
