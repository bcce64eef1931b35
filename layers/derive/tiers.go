package derive

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TierOptions are the options of [Tier].
type TierOptions struct {
	Policy tier.Policy
	Decay  keepit.Decay // zero: the default
	DryRun bool
	// MaxVersions limits the versions of one run; 0 is no limit. The next run makes the others. Summaries wait for the
	// versions.
	MaxVersions int
	Progress    func(done, of int) // if not nil it is called before each version
}

// A TierResult lists the actions of ageing a project, done or planned.
type TierResult struct {
	Compressed []TierVersion
	Summaries  []TierSummary
	Hidden     []string // hidden versions and weekly summaries
	Failed     []error  // versions and summaries that could not be created
	Deferred   int      // versions beyond the limit
}

// Empty reports whether there was nothing to do.
func (t TierResult) Empty() bool {
	return len(t.Compressed)+len(t.Summaries)+len(t.Hidden)+len(t.Failed) == 0
}

// A TierVersion is a version created because of the age of its session.
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
	Replaced bool   // an older summary with other inputs existed
	TokensIn int
	Tokens   int // 0 in a dry run
	Omitted  int // sessions without room
}

// A tierRun contains the state of a project that ages.
type tierRun struct {
	m        *state.DB
	p        state.Project
	o        TierOptions
	planOnly bool // in a dry run: do not check whether sessions can be compressed
	now      time.Time
	st       *state.State
	sessions []tier.Session
	plan     tier.Work
}

func newTierRun(ctx context.Context, db *state.DB, p state.Project, o TierOptions) (*tierRun, error) {
	if err := o.Policy.Check(); err != nil {
		return nil, err
	}
	a := &tierRun{m: db, p: p, o: o, now: db.Opts.Now()}
	return a, a.load(ctx)
}

// load reads the input of the decision and decides.
func (a *tierRun) load(ctx context.Context) (err error) {
	if a.st, err = trust.State(ctx, a.m, a.p.ID); err != nil {
		return err
	}
	known := capture.KnownTokens(a.m, a.p.ID)
	versions := map[string][]tier.Version{}
	for _, v := range a.st.Versions {
		s := a.st.Session(v.Session)
		if s == nil {
			continue
		}
		versions[v.Session] = append(versions[v.Session], tier.Version{
			ID: v.ID.String(), Preset: v.Settings.Preset, Asked: v.Asked(), Hidden: v.Deleted || v.Revoked != "",
			Free:    compress.IsExtract(v.Engine),
			Current: v.Origin() == s.Now().Original && v.Whole() && v.Source == "", Used: len(a.st.UsedBy(v)) > 0,
		})
	}
	a.sessions = nil
	for _, s := range a.st.Sessions {
		now := s.Now()
		if !s.Shown() || s.Parent() != "" || now.Scan.Last.IsZero() || now.Scan.Messages == 0 {
			continue
		}
		n := markers.Estimate(a.m, now, known)
		a.sessions = append(a.sessions, tier.Session{ID: s.ID, End: now.Ended(), Accessed: s.Accessed(), Tokens: n,
			Versions: versions[s.ID]})
	}
	a.plan = tier.Decide(a.o.Policy, a.sessions, a.now)
	return nil
}

// Tier applies a project's policy: it creates missing versions of old sessions and summaries of weeks and months, and
// hides superseded versions. Originals do not change, and history.Undo restores hidden versions. A second run does
// nothing.
func Tier(ctx context.Context, db *state.DB, p state.Project, o TierOptions) (TierResult, error) {
	a, err := newTierRun(ctx, db, p, o)
	if err != nil {
		return TierResult{}, err
	}
	return a.run(ctx)
}

func (a *tierRun) run(ctx context.Context) (out TierResult, err error) {
	todo := a.plan.Compress
	if most := a.o.MaxVersions; most > 0 && len(todo) > most {
		todo, out.Deferred = todo[:most], len(todo)-most
	}
	if err := a.compressAll(ctx, todo, &out); err != nil || out.Deferred > 0 {
		return out, err
	}
	if len(out.Compressed) > 0 && !a.o.DryRun {
		if err := a.load(ctx); err != nil { // new versions hide others
			return out, err
		}
	}
	return out, a.finish(ctx, &out)
}

// finish creates the summaries that are due and hides superseded versions, in one commit.
func (a *tierRun) finish(ctx context.Context, out *TierResult) error {
	s, err := a.m.Refs.Stage(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var made []*records.Composition
	failed := false
	for _, due := range a.plan.Due {
		t, c, err := a.summarise(ctx, s, due)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = true
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", due.Label(), err))
			continue
		}
		if t != nil {
			out.Summaries, made = append(out.Summaries, *t), append(made, c)
		}
	}
	sets := a.hideRecords(failed, out)
	if a.o.DryRun || len(made)+len(sets) == 0 {
		return nil
	}
	message := fmt.Sprintf("tier  %s, %d hidden", records.Numbered(len(made), "summary", "summaries"), len(sets))
	return a.m.Refs.Update(ctx, a.p.ID, message, func(tx *refs.Tx) error {
		st, err := a.m.FoldOutline(ctx, tx, a.p.ID)
		if err != nil {
			return err
		}
		made, sets := st.LackingOf(made, sets) // another process may have done it
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
			if err := originals.CheckParts(ctx, a.m, tx, c); err != nil {
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

// hideRecords returns the records that hide superseded versions. A weekly summary stays while the monthly one that
// replaces it is missing.
func (a *tierRun) hideRecords(failed bool, out *TierResult) []records.SetBody {
	labels := map[string]string{}
	for _, v := range a.st.Versions {
		labels[v.ID.String()] = v.Label
	}
	var sets []records.SetBody
	for _, h := range a.plan.Hide {
		label, unmade := strings.CutPrefix(h.Version, tier.Unmade)
		if unmade && !a.o.DryRun {
			continue // it could not be created
		}
		if !unmade {
			label = labels[h.Version]
			sets = append(sets, hidden("version/"+h.Version))
		}
		out.Hidden = append(out.Hidden, records.ShortID(h.Session)+":"+label)
	}
	for _, label := range a.plan.Over {
		if c := a.st.Composition(label); c != nil && c.Tier == string(tier.Weekly) && !failed {
			out.Hidden = append(out.Hidden, label)
			sets = append(sets, hidden("composition/"+label))
		}
	}
	return sets
}

// A TierState is the tier of a session.
type TierState struct {
	Session *state.Session
	Tier    tier.Tier
	Period  tier.Period
	Summary string // the summary that replaces it, "" if there is none
}

// TierStatus returns the tiers of the sessions of a project, the newest first, and what [Tier] would do.
func TierStatus(ctx context.Context, db *state.DB, p state.Project, o TierOptions) ([]TierState, TierResult, error) {
	o.DryRun = true
	a, err := newTierRun(ctx, db, p, o)
	if err != nil {
		return nil, TierResult{}, err
	}
	a.planOnly = true
	todo, err := a.run(ctx)
	if err != nil {
		return nil, todo, err
	}
	var out []TierState
	for _, s := range a.sessions {
		x := TierState{Session: a.st.Session(s.ID), Tier: o.Policy.Of(s.Accessed, a.now)}
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
		if x.Summary == "" && x.Tier == tier.Monthly { // its month is not over or not summarised
			if c := a.st.Composition(tier.Week(s.End).Label()); c != nil && c.Tier == string(tier.Weekly) {
				x.Summary = c.Name
			}
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(x, y TierState) int {
		return y.Session.Now().Ended().Compare(x.Session.Now().Ended())
	})
	return out, todo, nil
}
