package sync

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A Travelling is how a remote stands to this memory.
type Travelling struct {
	Remote   refs.Remote
	Sent     time.Time // of the newest operation of this device that is there
	Seen     time.Time // of the newest operation of another device that was seen there
	Unpushed int       // operations of this device that are not there, in projects that travel there
	Home     []string  // names of projects that were never pushed there

	// These are known only if the remote was asked.
	ToFetch int         // lanes with news
	Back    []ShownLane // lanes of which the remote shows less than it once did
}

// Travelling says how a remote stands to this memory, by what is known here, or with ask by what it shows now.
// Nothing is fetched.
func (m Ops) Travelling(ctx context.Context, r refs.Remote, ask bool) (Travelling, error) {
	out := Travelling{Remote: r}
	selves, err := m.Refs.Selves()
	if err != nil {
		return out, err
	}
	projects, err := trust.On(m.DB).Projects(ctx)
	if err != nil {
		return out, err
	}
	for _, p := range projects {
		if _, ok := r.Projects[p.ID]; !ok {
			out.Home = append(out.Home, p.Name)
			continue
		}
		entries, err := ledger.On(m.DB).Log(ctx, p.ID, 0)
		if err != nil {
			return out, err
		}
		out.count(entries, selves)
	}
	if !ask {
		return out, nil
	}
	shown, err := m.ShowRemote(ctx, r)
	if err != nil {
		return out, err
	}
	for _, l := range shown.Lanes {
		if l.State == "to fetch" {
			out.ToFetch++
		}
	}
	out.Back, err = m.lanesBack(ctx, r, shown.Lanes)
	return out, err
}

// count looks which operations of a project are on the remote, by how far each lane was seen there.
func (t *Travelling) count(entries []refs.Entry, selves []string) {
	there := map[string]bool{} // devices whose mark was met: what is older is there
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

// lanesBack returns the lanes that a remote once showed more of, or has no more.
func (m Ops) lanesBack(ctx context.Context, r refs.Remote, shown []ShownLane) ([]ShownLane, error) {
	var out []ShownLane
	for ref, mark := range r.Marks {
		at, ok := lane.Parse(ref)
		if !ok {
			continue
		}
		i := slices.IndexFunc(shown, func(l ShownLane) bool { return l.ref == ref })
		if i < 0 || shown[i].There == "" {
			gone := ShownLane{Project: trust.On(m.DB).ProjectName(ctx, at.Project),
				Device: at.Device[:min(8, len(at.Device))], State: "gone", ref: ref}
			if i >= 0 {
				gone.Device, gone.Here = shown[i].Device, shown[i].Here
			}
			out = append(out, gone)
			continue
		}
		if back, err := m.isBehind(ctx, mark.Tip, shown[i].There); err != nil {
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

// isBehind reports whether a commit of a lane is before the one that was seen last.
func (m Ops) isBehind(ctx context.Context, seen, now string) (bool, error) {
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
		if has, err := m.Refs.Git().Has(id); err != nil || !has {
			return false, err // news, or another history: a fetch tells which
		}
	}
	_, behind, err := lane.Since(ctx, m.Refs.Git(), from, to, maxCommits)
	return behind, err
}
