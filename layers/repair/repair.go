package repair

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/repair"
)

// RepairOptions are the options of a repair.
type RepairOptions struct {
	Remote      string // the remote to restore from; "": all
	DryRun      bool
	Forget      bool                           // continue without lost data: see [repair.GiveUp]
	Unreachable func(remote string, err error) // reports unreachable remotes; may be nil
}

// A Repaired is the result of a repair.
type Repaired struct {
	Fixes []repair.Fix
	Lost  []LostData
	Left  []repair.Problem // found by a check afterwards
	Roots []Root

	Unsealed bool // the list of forgotten data is damaged, and stays so without Forget

	Stuck   bool // lost data blocks the store until it is given up
	GivenUp bool // lost data was given up, with Forget; not while a remote is unreachable
}

// Repair repairs the store in dir, which need not open: from local data, from remotes, and from the session files of
// Claude Code. It deletes nothing. With DryRun it only reports.
func Repair(ctx context.Context, dir string, o state.Options, ro RepairOptions) (out Repaired, err error) {
	if out.Fixes, err = repair.FixFiles(dir, ro.DryRun); err != nil {
		return out, err
	}
	repo, err := refs.OpenDamaged(dir, o.Refs())
	if err != nil {
		if ro.DryRun && errors.Is(err, refs.ErrDamaged) {
			return out, nil // a second run can do more
		}
		return out, err
	}
	m := state.OnRepo(repo, o)
	defer func() { err = errors.Join(err, repo.Close()) }()
	remotes, err := remotesToAsk(m, ro)
	if err != nil {
		return out, err
	}
	unreachable := ro.Unreachable
	ro.Unreachable = func(name string, err error) {
		if ro.Forget = false; unreachable != nil {
			unreachable(name, err)
		}
	}
	fixes, losses, err := repair.FixRepositories(ctx, repo, ro.DryRun, fetchFunc(m, remotes, ro.Unreachable))
	out.Fixes = append(out.Fixes, fixes...)
	if err != nil {
		return out, err
	}
	if repo.Device().ID != "" && len(losses) == 0 {
		if out.Fixes, err = repair.FixFormer(ctx, repo, out.Fixes, ro.DryRun); err != nil {
			return out, err
		}
	}
	if err := notes(m, ro, &out); err != nil {
		return out, err
	}
	if losses, err = recapture(ctx, m, losses, &out, ro.DryRun); err != nil {
		return out, err
	}
	out.Lost = explainLosses(m, losses)
	if !ro.DryRun {
		if err := refetch(ctx, m, remotes, &out, ro.Unreachable); err != nil {
			return out, err
		}
		if len(out.Fixes) > 0 { // the index lacks the restored texts, and no lane has changed
			if err := os.RemoveAll(m.CachePath("search")); err != nil {
				return out, err
			}
		}
	}
	if err := giveUp(ctx, m, ro, losses, &out); err != nil || ro.DryRun {
		return out, err
	}
	if repo.Device().ID == "" {
		return out, nil // the rest needs a device
	}
	checked, err := Check(ctx, m, false)
	out.Left, out.Roots = checked.Problems, checked.Roots
	return out, err
}

// giveUp drops references to lost data from this device's lanes if that is wanted, and else finds out whether they
// block the store.
func giveUp(ctx context.Context, db *state.DB, ro RepairOptions, losses []repair.Loss, out *Repaired) error {
	fixes, err := repair.GiveUp(ctx, db.Refs, true, losses, nil)
	out.Stuck = len(fixes) > 0
	if err != nil || !ro.Forget || !out.Stuck {
		return err
	}
	if !ro.DryRun {
		fixes, err = repair.GiveUp(ctx, db.Refs, false, losses, isUseful(db, losses))
	}
	for _, c := range fixes {
		if i := slices.IndexFunc(out.Fixes, func(d repair.Fix) bool {
			return d.Where == c.Where && d.Done == ""
		}); i >= 0 {
			out.Fixes[i].Done = c.Done
		} else {
			out.Fixes = append(out.Fixes, c)
		}
	}
	out.GivenUp = err == nil
	return err
}

