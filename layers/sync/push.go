package sync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// PushOptions select the remote and the projects of a push.
type PushOptions struct {
	Remote   refs.Remote
	Projects []state.Project
	DryRun   bool
	// Consent is called once for each project that was never pushed to the remote; nil declines.
	Consent func(p state.Project, r refs.Remote) (bool, error)
	// Others lets the lanes of other devices go as well. They are looked through for secrets as own ones are, but
	// nothing can be taken out of them here.
	Others bool
	// Progress receives the bytes of each write.
	Progress func(n int64)

	to connection // instead of one to Remote; may be nil
}

// A PushedLane is the result of a push for one lane of this device or of a former identity of it.
type PushedLane struct {
	Project  state.Project
	Device   string
	Old, New string // commits on the remote before and after; "" for none
	Status   string // new, updated, current, declined, refused, rejected
	Why      string // of refused and rejected
	Restored bool   // the remote was rolled back
	Forced   bool   // the remote's lane was replaced after a deletion here; it had exactly the known tip
	Dropped  bool   // the remote deleted the old data
	Leaks    []secrets.Leak
	Cleaned  forget.Cleaned         // secrets removed before the push
	Foreign  *projects.ForeignError // foreign text that prevents the push
	Exact    bool                   // lane of exact bytes
	lane     refs.Lane
	old      pack.ID
	commits  []pack.ID
}

// A Pushed is the result of a push.
type Pushed struct {
	Lanes    []PushedLane
	Absent   []AbsentLane
	Sessions []SessionChange // that the remote got
	Objects  int
	Bytes    int64
	Rules    int // number of redaction rules that scanned the data
	Sweep    Sweep
}

// An AbsentLane is a lane of a trusted device that is missing on a remote which has this device's lane of the
// project. Only that device can send it.
type AbsentLane struct {
	Project string `json:"project"`
	Device  string `json:"device"` // name
}

var (
	// ErrPublic reports a remote that anybody can read.
	ErrPublic = errors.New("anybody can read the remote")
	// ErrIncomplete reports damaged or missing data.
	ErrIncomplete = errors.New("data is damaged or missing here")
)

// A DivergedError reports a remote with another lane of this device, or of a former identity: two stores share the
// identity.
type DivergedError struct {
	Project state.Project
	Own     bool
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the remote has other memory of this very device in project %s", e.Project.Name)
}

const maxCommits = 1 << 30

