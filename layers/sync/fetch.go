package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/incoming"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// FetchOptions select the source and the projects of a fetch.
type FetchOptions struct {
	Remote   refs.Remote
	Session  remote.Session // an open session to use, which Fetch closes; nil opens one
	Projects []refs.Project // nil: all
	DryRun   bool
	Progress func(n int64) // receives the bytes of each read, 0 while waiting, from any goroutine; may be nil

	from connection // instead of one to Remote; may be nil
}

// A FetchedLane is the result of a fetch for one lane.
type FetchedLane struct {
	Project  refs.Project
	Name     string // of the project
	Device   string
	By       string // name of the device
	Listed   bool   // the device is in the list of devices
	Own      bool   // of this device
	Old, New string // commits here before and after; "" for none
	Status   string // new, updated, current, ahead, behind, missing, rewritten, refused
	Why      string // of refused
	Arrival  incoming.FetchedLane
	Exact    bool // lane of exact bytes
	Lane     refs.Lane
}

// A Fetched is the result of a fetch.
type Fetched struct {
	Lanes   []FetchedLane  // without current ones
	Devices []state.Device // not known before
	Twin    bool           // the remote has another lane of this device: see [Split]
	Objects int            // received, of both repositories
	Bytes   int64          // of the packs with them

	Forgotten []forget.DeletedItem // deleted here because another device deleted it
	Sessions  []SessionChange      // captured by other devices
	Hidden    []SessionChange
}

// Limits returns the limits of a pack from a remote.
func Limits(progress func(int64)) pack.Limits {
	return pack.Limits{Progress: progress, Bytes: 64 << 30, Objects: 20_000_000, Object: pack.MaxSize, Ratio: 100}
}

