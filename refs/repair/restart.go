package repair

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// restartLocal restarts those lanes of this device with losses that are not pushed by default: the lanes of
// [refs.Home] and of originals.git. Each becomes one commit without a parent that contains its intact files. Other
// lanes stay unchanged, so that a later repair can fetch their losses.
func (x *repair) restartLocal() error {
	var lanes []refs.Lane
	for _, l := range x.lost {
		own := l.Lane.Device == x.r.Device().ID && (l.Lane.Project == refs.Home || x.Part.Dir == refs.OriginalsDir)
		if own && !slices.Contains(lanes, l.Lane) {
			lanes = append(lanes, l.Lane)
		}
	}
	for _, l := range lanes {
		if err := x.restart(l, nil); err != nil {
			return err
		}
		x.lost = slices.DeleteFunc(x.lost, func(o Loss) bool { return o.Lane == l && o.Old })
	}
	return nil
}

// restartLane restarts a lane with its intact files, without the records that keep rejects, and returns the number of
// files.
func (x *repair) restartLane(l refs.Lane, keep func(refs.Record, func(objects.Hash) bool) bool) (kept int, err error) {
	err = x.r.RestartLane(x.ctx, x.Part, l, func(root *lane.Dir) (refs.RestartedLane, error) {
		good, err := x.collectIntact(l)
		if err != nil {
			return refs.RestartedLane{}, err
		}
		out := refs.RestartedLane{Lamport: good.lamport, Device: good.device}
		if err := x.history(l, &out); err != nil {
			return out, err
		}
		kept, err = good.fill(root, x.Git, keep)
		out.Files = kept
		return out, err
	})
	return kept, err
}

// history sets the readable commits of a lane, newest first, their greatest Lamport time, and the next epoch. If the
// first commit, which names the epoch, is lost, the next epoch is computed from the Lamport time. That is greater
// than any earlier epoch, because the first commit of each epoch has a Lamport time of its own.
func (x *repair) history(l refs.Lane, out *refs.RestartedLane) error {
	for id := l.Tip; !id.IsZero(); {
		out.Commits = append(out.Commits, id)
		c, err := x.Git.Commit(id)
		if unreadable(err) {
			out.Epoch = out.Lamport + 2
			return nil
		}
		if err != nil {
			return err
		}
		n, err := lane.LamportOf(c)
		if err != nil {
			return err
		}
		out.Lamport = max(out.Lamport, n)
		if id = c.Parent; id.IsZero() {
			epoch, err := lane.EpochOf(c)
			out.Epoch = epoch + 1
			return err
		}
	}
	out.Epoch = 1
	return nil
}

// walkIntact calls f once for each path with a readable file, except "format": with the file of the newest readable
// commit that contains it.
func (x *repair) walkIntact(l refs.Lane, f func(path []string, id pack.ID, b []byte)) error {
	seen := map[string]bool{"format": true}
	v := newWalker(x.Git)
	v.onObject = func(id pack.ID, path []string, file bool) error {
		key := strings.Join(path, "/")
		if !file || seen[key] {
			return nil
		}
		b, err := x.Git.Get(id, pack.Blob)
		if err != nil && !unreadable(err) {
			return err
		}
		if err == nil {
			seen[key] = true
			f(path, id, b)
		}
		return nil
	}
	return v.lane(x.ctx, l.Tip)
}
