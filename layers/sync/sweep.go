package sync

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// ErrReachable reports former data of a lane that another branch or a tag of the remote contains.
var ErrReachable = errors.New("a branch or a tag there contains it")

// A Sweep is the result of deleting unreachable data on a remote.
type Sweep struct {
	Unswept []string // branches whose former data may still be there
	Why     error    // why it was not deleted; wraps remote.ErrNoSweep for a server
}

// SweepRemote deletes the former data of rewritten lanes and the data of unfinished pushes on a remote. With confirm the
// user says that it is deleted.
func SweepRemote(ctx context.Context, db *state.DB, name string, confirm bool) (out Sweep, err error) {
	unlock, err := db.Refs.LockRemote(ctx, name)
	if err != nil {
		return out, err
	}
	defer unlock()
	r, err := Remote(db, name)
	if err != nil {
		return out, err
	}
	return sweepRemote(ctx, db, r, confirm)
}

// sweepRemote is [SweepRemote] for a caller that has locked the remote.
func sweepRemote(ctx context.Context, db *state.DB, r refs.Remote, confirm bool) (out Sweep, err error) {
	c, err := plainClient(db, r)
	if err != nil {
		return out, err
	}
	swept := map[string]bool{}
	left, err := c.Sweep(ctx, formerCommits(r))
	if confirm {
		left, err = nil, nil
	}
	if ctx.Err() != nil {
		return out, err
	}
	for ref, commit := range r.Unswept {
		id, _ := pack.ParseID(commit)
		swept[ref] = err == nil && !slices.Contains(left, id)
		if !swept[ref] {
			out.Unswept = append(out.Unswept, ref)
		}
	}
	if out.Why = err; err == nil && len(out.Unswept) > 0 {
		out.Why = ErrReachable
	}
	slices.Sort(out.Unswept)
	if len(out.Unswept) == len(r.Unswept) {
		return out, nil
	}
	return out, changeRemote(ctx, db, r.Name, func(now *refs.Remote) {
		maps.DeleteFunc(now.Unswept, func(ref, commit string) bool { return swept[ref] && commit == r.Unswept[ref] })
	})
}

// formerCommits returns the former commits of rewritten lanes on a remote.
func formerCommits(r refs.Remote) (ids []pack.ID) {
	for _, commit := range r.Unswept {
		if id, err := pack.ParseID(commit); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// notePush records durably what an interrupted push may leave on the remote: the former data of rewritten lanes, and
// objects that no branch refers to yet, which a server deletes itself.
func (p *pusher) notePush(ctx context.Context) error {
	if p.o.Remote.Name == "" {
		return nil
	}
	left := map[string]string{}
	for _, l := range p.out.Lanes {
		switch {
		case l.Status != "new" && l.Status != "updated":
		case l.Forced:
			left[l.lane.Ref()] = p.at(l.lane.Ref()).String()
		case p.directory:
			left[l.lane.Ref()] = ""
		}
	}
	if len(left) == 0 {
		return nil
	}
	return changeRemote(ctx, p.m, p.o.Remote.Name, func(r *refs.Remote) {
		if r.Unswept == nil {
			r.Unswept = map[string]string{}
		}
		for ref, commit := range left {
			if _, ok := r.Unswept[ref]; ok && commit == "" {
				continue
			} else if !ok && commit == "" {
				p.started[ref] = true
			}
			r.Unswept[ref] = commit
		}
	})
}

// sweep deletes what this push and interrupted ones have left on the remote.
func (p *pusher) sweep(ctx context.Context) error {
	if p.o.Remote.Name == "" || p.o.DryRun {
		return nil
	}
	r, err := Remote(p.m, p.o.Remote.Name)
	if err != nil || r.URL != p.o.Remote.URL || len(r.Unswept) == 0 {
		return err
	}
	ended := func(ref, commit string) bool { return commit == "" && p.started[ref] }
	if maps.DeleteFunc(r.Unswept, ended); len(r.Unswept) > 0 {
		p.out.Sweep, err = sweepRemote(ctx, p.m, r, false)
	}
	for i := range p.out.Lanes {
		l := &p.out.Lanes[i]
		l.Dropped = l.Forced && l.Status != "rejected" && !slices.Contains(p.out.Sweep.Unswept, l.lane.Ref())
	}
	if err != nil || len(p.started) == 0 {
		return err
	}
	return changeRemote(ctx, p.m, r.Name, func(r *refs.Remote) { maps.DeleteFunc(r.Unswept, ended) })
}
