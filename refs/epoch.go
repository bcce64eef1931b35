package refs

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// Epoch returns the number of times that a lane has restarted.
func (r *Repo) Epoch(ctx context.Context, l Lane) (uint64, error) {
	return lane.EpochAt(ctx, r.GitOf(l), l.Tip)
}

// FormerFile lists the former commits of the restarted lanes of this device, which a remote may still have.
const FormerFile = "former.json"

// A formerNote contains the sorted names of commits by [Repo.formerKey].
type formerNote struct {
	Lanes map[string][]string `json:"lanes"`
}

func (r *Repo) formerKey(p Project) string { return string(p) + "-" + r.device.ID }

func (r *Repo) formerNote() (note formerNote, err error) {
	_, err = r.ReadNote(FormerFile, &note)
	return note, err
}

// AddFormer adds commits of this device's lane of a project to [FormerFile]. The file is durable when it returns. It
// replaces a damaged file by one without its other commits and returns the path of the damaged one.
func (r *Repo) AddFormer(ctx context.Context, p Project, commits []pack.ID) (kept string, err error) {
	unlock, err := r.lock(ctx, "former.lock", "record former commits")
	if err != nil {
		return "", err
	}
	defer unlock()
	note, err := r.formerNote()
	damaged := errors.Is(err, ErrDamaged)
	if err != nil && !damaged {
		return "", err
	}
	if damaged || note.Lanes == nil {
		note.Lanes = map[string][]string{}
	}
	names := note.Lanes[r.formerKey(p)]
	for _, id := range commits {
		names = append(names, id.String())
	}
	if slices.Sort(names); len(names) > 0 {
		note.Lanes[r.formerKey(p)] = slices.Compact(names)
	}
	b, err := json.MarshalIndent(note, "", "  ")
	if err != nil {
		return "", err
	}
	if b = append(b, '\n'); damaged {
		return r.ReplaceNote(FormerFile, b)
	}
	return "", r.WriteNote(FormerFile, b)
}

// recordFormer adds the commits of a lane of this device up to tip to [FormerFile].
func (r *Repo) recordFormer(ctx context.Context, g *gitstore.Repo, p Project, tip pack.ID) error {
	commits, _, err := lane.CommitsSince(ctx, g, tip, pack.ID{}, lane.MaxCommits)
	if err == nil {
		_, err = r.AddFormer(ctx, p, commits)
	}
	return err
}

// Former reports whether a commit belonged to a lane of this device before the lane restarted. A remote whose branch is
// at such a commit contains nothing that this device did not know then.
func (r *Repo) Former(l Lane, commit pack.ID) (bool, error) {
	if l.Device != r.device.ID {
		return false, nil
	}
	note, err := r.formerNote()
	_, found := slices.BinarySearch(note.Lanes[r.formerKey(l.Project)], commit.String())
	return found, err
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

// MissingFormer returns the restarted lanes of this device of which [FormerFile] is damaged, lists nothing, or lacks a
// commit that a remote had, and the commits to add.
func (r *Repo) MissingFormer(ctx context.Context) (map[Project][]pack.ID, error) {
	own, err := r.ownRefs()
	if err != nil {
		return nil, err
	}
	note, err := r.formerNote()
	if err != nil && !errors.Is(err, ErrDamaged) {
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
		listed := note.Lanes[r.formerKey(l.Project)]
		for _, there := range remotes {
			id, perr := pack.ParseID(there.Marks[l.Ref()].Tip)
			if perr != nil || slices.Contains(listed, id.String()) {
				continue
			}
			if follows, err := r.Follows(ctx, l, l.Tip, id); err == nil && !follows {
				missing[l.Project] = append(missing[l.Project], id)
			}
		}
		if len(listed) == 0 && len(missing[l.Project]) == 0 {
			missing[l.Project] = []pack.ID{l.Tip} // known, and the list is not empty then
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
