package refs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
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

// IsFormer is [Repo.Former] for a commit that a remote shows, or the last one of a restarted lane that was seen there.
func (r *Repo) IsFormer(ctx context.Context, there Remote, l Lane, commit pack.ID) (bool, error) {
	former, err := r.Former(l, commit)
	if former || err != nil || l.Device != r.device.ID || there.Marks[l.Ref()].Tip != commit.String() {
		return former, err
	}
	epoch, err := r.Epoch(ctx, l)
	return epoch > 0, err
}

// MissingFormer returns the restarted lanes of this device whose file in [FormerDir] is missing, empty, or lacks a
// commit that a remote had, and the commits to add.
func (r *Repo) MissingFormer(ctx context.Context) (map[Project][]pack.ID, error) {
	own, err := r.ownRefs()
	if err != nil {
		return nil, err
	}
	remotes, err := r.Remotes()
	if errors.Is(err, ErrRemotes) {
		remotes, err = nil, nil // reported by itself
	}
	missing := map[Project][]pack.ID{}
	for _, l := range own {
		epoch, eerr := r.Epoch(ctx, l)
		if epoch == 0 || eerr != nil {
			continue // not restarted, or damaged, which is reported by itself
		}
		st, serr := os.Stat(r.formerFile(l.Project))
		for _, there := range remotes {
			id, perr := pack.ParseID(there.Marks[l.Ref()].Tip)
			if perr != nil {
				continue
			}
			listed, err := r.Former(l, id)
			if err != nil {
				return nil, err
			}
			if follows, err := r.Follows(ctx, l, l.Tip, id); err == nil && !listed && !follows {
				missing[l.Project] = append(missing[l.Project], id)
			}
		}
		if (serr != nil || st.Size() == 0) && len(missing[l.Project]) == 0 {
			missing[l.Project] = []pack.ID{l.Tip} // known, and the file is not empty then
		}
	}
	return missing, err
}

// ownRefs returns the lanes of this device in both repositories.
func (r *Repo) ownRefs() (own []Lane, err error) {
	for _, originals := range []bool{false, true} {
		good, err := r.GitOf(Lane{Originals: originals}).VerifyRefs(func(string, string, error) {}) // checked elsewhere
		if err != nil {
			return nil, err
		}
		for _, ref := range good {
			if p, device, ok := lane.SplitRef(ref.Name); ok && device == r.device.ID {
				own = append(own, Lane{Project: p, Device: device, Tip: ref.ID, Originals: originals})
			}
		}
	}
	return own, nil
}

// AddFormer adds commits to the file of a lane of this device in [FormerDir].
func (r *Repo) AddFormer(p Project, commits []pack.ID) error {
	return r.recordFormerCommits(p, commits)
}

// FormerPath returns the path of the file of a lane of this device in [FormerDir], relative to the store.
func (r *Repo) FormerPath(p Project) string {
	return path.Join(MemoryDir, "mem", FormerDir, string(p)+"-"+r.device.ID)
}

// FormerLine returns the line of a commit in a file of [FormerDir]: its name and the first 8 digits of the name's
// BLAKE3 hash.
func FormerLine(id string) string { return id + " " + objects.Sum([]byte(id)).String()[:8] }
