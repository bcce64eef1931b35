package refs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Epoch returns how many times a lane has begun anew.
func (r *Repo) Epoch(ctx context.Context, l Lane) (uint64, error) {
	return lane.EpochAt(ctx, r.of(l), l.Tip)
}

// newEpoch accepts that a lane does not go on from where it is here if its device says so: its first commit
// begins a later epoch, and was made by somebody who knew all of the lane that is here. That it is signed is
// checked with all others.
func (v *arriver) newEpoch(first pack.ID) error {
	c, err := v.git.Commit(first)
	if err != nil {
		return v.refuse(err)
	}
	now, err := lane.EpochOf(c)
	if err != nil {
		return v.refuse(fmt.Errorf("commit %s: epoch: %w", first, err))
	}
	lamport, err := lane.LamportOf(c)
	if err != nil {
		return v.refuse(fmt.Errorf("commit %s: %w", first, err))
	}
	was, err := lane.EpochAt(v.ctx, v.git, v.a.Old)
	if err != nil {
		return err
	}
	here, err := v.git.Commit(v.a.Old)
	if err != nil {
		return err
	}
	seen, err := lane.LamportOf(here)
	if err != nil {
		return err
	}
	if !c.Parent.IsZero() || now <= was || lamport < seen && v.takes(seen) {
		return v.rewritten()
	}
	v.a.Epoch = now
	return nil
}

// rewritten returns [ErrRewritten] if the device itself signed the lane that does not go on. Else anybody could
// make a device believe that a copy of it is about.
func (v *arriver) rewritten() error {
	c, err := v.git.Commit(v.a.Tip)
	if err == nil && c.Email != v.a.Device+"@mem.invalid" {
		err = fmt.Errorf("its author %q is not the lane's device", c.Email)
	}
	if err == nil {
		err = lane.VerifySignature(v.a.Key, c.Signature, c.Payload())
	}
	if err != nil {
		return v.refuse(fmt.Errorf("it does not go on from where it was, and its device did not do that: %w", err))
	}
	return fmt.Errorf("lane of %s: %w", v.a.Device, ErrRewritten)
}

// formerDir holds, for each lane of this device that began anew, a file with the names of the commits that it
// had before: what a remote may still have of it.
const formerDir = "former"

func (r *Repo) formerFile(p Project) string {
	return filepath.Join(r.dir, memoryDir, "mem", formerDir, string(p)+"-"+r.device.ID)
}

// noteFormer adds the commits of a lane of this device to those that it had. It is durable before they go.
func (r *Repo) noteFormer(ctx context.Context, g *gitstore.Repo, p Project, tip pack.ID) error {
	commits, _, err := lane.Since(ctx, g, tip, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return err
	}
	return r.noteCommits(p, commits)
}

func (r *Repo) noteCommits(p Project, commits []pack.ID) error {
	old, err := pack.ReadFile(r.formerFile(p))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var b strings.Builder
	b.Write(old)
	for _, id := range commits {
		fmt.Fprintln(&b, formerLine(id.String()))
	}
	dir := filepath.Dir(r.formerFile(p))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := disk.WriteFile(r.formerFile(p), []byte(b.String())); err != nil {
		return err
	}
	return disk.SyncDir(filepath.Dir(dir))
}

// Former reports whether a commit was one of a lane of this device before the lane began anew. A remote that
// has it there has nothing of the lane that this device did not know then.
func (r *Repo) Former(l Lane, commit pack.ID) (bool, error) {
	if l.Device != r.device.ID {
		return false, nil
	}
	f, err := pack.OpenFile(r.formerFile(l.Project))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			return false, lines.Err()
		}
		if id, _, _ := strings.Cut(lines.Text(), " "); id == commit.String() {
			return true, nil
		}
	}
}
