package refs

import (
	"context"
	"fmt"
	"strconv"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// RestartLost creates the lanes of this device in a project again after all their commits were lost.
func (r *Repo) RestartLost(ctx context.Context, p Project) error {
	return r.Update(ctx, p, "repair: restart the lost branch", func(tx *Tx) error {
		tx.restart = true
		tx.Trailer("Op", "repair")
		return tx.touchBoth()
	})
}

// RestartedLane describes the first commit of a restarted lane.
type RestartedLane struct {
	Files   int       // number of files in it
	Device  bool      // it contains the device record
	Lamport uint64    // greatest Lamport time of the former lane
	Epoch   uint64    // its epoch
	Commits []pack.ID // known commits of the former lane
}

// RestartLane restarts a lane of this device as one commit without a parent, which replaces the commit l.Tip. fill
// adds the files to its root directory while the project is locked.
func (r *Repo) RestartLane(ctx context.Context, in Part, l Lane,
	fill func(root *lane.Dir) (RestartedLane, error)) error {
	done, err := r.lockWrite(ctx, l.Project)
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
		if len(got.Commits) == 0 {
			got.Commits = []pack.ID{l.Tip}
		}
		if _, err := r.AddFormer(ctx, l.Project, got.Commits); err != nil {
			return err
		}
		tx.Trailer("Epoch", strconv.FormatUint(got.Epoch, 10))
	}
	tx.Trailer("Op", "repair")
	return tx.commitLane(s, now, fmt.Sprintf("repair: restart with %d files", got.Files))
}
