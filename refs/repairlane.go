package refs

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// beginAnew lets the lanes of this device that never travel begin anew, as one commit without a parent, if
// something of them is lost: with all that is good in them. They are those of [Home] and of originals.git. A
// lane that travels is left as it is, for another try.
func (x *repair) beginAnew() error {
	var lanes []Lane
	for _, l := range x.lost {
		own := l.Lane.Device == x.r.device.ID && (l.Lane.Project == Home || x.part.dir == originalsDir)
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
		x.note(Mending{Where: x.part.dir + "/" + l.Ref(), What: "something of it is lost",
			Done: fmt.Sprintf("begun anew with the %d files of it that are good", kept)})
	}
	return nil
}

// reroot commits all that is good in the commits of a lane, of records those that keep wants, and returns how
// many files that is.
func (x *repair) reroot(l Lane, keep func(Record, func(objects.Hash) bool) bool) (kept int, err error) {
	done, err := x.r.writes(x.ctx, l.Project)
	if err != nil {
		return 0, err
	}
	defer done()
	s, err := x.r.stage(x.ctx, x.git, x.part.dir)
	if err != nil {
		return 0, err
	}
	good, err := x.salvage(l)
	if err != nil {
		return 0, err
	}
	now := lane.Anew(x.git, l.Tip, l.Device)
	now.Root.Touch()
	tx := &Tx{r: x.r, project: l.Project, ctx: x.ctx, write: true, stage: s, lanes: []*lane.Snapshot{now},
		lamport: good.lamport}
	defer tx.discard()
	commits, epoch, err := x.history(l, tx)
	if err != nil {
		return 0, err
	}
	if kept, err = good.fill(now.Root, x.git, keep); err != nil {
		return 0, err
	}
	if !good.device && x.part.dir == memoryDir {
		d := x.r.device
		if _, err := tx.Add("device", lane.DeviceBody{ID: d.ID, Name: d.Name, Key: d.PublicKey()}); err != nil {
			return 0, err
		}
	}
	if l.Project != Home {
		if err := x.r.noteCommits(l.Project, commits); err != nil {
			return 0, err
		}
		tx.Trailer("Epoch", strconv.FormatUint(epoch, 10))
	}
	tx.Trailer("Op", "repair")
	return kept, tx.commitLane(s, now, fmt.Sprintf("repair: begin anew with %d files", kept))
}

// history returns the commits of a lane that can be found, the newest first, and the epoch of a lane that takes
// its place. If its first commit cannot be, that is later than any epoch can have been: each takes a Lamport
// time of its own.
func (x *repair) history(l Lane, tx *Tx) (commits []pack.ID, epoch uint64, err error) {
	for id := l.Tip; !id.IsZero(); {
		commits = append(commits, id)
		c, err := x.git.Commit(id)
		if unreadable(err) {
			return commits, tx.lamport + 2, nil
		}
		if err != nil {
			return nil, 0, err
		}
		n, err := lane.LamportOf(c)
		if err != nil {
			return nil, 0, err
		}
		tx.lamport = max(tx.lamport, n)
		if id = c.Parent; id.IsZero() {
			epoch, err = lane.EpochOf(c)
			return commits, epoch + 1, err
		}
	}
	return commits, 1, nil
}

// eachGood calls f for every readable file of every readable commit of a lane, the newest first, but for its format.
func (x *repair) eachGood(l Lane, f func(path []string, id pack.ID, b []byte) error) error {
	seen := map[string]bool{}
	for id := l.Tip; !id.IsZero(); {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		c, err := x.git.Commit(id)
		if err != nil {
			if unreadable(err) {
				return nil // what is older cannot be found
			}
			return err
		}
		var failed error
		lane.WalkReadable(x.git, lane.DirAt(c.Tree), func(path []string, id pack.ID) bool {
			key := strings.Join(path, "/")
			if seen[key] || key == "format" {
				return true
			}
			b, err := x.git.Get(id, pack.Blob)
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
