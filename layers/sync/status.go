package sync

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A Status is the sync status of a remote.
type Status struct {
	Remote   refs.Remote
	Sent     time.Time // newest operation of this device on the remote
	Seen     time.Time // newest operation of another device on the remote
	Unpushed int       // operations of this device to push, in pushed projects
	Home     []string  // projects that were never pushed there

	// Only set if the remote was asked.
	ToFetch int         // lanes with news
	Back    []ShownLane // lanes of which the remote had more before
}

// RemoteStatus returns the sync status of a remote from local data or, with ask, from the remote. It fetches nothing.
func RemoteStatus(ctx context.Context, db *state.DB, r refs.Remote, ask bool) (Status, error) {
	out := Status{Remote: r}
	selves, err := db.Refs.OwnDevices()
	if err != nil {
		return out, err
	}
	projects, err := trust.Projects(ctx, db)
	if err != nil {
		return out, err
	}
	for _, p := range projects {
		if _, ok := r.Projects[p.ID]; !ok {
			out.Home = append(out.Home, p.Name)
			continue
		}
		entries, err := history.Log(ctx, db, p.ID, 0)
		if err != nil {
			return out, err
		}
		out.count(entries, selves)
	}
	if !ask {
		return out, nil
	}
	shown, err := ShowRemote(ctx, db, r)
	if err != nil {
		return out, err
	}
	for _, l := range shown.Lanes {
		if l.State == "to fetch" {
			out.ToFetch++
		}
	}
	out.Back, err = lanesBack(ctx, db, r, shown.Lanes)
	return out, err
}

// count counts the operations of a project that the remote lacks, by each lane's last known tip there.
func (t *Status) count(entries []refs.Entry, selves []string) {
	there := map[string]bool{} // devices whose mark was reached: older operations are there
	for _, e := range entries {
		own := slices.Contains(selves, e.Device)
		mark := t.Remote.Marks[refs.Lane{Project: e.Project, Device: e.Device}.Ref()]
		there[e.Device] = there[e.Device] || mark.Tip == e.Commit
		switch {
		case !there[e.Device] && own:
			t.Unpushed++
		case there[e.Device] && own && e.Time.After(t.Sent):
			t.Sent = e.Time
		case there[e.Device] && !own && e.Time.After(t.Seen):
			t.Seen = e.Time
		}
	}
}

// lanesBack returns the lanes of which a remote had more before, or which it lost.
func lanesBack(ctx context.Context, db *state.DB, r refs.Remote, shown []ShownLane) ([]ShownLane, error) {
	var out []ShownLane
	for ref, mark := range r.Marks {
		at, ok := lane.ParseRef(ref)
		if !ok {
			continue
		}
		i := slices.IndexFunc(shown, func(l ShownLane) bool { return l.ref == ref })
		if i < 0 || shown[i].There == "" {
			gone := ShownLane{Project: trust.ProjectName(ctx, db, at.Project),
				Device: at.Device[:min(8, len(at.Device))], State: "gone", ref: ref}
			if i >= 0 {
				gone.Device, gone.Here = shown[i].Device, shown[i].Here
			}
			out = append(out, gone)
			continue
		}
		if back, err := isBehind(ctx, db, mark.Tip, shown[i].There); err != nil {
			return nil, err
		} else if back {
			l := shown[i]
			l.State = "rolled back"
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b ShownLane) int { return strings.Compare(a.ref, b.ref) })
	return out, nil
}

// isBehind reports whether a commit of a lane is an ancestor of the last one seen.
func isBehind(ctx context.Context, db *state.DB, seen, now string) (bool, error) {
	if seen == now {
		return false, nil
	}
	from, err := pack.ParseID(seen)
	if err != nil {
		return false, err
	}
	to, err := pack.ParseID(now)
	if err != nil {
		return false, err
	}
	for _, id := range []pack.ID{from, to} {
		if has, err := db.Refs.Git().Has(id); err != nil || !has {
			return false, err // newer or diverged: a fetch decides
		}
	}
	_, behind, err := lane.CommitsSince(ctx, db.Refs.Git(), from, to, maxCommits)
	return behind, err
}
