package refs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Epoch returns the number of times that a lane has restarted.
func (r *Repo) Epoch(ctx context.Context, l Lane) (uint64, error) {
	return lane.EpochAt(ctx, r.GitOf(l), l.Tip)
}

// FormerDir contains a file for each restarted lane of this device: the names of its former commits, which a remote may
// still have.
const FormerDir = "former"

func (r *Repo) formerFile(p Project) string {
	return filepath.Join(r.dir, MemoryDir, "mem", FormerDir, string(p)+"-"+r.device.ID)
}

// recordFormer adds the commits of a lane of this device to its file in [FormerDir]. The file is durable when it
// returns.
func (r *Repo) recordFormer(ctx context.Context, g *gitstore.Repo, p Project, tip pack.ID) error {
	commits, _, err := lane.CommitsSince(ctx, g, tip, pack.ID{}, lane.MaxCommits)
	if err != nil {
		return err
	}
	return r.recordFormerCommits(p, commits)
}

func (r *Repo) recordFormerCommits(p Project, commits []pack.ID) error {
	old, err := pack.ReadFile(r.formerFile(p))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var b strings.Builder
	b.Write(old)
	for _, id := range commits {
		fmt.Fprintln(&b, FormerLine(id.String()))
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

// Former reports whether a commit belonged to a lane of this device before the lane restarted. A remote whose branch is
// at such a commit contains nothing that this device did not know then.
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

// FormerLine returns the line of a commit in a file of [FormerDir]: its name and the first 8 digits of the name's
// BLAKE3 hash.
func FormerLine(id string) string { return id + " " + objects.Sum([]byte(id)).String()[:8] }
