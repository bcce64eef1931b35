package derive

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/layers/tokens"
	trusted "github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TierOptions say how a project ages.
type TierOptions struct {
	Policy tier.Policy
	Decay  keepit.Decay // constants of the threshold of markers; zero: the usual ones
	DryRun bool
	// Most is how many versions are made at most; 0 is no limit. What is left waits for the next time, and summaries wait
	// for the versions.
	Most     int
	Progress func(done, of int) // if not nil it is called after each version

	only bool // say what is to be done without looking whether it can be
}

// A Tiered lists the actions of ageing a project, done or planned.
type Tiered struct {
	Compressed []TierVersion
	Summaries  []TierSummary
	Hidden     []string // versions and weekly summaries that are out of the lists now
	Failed     []error  // what could not be made; the rest was
	Waiting    int      // versions beyond the limit
}

// Nothing reports whether there was nothing to do.
func (t Tiered) Nothing() bool {
	return len(t.Compressed)+len(t.Summaries)+len(t.Hidden)+len(t.Failed) == 0
}

// A TierVersion is a version that a session got because of its age.
type TierVersion struct {
	Session *state.Session
	Preset  string
	Why     string
	Label   string // empty in a dry run
	Tokens  int
}

// A TierSummary is the summary of a week or month.
type TierSummary struct {
	tier.Due
	Label    string // the name of the composition
	Anew     bool   // there was one, of other sessions, facts or sizes
	TokensIn int
	Tokens   int // 0 in a dry run
	Left     int // sessions that had no room
}

// aging is what is known of a project that ages.
type aging struct {
	m        Ops
	p        state.Project
	o        TierOptions
	st       *state.State
	sessions []tier.Session
	facts    map[string][]tier.Fact // by session
	work     tier.Work
}

func (m Ops) aging(ctx context.Context, p state.Project, o TierOptions) (*aging, error) {
	if err := o.Policy.Check(); err != nil {
		return nil, err
	}
	a := &aging{m: m, p: p, o: o}
	if err := a.read(ctx); err != nil {
		return nil, err
	}
	a.work = tier.Decide(o.Policy, a.sessions, m.Opts.Now())
	return a, nil
}

// read gathers what deciding needs to know.
func (a *aging) read(ctx context.Context) (err error) {
	if a.st, err = trusted.On(a.m.DB).State(ctx, a.p.ID); err != nil {
		return err
	}
	trust, err := a.m.Trust(ctx)
	if err != nil {
		return err
	}
	known := capture.On(a.m.DB).KnownTokens(a.p.ID)
	versions := map[string][]tier.Version{}
	for _, v := range a.st.Versions {
		s := a.st.Session(v.Session)
		if s == nil {
			continue
		}
		free := compress.IsExtract(v.Engine)
		versions[v.Session] = append(versions[v.Session], tier.Version{
			ID: v.ID.String(), Preset: v.Settings.Preset, Asked: v.Asked(), Hidden: v.Deleted || v.Revoked != "", Free: free,
			Current: v.Origin() == s.Now().Original && v.Since == "" && v.Source == "", Used: len(a.st.UsedBy(v)) > 0,
		})
	}
	a.sessions = nil
	for _, s := range a.st.Sessions {
		now := s.Now()
		if !s.Shown() || s.Parent() != "" || now.Scan.Last.IsZero() || now.Scan.Messages == 0 || !trust.Of(now.Stamp.Device) {
			continue // of a device that is not trusted nothing goes into a summary
		}
		n := markers.On(a.m.DB).Estimate(now, known)
		a.sessions = append(a.sessions, tier.Session{ID: s.ID, End: now.Scan.Last, Accessed: s.Accessed(), Tokens: n,
			Versions: versions[s.ID]})
	}
	a.facts, err = a.m.tierFacts(ctx, a.p.ID, trust)
	return err
}

// Tier carries a project's policy out: it makes the versions that sessions of some age lack, the summaries of weeks and
// months, and takes out of the lists what has become superfluous. Originals are not touched, and what is out of
// the lists comes back by history.Undo. Doing it again does nothing.
func (m Ops) Tier(ctx context.Context, p state.Project, o TierOptions) (Tiered, error) {
	var out Tiered
	a, err := m.aging(ctx, p, o)
	if err != nil {
		return out, err
	}
	todo := a.work.Compress
	if o.Most > 0 && len(todo) > o.Most {
		todo, out.Waiting = todo[:o.Most], len(todo)-o.Most
	}
	err = a.compressAll(ctx, todo, &out)
	if err != nil {
		return out, err
	}
	if out.Waiting > 0 {
		return out, nil
	}
	if len(out.Compressed) > 0 && !o.DryRun {
		if err := a.read(ctx); err != nil { // summaries are made of the new versions
			return out, err
		}
		a.work = tier.Decide(o.Policy, a.sessions, m.Opts.Now())
	}
	return out, a.settle(ctx, &out)
}

