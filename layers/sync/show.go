package sync

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// A ShownLane compares a lane here and on a remote. JSON is the output of mem remote show.
type ShownLane struct {
	Project string `json:"project"`
	Device  string `json:"device"`
	Here    string `json:"here,omitempty"`
	There   string `json:"there,omitempty"`
	State   string `json:"state"` // current, to push, newer here, to fetch, only here, dropped; gone or rolled back: the remote had more before
}

// A Shown is the difference between a remote and this store.
type Shown struct {
	Name      string          `json:"name"`
	URL       string          `json:"url"`
	Encrypted bool            `json:"encrypted"`
	Originals bool            `json:"originals"`
	Members   []sealed.Member `json:"members,omitempty"` // devices that can read an encrypted remote
	Epochs    int             `json:"epochs,omitempty"`
	Lanes     []ShownLane     `json:"lanes"`
}

// ShowRemote compares a remote with this store. It fetches nothing.
func ShowRemote(ctx context.Context, db *state.DB, r refs.Remote) (out Shown, err error) {
	out = Shown{Name: r.Name, URL: r.URL, Encrypted: r.Sealed != "", Originals: r.Originals, Lanes: []ShownLane{}}
	client, err := Client(ctx, db, r, nil)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	s, err := client.Open(ctx, remote.Upload)
	if err != nil {
		return out, fmt.Errorf("ask %s: %w", r.Name, err)
	}
	there := s.Refs()
	if err := s.Close(); err != nil {
		return out, err
	}
	if v, ok := client.(*sealed.Vault); ok {
		out.Members, out.Epochs = v.Keyring().Members, len(v.Keyring().Epochs)
	}
	lanes, err := db.Refs.AllLanes()
	if err != nil {
		return out, err
	}
	all := map[string][2]refs.Lane{}
	for _, l := range lanes {
		all[l.Ref()] = [2]refs.Lane{l, {}}
	}
	for name := range r.Marks {
		if l, ok := lane.ParseRef(name); ok {
			all[name] = [2]refs.Lane{all[name][0], l}
		}
	}
	for _, ref := range there {
		if l, ok := lane.ParseRef(ref.Name); ok {
			l.Tip = ref.ID
			all[ref.Name] = [2]refs.Lane{all[ref.Name][0], l}
		}
	}
	devices, err := trust.Devices(ctx, db)
	if err != nil {
		return out, err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		l, _ := lane.ParseRef(name)
		sl, err := compareLane(ctx, db, r, l, all[name][0].Tip, all[name][1].Tip)
		if err != nil {
			return out, err
		}
		for _, d := range devices {
			if d.ID == l.Device {
				sl.Device = d.Name
				if d.Dropped {
					sl.State = "dropped"
				}
			}
		}
		out.Lanes = append(out.Lanes, sl)
	}
	return out, nil
}

func compareLane(ctx context.Context, db *state.DB, r refs.Remote, l refs.Lane, here, there pack.ID) (ShownLane, error) {
	l.Tip = here
	out := ShownLane{Project: trust.ProjectName(ctx, db, l.Project), Device: l.Device[:8], Here: commitName(here),
		There: commitName(there)}
	if there.IsZero() {
		out.State = "only here"
		if _, seen := r.Marks[l.Ref()]; seen {
			out.State = "gone"
		}
		return out, nil
	}
	has, err := db.Refs.Git().Has(there)
	if err != nil {
		return out, err
	}
	shown := l
	shown.Tip = there
	if has {
		if back, err := rolledBack(ctx, db, r, shown); err != nil || back {
			out.State = "rolled back"
			return out, err
		}
	}
	if here == there {
		out.State = "current"
		return out, nil
	}
	out.State = "to fetch"
	if former, err := db.Refs.IsFormer(ctx, r, l, there); err != nil || former { // from before a deletion here
		out.State = "to push"
		return out, err
	}
	if !has || here.IsZero() {
		return out, nil
	}
	_, behind, err := lane.CommitsSince(ctx, db.Refs.Git(), here, there, maxCommits)
	if behind {
		out.State = "to push"
		if l.Device != db.Refs.Device().ID {
			out.State = "newer here"
		}
	}
	return out, err
}