// isUseful returns a function that reports whether a record is of use without its lost data. A session record
// without its transcript is useless if Claude Code still has the file, because the next capture then stores it
// again. Otherwise its versions need the record.
func isUseful(db *state.DB, losses []repair.Loss) func(r refs.Record, has func(objects.Hash) bool) bool {
	x := newLossExplainer(db.Refs)
	files := map[string]string{}
	for _, l := range losses {
		for _, s := range x.project(l.Lane.Project).snapshots {
			files[s.Session] = cmp.Or(s.Source, files[s.Session])
		}
	}
	return func(r refs.Record, has func(objects.Hash) bool) bool {
		var s records.Snapshot
		if r.Kind != records.KindSession || json.Unmarshal(r.Body, &s) != nil || has(s.Original) || files[s.Session] == "" {
			return true
		}
		f, _, err := capture.OpenSource(files[s.Session])
		return err != nil || f.Close() != nil
	}
}

// remotesToAsk returns the remotes to ask.
func remotesToAsk(db *state.DB, ro RepairOptions) ([]refs.Remote, error) {
	if ro.Remote != "" {
		r, err := sync.Remote(db, ro.Remote)
		return []refs.Remote{r}, err
	}
	all, err := db.Refs.Remotes()
	if errors.Is(err, refs.ErrRemotes) {
		return nil, nil // the file is damaged and reported already
	}
	return all, err
}

// fetchFunc returns a function that fetches branches from the first remotes that have them, nil if there are no
// remotes.
func fetchFunc(db *state.DB, remotes []refs.Remote, unreachable func(string, error)) repair.FetchFunc {
	if len(remotes) == 0 {
		return nil
	}
	return func(ctx context.Context, branches []string, w *pack.Writer) (map[string]pack.ID, error) {
		tips := map[string]pack.ID{}
		for _, r := range remotes {
			err := fetchLost(ctx, db, r, branches, tips, w)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				unreachable(r.Name, err)
			}
		}
		return tips, nil
	}
}

func fetchLost(ctx context.Context, db *state.DB, r refs.Remote, branches []string, tips map[string]pack.ID,
	w *pack.Writer) (err error) {
	client, err := sync.Client(ctx, db, r, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	s, err := client.Open(ctx, remote.Upload)
	if err != nil {
		return err
	}
	byTip := map[pack.ID][]string{}
	for _, ref := range s.Refs() {
		if slices.Contains(branches, ref.Name) && tips[ref.Name].IsZero() {
			byTip[ref.ID] = append(byTip[ref.ID], ref.Name)
		}
	}
	if want := slices.SortedFunc(maps.Keys(byTip), pack.Compare); len(want) > 0 {
		err = remote.FetchAll(ctx, s, client.Open, want, func(s remote.Session, want []pack.ID) error {
			_, err := s.Fetch(ctx, want, nil, w, sync.Limits(nil))
			if err != nil {
				return err
			}
			for _, tip := range want {
				for _, name := range byTip[tip] {
					tips[name] = tip
				}
			}
			return nil
		})
	}
	return errors.Join(err, s.Close())
}

// refetch fetches branches that were lost or rolled back here, with all checks of a fetch.
func refetch(ctx context.Context, db *state.DB, remotes []refs.Remote, out *Repaired, unreachable func(string, error)) error {
	var projects []refs.Project
	for _, d := range out.Fixes {
		if l, ok := lane.ParseRef(strings.TrimPrefix(d.Where, "memory.git/")); ok && !slices.Contains(projects, l.Project) {
			projects = append(projects, l.Project)
		}
	}
	for _, r := range remotes {
		if len(projects) == 0 {
			return nil
		}
		got, err := sync.Fetch(ctx, db, sync.FetchOptions{Remote: r, Projects: projects})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			unreachable(r.Name, err)
			continue
		}
		for _, l := range got.Lanes {
			if l.Status == "new" || l.Status == "updated" {
				out.restored(l, r.Name)
			}
		}
	}
	return nil
}

// restored records that a branch was restored.
func (out *Repaired) restored(l sync.FetchedLane, from string) {
	where, done := "memory.git/"+l.Lane.Ref(), "restored from the remote "+from+", "+l.New[:10]
	if i := slices.IndexFunc(out.Fixes, func(d repair.Fix) bool { return d.Where == where }); i >= 0 {
		out.Fixes[i].Done = done
		return
	}
	out.Fixes = append(out.Fixes, repair.Fix{Where: where, What: "it was behind", Done: done})
}

// explainLosses returns the sessions and messages of losses.
func explainLosses(db *state.DB, losses []repair.Loss) []LostData {
	x := newLossExplainer(db.Refs)
	for _, l := range losses {
		x.add(l)
	}
	slices.SortStableFunc(x.out, func(a, b LostData) int {
		return cmp.Or(strings.Compare(a.Project, b.Project), strings.Compare(a.Session, b.Session),
			cmp.Compare(a.From, b.From), strings.Compare(a.What, b.What))
	})
	return slices.Compact(x.out)
}
