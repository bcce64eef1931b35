package refs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// RestartLost lets the lanes of this device in a project begin anew although they were here once, of which no commit
// is left.
func (r *Repo) RestartLost(ctx context.Context, p Project) error {
	return r.Update(ctx, p, "repair: the branch begins anew", func(tx *Tx) error {
		tx.anew = true
		tx.Trailer("Op", "repair")
		return tx.both()
	})
}

// Rerooted is what the first commit of a lane that begins anew says.
type Rerooted struct {
	Files   int       // that were put
	Device  bool      // a record of the device is among them
	Lamport uint64    // that the lane had reached
	Epoch   uint64    // that begins
	Commits []pack.ID // that the lane had
}

// Reroot lets a lane of this device begin anew, as one commit without a parent, in the place of the commit l.Tip.
// fill puts the files into its root while nobody else writes the project.
func (r *Repo) Reroot(ctx context.Context, in Part, l Lane, fill func(root *lane.Dir) (Rerooted, error)) error {
	done, err := r.writes(ctx, l.Project)
	if err != nil {
		return err
	}
	defer done()
	s, err := r.stage(ctx, in.Git, in.Dir)
	if err != nil {
		return err
	}
	now := lane.Restarted(in.Git, l.Tip, l.Device)
	now.Root.Touch()
	tx := &Tx{r: r, project: l.Project, ctx: ctx, write: true, stage: s, lanes: []*lane.Snapshot{now}}
	defer tx.discard()
	got, err := fill(now.Root)
	if err != nil {
		return err
	}
	tx.lamport = got.Lamport
	if !got.Device && in.Dir == MemoryDir {
		d := r.device
		if _, err := tx.Add("device", lane.DeviceBody{ID: d.ID, Name: d.Name, Key: d.PublicKey()}); err != nil {
			return err
		}
	}
	if l.Project != Home {
		if err := r.noteCommits(l.Project, got.Commits); err != nil {
			return err
		}
		tx.Trailer("Epoch", strconv.FormatUint(got.Epoch, 10))
	}
	tx.Trailer("Op", "repair")
	return tx.commitLane(s, now, fmt.Sprintf("repair: begin anew with %d files", got.Files))
}
