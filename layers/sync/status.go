package sync

import (
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Status is the sync status of a remote.
type Status struct {
	Remote   refs.Remote
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
			left, err := trust.Idle(ctx, db, p.ID)
			if err != nil {
				return out, err
			}
			if !left {
				out.Home = append(out.Home, p.Name)
			}
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
		switch l.State {
		case "to fetch":
			out.ToFetch++
		case "gone", "rolled back":
			out.Back = append(out.Back, l)
		}
	}
	return out, nil
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
		case there[e.Device] && !own && e.Time.After(t.Seen):
			t.Seen = e.Time
		}
	}
}
