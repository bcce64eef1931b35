package repair

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// beginAnew lets the lanes of this device that never travel begin anew, as one commit without a parent, if
// something of them is lost: with all that is good in them. They are those of [refs.Home] and of originals.git. A
// lane that travels is left as it is, for another try.
func (x *repair) beginAnew() error {
	var lanes []refs.Lane
	for _, l := range x.lost {
		own := l.Lane.Device == x.r.Device().ID && (l.Lane.Project == refs.Home || x.Part.Dir == refs.OriginalsDir)
		if own && !slices.Contains(lanes, l.Lane) {
			lanes = append(lanes, l.Lane)
		}
	}
	for _, l := range lanes {
		kept, err := x.reroot(l, nil)
		if err != nil {
			return fmt.Errorf("restart %s: %w", l.Ref(), err)
		}
		x.lost = slices.DeleteFunc(x.lost, func(o Loss) bool { return o.Lane == l && o.Old })
		x.note(Mending{Where: x.Part.Dir + "/" + l.Ref(), What: "something of it is lost",
			Done: fmt.Sprintf("begun anew with the %d files of it that are good", kept)})
	}
	return nil
}

// reroot commits all that is good in the commits of a lane, of records those that keep wants, and returns how
// many files that is.
func (x *repair) reroot(l refs.Lane, keep func(refs.Record, func(objects.Hash) bool) bool) (kept int, err error) {
	err = x.r.Reroot(x.ctx, x.Part, l, func(root *lane.Dir) (refs.Rerooted, error) {
		good, err := x.salvage(l)
		if err != nil {
			return refs.Rerooted{}, err
		}
		out := refs.Rerooted{Lamport: good.lamport, Device: good.device}
		if err := x.history(l, &out); err != nil {
			return out, err
		}
		kept, err = good.fill(root, x.Git, keep)
		out.Files = kept
		return out, err
	})
	return kept, err
}

// history adds the commits of a lane that can be found, the newest first, the Lamport time that they reached, and
// the epoch of a lane that takes its place. If its first commit cannot be found, that is later than any epoch can
// have been: each takes a Lamport time of its own.
func (x *repair) history(l refs.Lane, out *refs.Rerooted) error {
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

// eachGood calls f for every readable file of every readable commit of a lane, the newest first, but for its format.
func (x *repair) eachGood(l refs.Lane, f func(path []string, id pack.ID, b []byte) error) error {
	seen := map[string]bool{}
	for id := l.Tip; !id.IsZero(); {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		c, err := x.Git.Commit(id)
		if err != nil {
			if unreadable(err) {
				return nil // what is older cannot be found
			}
			return err
		}
		var failed error
		lane.WalkReadable(x.Git, lane.DirAt(c.Tree), func(path []string, id pack.ID) bool {
			key := strings.Join(path, "/")
			if seen[key] || key == "format" {
				return true
			}
			b, err := x.Git.Get(id, pack.Blob)
			if err != nil && !unreadable(err) && !errors.Is(err, gitstore.ErrKind) {
				failed = err
				return false
			}
			if err == nil {
				seen[key] = true
				failed = f(slices.Clone(path), id, b)
			}
			return failed == nil
		})
		if failed != nil {
			return failed
		}
		id = c.Parent
	}
	return nil
}