// Fetch fetches the lanes of a remote into a quarantine, where every byte is checked. Only lanes that are valid and
// fast-forward are adopted. There is nothing to merge: the state of a project follows from all its lanes.
func Fetch(ctx context.Context, db *state.DB, o FetchOptions) (out Fetched, err error) {
	client := o.from
	if client == nil {
		client, err = Client(ctx, db, o.Remote, o.Progress)
	}
	if err != nil {
		if o.Session != nil {
			err = errors.Join(err, o.Session.Close())
		}
		return out, err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	f := &fetcher{m: db, o: o, out: &out, client: client, known: map[string]bool{}}
	if !o.DryRun {
		if err := db.PlaceLanes(ctx); err != nil {
			return out, errors.Join(err, f.closeSession())
		}
	}
	if err = f.fetch(ctx); err == nil && o.Remote.Originals {
		f.originals, f.want, f.tips = true, nil, nil
		err = f.fetch(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("fetch from %s: %w", nameOf(o.Remote), err)
	}
	if !o.DryRun {
		if err = db.PlaceLanes(ctx); err == nil { // the trust may have changed meanwhile
			err = f.applyDeletions(ctx)
		}
	}
	if err = errors.Join(err, f.describe(ctx)); err == nil && !o.DryRun {
		err = f.changes(ctx)
	}
	return out, err
}

// changes records the sessions that the lanes of other devices have captured and, if they have grown, hidden.
func (f *fetcher) changes(ctx context.Context) error {
	for _, l := range f.out.Lanes {
		if l.Own || l.Exact || l.Lane.Outside || l.Status != "new" && l.Status != "updated" ||
			l.Arrival.Kinds[records.KindSet]+l.Arrival.Kinds[records.KindSession] == 0 {
			continue
		}
		moved, hidden, err := changes(ctx, f.m, l.Project, l.Name, l.Device, l.By, l.Old)
		if err != nil {
			return err
		}
		f.out.Sessions = append(f.out.Sessions, moved...)
		if l.Status == "updated" {
			f.out.Hidden = append(f.out.Hidden, hidden...)
		}
	}
	return nil
}

// closeSession closes the given session, which was not used.
func (f *fetcher) closeSession() error {
	if f.o.Session == nil {
		return nil
	}
	return f.o.Session.Close()
}

// fetch fetches the lanes of one of the two repositories.
func (f *fetcher) fetch(ctx context.Context) error {
	s := f.o.Session
	if f.o.Session = nil; s == nil {
		var err error
		if s, err = f.client.Open(ctx, remote.Upload); err != nil {
			return err
		}
	}
	return errors.Join(f.run(ctx, s), s.Close())
}

// applyDeletions applies the deletions in the fetched lanes, and deletes the bytes that other devices have deleted
// from their lanes.
func (f *fetcher) applyDeletions(ctx context.Context) (err error) {
	restarted := slices.ContainsFunc(f.out.Lanes, func(l FetchedLane) bool {
		return l.Arrival.Epoch > 0 && l.Status == "updated"
	})
	if f.out.Forgotten, err = forget.ApplyRemotePurges(ctx, f.m, restarted); err != nil {
		return fmt.Errorf("apply deletions of other devices: %w", err)
	}
	return nil
}

// Trust trusts a device. It returns what is forgotten because its data brings deletions, or copies of what was deleted here.
func Trust(ctx context.Context, db *state.DB, d state.Device) ([]forget.DeletedItem, error) {
	if err := trust.TrustDevice(ctx, db, d, true); err != nil {
		return nil, err
	}
	return forget.ApplyRemotePurges(ctx, db, false)
}

// A fetcher runs one fetch.
type fetcher struct {
	m         *state.DB
	o         FetchOptions
	out       *Fetched
	client    connection
	dropped   map[string]bool // devices whose lanes are ignored
	originals bool            // fetch the lanes of originals.git
	tips      []pack.ID       // of the lanes here
	known     map[string]bool // devices
	trust     state.Trust
	want      []FetchedLane
	same      []FetchedLane // equal lanes, not known before to be on the remote
}

func (f *fetcher) run(ctx context.Context, s remote.Session) error {
	if err := f.plan(ctx, s.Refs()); err != nil {
		return err
	}
	var took []FetchedLane
	if len(f.want) > 0 && !f.o.DryRun {
		var err error
		if took, err = f.take(ctx, s); err != nil {
			return err
		}
	}
	if f.o.DryRun {
		f.out.Lanes = append(f.out.Lanes, f.want...)
	} else if err := f.mark(ctx, append(took, f.same...)); err != nil {
		return err
	}
	f.broken()
	return nil
}

// plan decides what to request. It records lanes of which the remote has less than before: it was rolled back,
// rewritten or recreated.
func (f *fetcher) plan(ctx context.Context, there []gitstore.Ref) error {
	lanes, err := f.lanes()
	if err != nil {
		return err
	}
	if f.trust, err = f.m.Trust(ctx); err != nil {
		return err
	}
	if f.dropped, err = trust.Dropped(ctx, f.m); err != nil {
		return err
	}
	here := map[string]refs.Lane{}
	for _, l := range lanes {
		here[l.Ref()], f.known[l.Device] = l, true
		f.tips = append(f.tips, l.Tip)
	}
	slices.SortFunc(there, func(a, b gitstore.Ref) int { return strings.Compare(a.Name, b.Name) })
	shown := map[string]bool{}
	for _, ref := range there {
		l, ok := lane.ParseRemoteRef(ref.Name)
		if !ok || shown[ref.Name] || !f.concerns(l) {
			continue
		}
		shown[ref.Name] = true
		l.Tip = ref.ID
		if l.Outside = !f.trust.Of(l.Device); l.Outside && l.Originals {
			continue // nothing could read them
		}
		if err := f.planLane(ctx, l, here[ref.Name]); err != nil {
			return err
		}
	}
	for name := range f.o.Remote.Marks {
		l, ok := lane.ParseRemoteRef(name)
		if ok && !shown[name] && f.concerns(l) {
			f.out.Lanes = append(f.out.Lanes, f.lane(l, here[name], "missing"))
		}
	}
	return nil
}

// concerns reports whether this fetch includes a lane.
func (f *fetcher) concerns(l refs.Lane) bool {
	return l.Originals == f.originals && !f.dropped[l.Device] &&
		(f.o.Projects == nil || slices.Contains(f.o.Projects, l.Project))
}

func (f *fetcher) lane(l, here refs.Lane, status string) FetchedLane {
	return FetchedLane{Project: l.Project, Device: l.Device, Own: l.Device == f.m.Refs.Device().ID,
		Old: commitName(here.Tip), New: commitName(l.Tip), Status: status, Exact: l.Originals, Lane: l}
}

// commitName returns the name of a commit, "" for none.
func commitName(id pack.ID) string {
	if id.IsZero() {
		return ""
	}
	return id.String()
}

// planLane plans one lane of the remote.
func (f *fetcher) planLane(ctx context.Context, l, here refs.Lane) error {
	if l.Tip == here.Tip {
		if f.o.Remote.Marks[l.Ref()].Tip != l.Tip.String() {
			f.same = append(f.same, f.lane(l, here, "same"))
		}
		return nil
	}
	if here.Tip.IsZero() {
		f.want = append(f.want, f.lane(l, here, "new"))
		return nil
	}
	if has, err := f.m.Refs.Has(l); err != nil {
		return err
	} else if has {
		if behind, err := f.m.Refs.Follows(ctx, l, here.Tip, l.Tip); err != nil {
			return err
		} else if behind {
			return f.behind(ctx, l, here)
		}
	}
	if old, err := f.outdated(ctx, l, here); old || err != nil {
		return err
	}
	f.want = append(f.want, f.lane(l, here, "updated"))
	return nil
}

// outdated reports whether a lane on the remote is older than a deletion by its device: the lane was seen there
// before, or is of this device. Such a lane is not fetched.
func (f *fetcher) outdated(ctx context.Context, l, here refs.Lane) (bool, error) {
	former, err := f.m.Refs.Former(l, l.Tip)
	if err != nil {
		return false, err
	}
	if former {
		f.out.Lanes = append(f.out.Lanes, f.lane(l, here, "ahead"))
		return true, nil
	}
	mark, marked := f.o.Remote.Marks[l.Ref()]
	if !marked || mark.Tip != l.Tip.String() {
		return false, nil
	}
	epoch, err := f.m.Refs.Epoch(ctx, here)
	return epoch > 0, err
}

// behind records a lane of which the remote has less than this memory, if the remote had more before.
func (f *fetcher) behind(ctx context.Context, l, here refs.Lane) error {
	back, err := rolledBack(ctx, f.m, f.o.Remote, l)
	switch {
	case err != nil:
		return err
	case back:
		f.out.Lanes = append(f.out.Lanes, f.lane(l, here, "behind"))
	case l.Device == f.m.Refs.Device().ID:
		f.out.Lanes = append(f.out.Lanes, f.lane(l, here, "ahead"))
	}
	return nil
}

// rolledBack reports whether a remote had more of a lane than the tip that it shows, which exists here. The remote
// may have more than its mark says: a push that is killed after the remote accepted it writes no mark. If that push
// replaced the lane, its tip does not descend from the mark; then it is newer.
func rolledBack(ctx context.Context, db *state.DB, r refs.Remote, shown refs.Lane) (bool, error) {
	mark, marked := r.Marks[shown.Ref()]
	if !marked || mark.Tip == shown.Tip.String() {
		return false, nil
	}
	seen, err := pack.ParseID(mark.Tip)
	if err != nil || shown.Tip.IsZero() {
		return true, nil // not a commit here, so not in the lane shown
	}
	_, follows, err := lane.CommitsSince(ctx, db.Refs.Git(), shown.Tip, seen, maxCommits)
	if err != nil || follows {
		return false, err
	}
	now, err := db.Refs.MarkOf(shown)
	return now.Lamport <= mark.Lamport, err
}

// take fetches the wanted lanes into a quarantine, checks them, and adopts the valid ones.
func (f *fetcher) take(ctx context.Context, s remote.Session) (took []FetchedLane, err error) {
	q, err := f.quarantine(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.Close()) }()
	var want []pack.ID
	for _, l := range f.want {
		want = append(want, l.Lane.Tip)
	}
	slices.SortFunc(want, pack.Compare)
	if err := f.receive(ctx, s, q, slices.Compact(want)); err != nil {
		return nil, err
	}
	peers, err := trust.Peers(ctx, f.m)
	if err != nil {
		return nil, err
	}
	selves, err := f.m.Refs.OwnDevices()
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for device, p := range peers {
		keys[device] = p.Key
	}
	var arrivals []incoming.FetchedLane
	for _, l := range f.want {
		l.Arrival, err = q.Check(ctx, l.Lane, keys[l.Device])
		if !l.Own && !f.originals && slices.Contains(selves, l.Device) {
			restarted := err == nil && l.Arrival.Epoch > 0 && f.o.Remote.Marks[l.Lane.Ref()].Tip != l.Old
			if restarted || errors.Is(err, incoming.ErrRewritten) {
				err = f.fork(ctx, q, &l)
			}
		}
		switch {
		case l.Own && l.Old != "" && !f.originals && (err == nil || errors.Is(err, incoming.ErrRewritten)):
			l.Status, f.out.Twin = "rewritten", true // another store continued as this device
		case errors.Is(err, incoming.ErrRewritten):
			l.Status = "rewritten"
		case errors.Is(err, incoming.ErrRefused):
			l.Status, l.Why = "refused", err.Error()
		case err != nil:
			return nil, err
		default:
			keys[l.Device] = l.Arrival.Key
			arrivals = append(arrivals, l.Arrival)
			took = append(took, l)
		}
		f.out.Lanes = append(f.out.Lanes, l)
	}
	return took, q.Adopt(ctx, arrivals)
}

// receive fetches the wanted commits into the quarantine. If the remote lacks objects of a lane, it fetches each
// lane alone.
func (f *fetcher) receive(ctx context.Context, s remote.Session, q *incoming.Quarantine, want []pack.ID) error {
	lim := Limits(f.o.Progress)
	return remote.FetchAll(ctx, s, f.client.Open, want, func(s remote.Session, want []pack.ID) error {
		w, err := q.Writer()
		if err != nil {
			return err
		}
		got, err := s.Fetch(ctx, want, f.tips, w, lim)
		if err != nil {
			return errors.Join(err, w.Abort())
		}
		f.out.Objects, f.out.Bytes = f.out.Objects+got.Objects, f.out.Bytes+got.Bytes
		return q.Finish(w)
	})
}

// fork moves the unpushed part of a lane of a former identity to this device. On the remote, another copy of the
// store has continued the lane, or replaced it without knowing the unpushed part.
func (f *fetcher) fork(ctx context.Context, q *incoming.Quarantine, l *FetchedLane) error {
	a, base, err := q.CheckFork(ctx, l.Lane)
	l.Arrival = a
	if err != nil {
		return err
	}
	return f.m.Refs.TakeOver(ctx, l.Lane, base)
}

// Split gives this store a new device identity, because a remote has another lane of its device: the store is a
// copy, or was restored from an old backup. It fetches the lane of the remote, and moves the unpushed part to the
// new device. Own says that the current identity is affected, not only a former one.
func Split(ctx context.Context, db *state.DB, r refs.Remote, own bool) error {
	if own {
		if err := db.Refs.NewDeviceID(ctx); err != nil {
			return err
		}
	}
	_, err := Fetch(ctx, db, FetchOptions{Remote: r})
	return err
}

// mark records the tips of the lanes on the remote.
func (f *fetcher) mark(ctx context.Context, lanes []FetchedLane) error {
	if len(lanes) == 0 || f.o.Remote.Name == "" {
		return nil
	}
	marks := map[string]refs.Mark{}
	for _, l := range lanes {
		mark, err := f.m.Refs.MarkOf(l.Lane)
		if err != nil {
			return err
		}
		marks[l.Lane.Ref()] = mark
	}
	return changeRemote(ctx, f.m, f.o.Remote.Name, func(r *refs.Remote) {
		if r.URL != f.o.Remote.URL {
			return // it was changed meanwhile
		}
		if r.Marks == nil {
			r.Marks = map[string]refs.Mark{}
		}
		for ref, mark := range marks {
			r.Marks[ref] = mark
		}
	})
}

// describe adds names, and which devices are new.
func (f *fetcher) describe(ctx context.Context) error {
	slices.SortStableFunc(f.out.Lanes, func(a, b FetchedLane) int { return strings.Compare(a.Lane.Ref(), b.Lane.Ref()) })
	devices, err := trust.Devices(ctx, f.m)
	if err != nil {
		return err
	}
	names := map[refs.Project]string{}
	for i := range f.out.Lanes {
		l := &f.out.Lanes[i]
		if l.Project == "" { // an unreadable branch of an encrypted remote
			l.Name, l.By = "?", "?"
			continue
		}
		if names[l.Project] == "" { // it lists all lanes of the project
			names[l.Project] = trust.ProjectName(ctx, f.m, l.Project)
		}
		l.Name = names[l.Project]
		l.By = l.Device[:8]
		if j := slices.IndexFunc(devices, func(d state.Device) bool { return d.ID == l.Device }); j >= 0 {
			l.By, l.Listed = devices[j].Name, true
		}
	}
	isNew := func(d state.Device) bool { return !d.Own && !d.Dropped && !f.known[d.ID] }
	if slices.ContainsFunc(devices, isNew) {
		if devices, err = trust.Waiting(ctx, f.m); err != nil {
			return err
		}
	}
	for _, d := range devices {
		if isNew(d) {
			f.out.Devices = append(f.out.Devices, d)
		}
	}
	return nil
}