// settle makes the summaries that are due and hides what is superfluous, in one operation.
func (a *aging) settle(ctx context.Context, out *Tiered) error {
	s, err := a.m.Refs.Stage(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var made []*records.Composition
	failed := map[string]bool{}
	for _, due := range a.work.Due {
		t, c, err := a.summarise(ctx, s, due)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed[due.Label()] = true
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", due.Label(), err))
			continue
		}
		if t != nil {
			out.Summaries, made = append(out.Summaries, *t), append(made, c)
		}
	}
	sets := a.hiding(failed, out)
	if a.o.DryRun || len(made)+len(sets) == 0 {
		return nil
	}
	message := fmt.Sprintf("tier  %s, %d hidden", records.Numbered(len(made), "summary", "summaries"), len(sets))
	return a.m.Refs.Update(ctx, a.p.ID, message, func(tx *refs.Tx) error {
		st, err := a.m.FoldOutline(ctx, tx, a.p.ID)
		if err != nil {
			return err
		}
		made, sets := st.LackingOf(made, sets) // another process may have come first
		if len(made)+len(sets) == 0 {
			return nil
		}
		if len(made) > 0 {
			if err := tx.Adopt(s); err != nil {
				return err
			}
		}
		tx.Trailer("Op", "tier")
		for _, c := range made {
			if err := originals.On(a.m.DB).UnforgottenParts(ctx, tx, c); err != nil {
				return err
			}
			if _, err := tx.Add(records.KindComposition, c); err != nil {
				return err
			}
		}
		for _, b := range sets {
			if _, err := tx.Add(records.KindSet, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// hiding returns the assignments that take what is superfluous out of the lists. A weekly summary stays as long as a
// monthly one that stands for it could not be made.
func (a *aging) hiding(failed map[string]bool, out *Tiered) []records.SetBody {
	var sets []records.SetBody
	for _, h := range a.work.Hide {
		label, unmade := strings.CutPrefix(h.Version, tier.Unmade)
		if unmade && !a.o.DryRun {
			continue // it could not be made
		}
		if !unmade {
			i := slices.IndexFunc(a.st.Versions, func(v *records.Version) bool { return v.ID.String() == h.Version })
			label = a.st.Versions[i].Label
			sets = append(sets, records.SetBody{Target: "version/" + h.Version, Field: "deleted", Value: true})
		}
		out.Hidden = append(out.Hidden, records.ShortID(h.Session)+":"+label)
	}
	for _, label := range a.work.Over {
		if c := a.st.Composition(label); c != nil && c.Tier == string(tier.Weekly) && len(failed) == 0 {
			out.Hidden = append(out.Hidden, label)
			sets = append(sets, records.SetBody{Target: "composition/" + label, Field: "deleted", Value: true})
		}
	}
	return sets
}

// A TierState is how a session of a project is shown.
type TierState struct {
	Session *state.Session
	Tier    tier.Tier
	Period  tier.Period
	Summary string // the summary that stands for it, "" if it is not made yet or the session is shown as it is
}

// TierStatus returns how the sessions of a project are shown, the newest first, and what [Ops.Tier] would do.
func (m Ops) TierStatus(ctx context.Context, p state.Project, o TierOptions) ([]TierState, Tiered, error) {
	o.DryRun, o.only = true, true
	todo, err := m.Tier(ctx, p, o)
	if err != nil {
		return nil, todo, err
	}
	a, err := m.aging(ctx, p, o)
	if err != nil {
		return nil, todo, err
	}
	now := m.Opts.Now()
	var out []TierState
	for _, s := range a.sessions {
		x := TierState{Session: a.st.Session(s.ID), Tier: o.Policy.Of(s.Accessed, now)}
		switch x.Tier {
		case tier.Weekly:
			x.Period = tier.Week(s.End)
		case tier.Monthly:
			x.Period = tier.Month(s.End)
		}
		for _, label := range []string{tier.Week(s.End).Label(), tier.Month(s.End).Label()} {
			if c := a.st.Composition(label); c != nil && c.Tier == string(x.Tier) {
				x.Summary = label
			}
		}
		if x.Summary == "" && x.Tier == tier.Monthly { // its month is not over, or not made yet
			if c := a.st.Composition(tier.Week(s.End).Label()); c != nil && c.Tier == string(tier.Weekly) {
				x.Summary = c.Name
			}
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(x, y TierState) int {
		return y.Session.Now().Scan.Last.Compare(x.Session.Now().Scan.Last)
	})
	return out, todo, nil
}

// counterOf returns the counter that finds the most tokens among those of sessions.
func (a *aging) counterOf(ids []string) tokens.Counter {
	var best tokens.Counter
	for i, id := range ids {
		if c := markers.On(a.m.DB).Counter(a.st.Session(id).Now()); i == 0 || c.Scale(1000) > best.Scale(1000) {
			best = c
		}
	}
	return best
}

// factsObject returns the facts of sources as an input: its hash and its bytes.
func factsObject(sources []tier.Source) (objects.Hash, []byte) {
	var all []tier.Fact
	for _, s := range sources {
		all = append(all, s.Facts...)
	}
	if len(all) == 0 {
		return objects.Hash{}, nil
	}
	b := EncodeFacts(all)
	return objects.Sum(b), b
}