// Push pushes this device's lanes of projects to a remote, as fast-forwards only. It touches no other branch. Only
// an own lane that was rewritten by a deletion is forced, if the remote has exactly the known tip. The error is a
// [*DivergedError] if a lane cannot be fast-forwarded; see [Split]. All data is scanned first, and a project
// with a secret is not pushed.
func Push(ctx context.Context, db *state.DB, o PushOptions) (out Pushed, err error) {
	out.Rules = secrets.Gate(db).Count()
	if o.Remote.Name != "" {
		unlock, err := db.Refs.LockRemote(ctx, o.Remote.Name)
		if err != nil {
			return out, err
		}
		defer unlock()
	}
	client := o.to
	if client == nil {
		if client, err = Client(ctx, db, o.Remote, nil); err != nil {
			return out, err
		}
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	if public, err := client.Public(ctx); err != nil {
		return out, fmt.Errorf("push to %s: %w", nameOf(o.Remote), err)
	} else if public {
		return out, fmt.Errorf("push to %s: %w", nameOf(o.Remote), ErrPublic)
	}
	s, err := client.Open(ctx, remote.Receive)
	if err != nil {
		return out, fmt.Errorf("push to %s: %w", nameOf(o.Remote), err)
	}
	p := &pusher{m: db, o: o, out: &out, git: db.Refs.Git(), client: client, first: s, session: s, seen: map[pack.ID]struct{}{},
		there: map[string]pack.ID{}, answers: map[refs.Project]bool{}, started: map[string]bool{}}
	if c, err := plainClient(db, o.Remote); err == nil {
		p.directory = c.Directory()
	}
	defer func() {
		if p.session != nil {
			err = errors.Join(err, p.session.Close())
		}
	}()
	if err := p.plan(ctx); err != nil {
		return out, err
	}
	if err = p.send(ctx); err == nil && o.Remote.Originals {
		err = p.originals(ctx)
	}
	if err == nil {
		err = p.sweep(ctx)
	}
	if err != nil {
		return out, fmt.Errorf("push to %s: %w", nameOf(o.Remote), err)
	}
	return out, p.changes(ctx)
}

// changes records the sessions that the remote got, or would get.
func (p *pusher) changes(ctx context.Context) error {
	for _, l := range p.out.Lanes {
		if l.Exact || l.Forced || l.Status != "new" && l.Status != "updated" {
			continue
		}
		by, err := trust.DeviceName(ctx, p.m, l.Device)
		if err != nil {
			return err
		}
		moved, _, err := changes(ctx, p.m, l.Project.ID, l.Project.Name, l.Device, by, l.Old)
		if err != nil {
			return err
		}
		p.out.Sessions = append(p.out.Sessions, moved...)
	}
	return nil
}

// A pusher runs one push.
type pusher struct {
	m       *state.DB
	o       PushOptions
	out     *Pushed
	git     *gitstore.Repo // whose lanes are pushed
	client  connection
	first   remote.Session     // knows the branches; it may be closed
	session remote.Session     // nil after use
	there   map[string]pack.ID // branches of the remote
	seen    map[pack.ID]struct{}
	answers map[refs.Project]bool // consents that the user gave or declined in this push

	directory bool            // the remote is a directory
	started   map[string]bool // branches that this push has noted as unfinished
}

// plan decides what to send of each project.
func (p *pusher) plan(ctx context.Context) error {
	for _, ref := range p.session.Refs() {
		p.there[ref.Name] = ref.ID
	}
	lanes, err := p.m.Refs.Lanes()
	if err != nil {
		return err
	}
	selves, err := p.m.Refs.OwnDevices()
	if err != nil {
		return err
	}
	trust, err := p.m.Trust(ctx)
	if err != nil {
		return err
	}
	for _, project := range p.o.Projects {
		some := false
		var absent []refs.Lane
		for _, lane := range lanes {
			if lane.Project != project.ID {
				continue
			}
			if !slices.Contains(selves, lane.Device) && !p.o.Others {
				if p.at(lane.Ref()).IsZero() && trust.Of(lane.Device) {
					absent = append(absent, lane)
				}
				continue
			}
			some = true
			l := PushedLane{Project: project, Device: lane.Device, lane: lane, old: p.there[lane.Ref()]}
			if err := p.planLane(ctx, &l); err != nil {
				return err
			}
			p.out.Lanes = append(p.out.Lanes, l)
		}
		if some {
			if err := p.absent(ctx, project, absent); err != nil {
				return err
			}
		} else { // nothing of this device
			p.out.Lanes = append(p.out.Lanes, PushedLane{Project: project, Device: p.m.Refs.Device().ID, Status: "current"})
		}
	}
	return nil
}

// at returns the remote's commit for a lane, which on an encrypted remote is not the lane's; zero if there is none.
func (p *pusher) at(lane string) pack.ID {
	if s, ok := p.first.(interface{ At(lane string) pack.ID }); ok {
		return s.At(lane)
	}
	return p.there[lane]
}

// absent records the lanes of other devices that the remote does not have.
func (p *pusher) absent(ctx context.Context, project state.Project, lanes []refs.Lane) error {
	for _, l := range lanes {
		name, err := trust.DeviceName(ctx, p.m, l.Device)
		if err != nil {
			return err
		}
		p.out.Absent = append(p.out.Absent, AbsentLane{project.Name, name})
	}
	return nil
}

func (p *pusher) planLane(ctx context.Context, l *PushedLane) (err error) {
	if l.Old, l.New, l.Status = commitName(l.old), l.lane.Tip.String(), "new"; l.Old != "" {
		l.Status = "updated"
	}
	if l.old == l.lane.Tip {
		l.Status = "current"
		return p.mark(ctx, l)
	}
	if ok, err := p.consent(l); err != nil || !ok {
		l.Status = "declined"
		return err
	}
	follows := false
	if l.commits, follows, err = lane.CommitsSince(ctx, p.m.Refs.Git(), l.lane.Tip, l.old, maxCommits); err != nil {
		return err
	}
	if !follows {
		if l.Forced, err = p.m.Refs.IsFormer(ctx, p.o.Remote, l.lane, l.old); err != nil {
			return err
		}
	}
	if !follows && !l.Forced {
		return &DivergedError{l.Project, l.lane.Device == p.m.Refs.Device().ID}
	}
	there := l.lane
	there.Tip = l.old
	if !l.Forced {
		if l.Restored, err = rolledBack(ctx, p.m, p.o.Remote, there); err != nil {
			return err
		}
	}
	foreign, err := trust.ForeignParts(ctx, p.m, l.Project)
	if err != nil {
		return err
	}
	if foreign != nil {
		l.Status, l.Why, l.Foreign = "refused", foreign.Error(), foreign
		return nil
	}
	if err := p.m.Refs.CheckClock(l.lane); errors.Is(err, refs.ErrAhead) {
		l.Status, l.Why = "refused", refs.ErrAhead.Error()
		return nil
	} else if err != nil {
		return err
	}
	return p.gate(ctx, l)
}

// gate refuses a lane with secrets that cannot be removed.
func (p *pusher) gate(ctx context.Context, l *PushedLane) (err error) {
	have := func(commit string) bool { return commit == l.Old }
	if l.Leaks, err = secrets.ScanLane(ctx, p.m, l.lane, have); err == nil && len(l.Leaks) > 0 {
		cleaned := false
		if cleaned, err = p.clean(ctx, l); err == nil && cleaned {
			l.Leaks, err = secrets.ScanLane(ctx, p.m, l.lane, have)
		}
		if errors.Is(err, records.ErrMalformed) { // a name that cannot be changed, such as the ID of a session
			l.Status, l.Why = "refused", fmt.Sprintf("%d secrets found, of which a name cannot be cleaned: %v", len(l.Leaks), err)
			return nil
		}
	}
	if errors.Is(err, pack.ErrNotFound) || errors.Is(err, pack.ErrCorrupt) || errors.Is(err, objects.ErrCorrupt) {
		return fmt.Errorf("project %s: %w: %w", l.Project.Name, ErrIncomplete, err)
	}
	if err != nil {
		return fmt.Errorf("look for secrets in %s: %w", l.Project.Name, err)
	}
	if len(l.Leaks) > 0 {
		l.Status, l.Why = "refused", fmt.Sprintf("%d secrets found", len(l.Leaks))
	}
	return nil
}

// consent reports whether the user allows the project on the remote.
func (p *pusher) consent(l *PushedLane) (bool, error) {
	if _, ok := p.o.Remote.Projects[l.Project.ID]; ok {
		return true, nil
	}
	if p.o.Consent == nil {
		return false, nil
	}
	if answer, ok := p.answers[l.Project.ID]; ok {
		return answer, nil // for another lane of the project
	}
	answer, err := p.o.Consent(l.Project, p.o.Remote)
	p.answers[l.Project.ID] = answer
	return answer, err
}

// A batch is a set of commits for one push, while it is filled.
type batch struct {
	remote.Batch
	ids   []pack.ID
	lanes []*PushedLane
}

// send pushes the planned lanes in batches. A batch ends with a commit, so that the remote is complete after each.
func (p *pusher) send(ctx context.Context) error {
	if !p.o.DryRun {
		if err := p.notePush(ctx); err != nil {
			return err
		}
	}
	var b batch
	git, limit := p.git, cmp.Or(p.m.Opts.PushBytes, state.PushBytes)
	for i := range p.out.Lanes {
		l := &p.out.Lanes[i]
		if l.Status != "new" && l.Status != "updated" {
			continue
		}
		at := l.old
		for step, err := range lane.Additions(ctx, git, l.commits, p.seen) {
			if err != nil {
				return err
			}
			for _, id := range step.Objects {
				n, err := remote.EntrySize(git, id)
				if err != nil {
					return err
				}
				b.Size += n
			}
			b.ids = append(b.ids, step.Objects...)
			b.to(l, at, step.Commit)
			if b.Size < limit {
				continue
			}
			if err := p.ship(ctx, &b); err != nil {
				return err
			}
			at, b = step.Commit, batch{}
		}
		if p.o.Remote.Sealed == "" {
			continue
		}
		if err := p.ship(ctx, &b); err != nil { // an encrypted lane does not depend on others
			return err
		}
		b, p.seen = batch{}, map[pack.ID]struct{}{}
	}
	return p.ship(ctx, &b)
}

// to adds the move of a lane to a commit.
func (b *batch) to(l *PushedLane, from, commit pack.ID) {
	if n := len(b.lanes); n > 0 && b.lanes[n-1] == l {
		b.Updates[n-1].New = commit
		return
	}
	b.lanes = append(b.lanes, l)
	b.Updates = append(b.Updates, remote.Update{Ref: l.lane.Ref(), Old: from, New: commit})
}

// ship pushes one batch and records the tips on the remote.
func (p *pusher) ship(ctx context.Context, b *batch) error {
	if len(b.lanes) == 0 {
		return nil
	}
	p.out.Objects += len(b.ids)
	p.out.Bytes += b.Size
	if p.o.DryRun {
		return nil
	}
	b.Objects = len(b.ids)
	b.Entries = func(yield func(pack.Entry) error) error { return p.entries(ctx, b.ids, yield) }
	if p.session == nil {
		s, err := p.client.Open(ctx, remote.Receive)
		if err != nil {
			return err
		}
		p.session = s
	}
	s := p.session
	p.session = nil
	err := s.Push(ctx, b.Batch)
	var rejected *remote.RejectedError
	if errors.As(err, &rejected) && rejected.Unpack == "" {
		b.reject(rejected)
		err = nil
	}
	if err = errors.Join(err, s.Close()); err != nil {
		return err
	}
	for i, l := range b.lanes {
		if l.Status == "rejected" {
			continue
		}
		if err := p.markAt(ctx, l, b.Updates[i].New); err != nil {
			return err
		}
	}
	return nil
}

// entries yields the entries of a pack.
func (p *pusher) entries(ctx context.Context, ids []pack.ID, yield func(pack.Entry) error) error {
	for _, id := range ids {
		e, err := remote.Entry(p.git, id)
		if err == nil {
			err = yield(e)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if p.o.Progress != nil {
			p.o.Progress(int64(e.Size()))
		}
	}
	return nil
}

// reject records the lanes that the remote rejected.
func (b *batch) reject(r *remote.RejectedError) {
	for _, l := range b.lanes {
		if i := slices.Index(r.Refs, l.lane.Ref()); i >= 0 {
			l.Status, l.Why = "rejected", strings.TrimSpace(r.Why[i])
		}
	}
}

// mark records that the remote has a lane up to its local tip.
func (p *pusher) mark(ctx context.Context, l *PushedLane) error {
	_, agreed := p.o.Remote.Projects[l.Project.ID]
	if agreed && p.o.Remote.Marks[l.lane.Ref()].Tip == l.New || p.o.DryRun {
		return nil
	}
	return p.markAt(ctx, l, l.lane.Tip)
}

func (p *pusher) markAt(ctx context.Context, l *PushedLane, tip pack.ID) error {
	if p.o.Remote.Name == "" {
		return nil
	}
	lane := l.lane
	lane.Tip = tip
	mark, err := p.m.Refs.MarkOf(lane)
	if err != nil {
		return err
	}
	return changeRemote(ctx, p.m, p.o.Remote.Name, func(r *refs.Remote) {
		if r.URL != p.o.Remote.URL {
			return // it was changed meanwhile
		}
		if r.Projects == nil {
			r.Projects = map[refs.Project]refs.Pushed{}
		}
		if r.Marks == nil {
			r.Marks = map[string]refs.Mark{}
		}
		if _, ok := r.Projects[lane.Project]; !ok {
			r.Projects[lane.Project] = refs.Pushed{Since: p.m.Opts.Now().UTC()}
		}
		r.Marks[lane.Ref()] = mark
		if l.Status == "new" || l.Status == "updated" {
			r.Sent = p.m.Opts.Now().UTC()
		}
	})
}
