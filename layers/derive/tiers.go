package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TierOptions are the options of [Tier].
type TierOptions struct {
	Policy planning.Policy
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
	planning.Due
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
	sessions []planning.Session
	plan     planning.Work
}

// newTierRun reads the input of the decision and decides.
func newTierRun(ctx context.Context, db *state.DB, p state.Project, o TierOptions) (*tierRun, error) {
	if err := o.Policy.Check(); err != nil {
		return nil, err
	}
	a := &tierRun{m: db, p: p, o: o, now: db.Opts.Now()}
	var err error
	if a.st, err = trust.State(ctx, a.m, a.p.ID); err != nil {
		return nil, err
	}
	known := capture.KnownTokens(a.m, a.p.ID)
	versions := map[string][]planning.Version{}
	for _, v := range a.st.Versions {
		s := a.st.Session(v.Session)
		if s == nil {
			continue
		}
		versions[v.Session] = append(versions[v.Session], planning.Version{
			ID: v.ID.String(), Preset: v.Settings.Preset, Asked: v.Asked(), Hidden: v.Deleted || v.Revoked != "",
			Free:    planning.IsExtract(v.Engine),
			Current: v.Origin() == s.Now().Original && v.Whole() && v.Source == "", Used: len(a.st.UsedBy(v)) > 0,
		})
	}
	for _, s := range a.st.Sessions {
		now := s.Now()
		if !s.Shown() || s.Parent() != "" || now.Scan.Last.IsZero() || now.Scan.Messages == 0 {
			continue
		}
		n := markers.Estimate(a.m, now, known)
		a.sessions = append(a.sessions, planning.Session{ID: s.ID, End: now.Ended(), Accessed: s.Accessed(), Tokens: n,
			Versions: versions[s.ID]})
	}
	a.plan = planning.Decide(a.o.Policy, a.sessions, a.now)
	return a, nil
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

// run makes what is due and hides what is superseded, in one commit. If the context ends, the versions that were made are
// committed.
func (a *tierRun) run(ctx context.Context) (out TierResult, err error) {
	stage, err := a.m.Refs.Stage(ctx)
	if err != nil {
		return out, err
	}
	defer stage.Close()
	todo := a.plan.Compress
	if most := a.o.MaxVersions; most > 0 && len(todo) > most {
		todo, out.Deferred = todo[:most], len(todo)-most
	}
	var made aged
	if made.versions, err = a.compressAll(ctx, stage, todo, &out); err != nil {
		return out, err
	}
	if out.Deferred == 0 && ctx.Err() == nil {
		if made.summaries, err = a.summariseAll(ctx, stage, &out); err != nil {
			return out, err
		}
		a.hide(&made, &out)
	}
	if !a.o.DryRun {
		err = a.commit(context.WithoutCancel(ctx), stage, made, &out)
	}
	return out, errors.Join(ctx.Err(), err)
}

// aged is what one run makes and hides.
type aged struct {
	versions  []CompressResult // of the entries of TierResult.Compressed
	summaries []*records.Composition
	hide      []planning.Hiding // versions; the ID of a new one is its preset after [planning.Unmade]
	over      []string          // weekly summaries
}

// compressAll makes the versions that are due and stages them. The error is one of the store; others are added to the result.
func (a *tierRun) compressAll(ctx context.Context, stage *refs.Stage, todo []planning.Compression, out *TierResult) (made []CompressResult, err error) {
	for i, c := range todo {
		if ctx.Err() != nil {
			return made, nil
		}
		if a.o.Progress != nil {
			a.o.Progress(i, len(todo))
		}
		v := TierVersion{Session: a.st.Session(c.Session), Preset: c.Preset, Why: c.Why}
		var one CompressResult
		if !a.planOnly {
			var bodies [][]byte
			one, bodies, err = a.compress(ctx, v)
			switch {
			case errors.Is(err, planning.ErrEmpty) || err != nil && ctx.Err() != nil:
				continue // nothing to compress: it stays as it is
			case err != nil:
				out.Failed = append(out.Failed, fmt.Errorf("compress %s: %w", records.ShortID(c.Session), err))
				continue
			}
			for _, b := range bodies {
				if _, err := stage.Put(b); err != nil {
					return made, err
				}
			}
			v.Label, v.Tokens = one.Version.Label, one.Version.TokensOut
		}
		out.Compressed, made = append(out.Compressed, v), append(made, one)
	}
	return made, nil
}

// compress makes a version that is due, in the size of its markers if they need more than its preset gives.
func (a *tierRun) compress(ctx context.Context, v TierVersion) (CompressResult, [][]byte, error) {
	s := v.Session
	settings := planning.Settings{Preset: v.Preset, Decay: a.o.Decay}
	for {
		made, bodies, err := makeVersion(ctx, a.m, a.st, state.Rev{Kind: state.IsSession, Project: a.p, Session: s},
			trust.Basis{Point: s.Now(), Input: s.Now().Original, Purpose: records.ForTier}, settings, a.o.DryRun)
		var pins *planning.PinError
		if !errors.As(err, &pins) || pins.Need <= settings.Tokens {
			return made, bodies, err
		}
		settings.Tokens = pins.Need
	}
}

// summariseAll makes the summaries that are due and stages them.
func (a *tierRun) summariseAll(ctx context.Context, stage *refs.Stage, out *TierResult) (made []*records.Composition, err error) {
	for _, due := range a.plan.Due {
		t, c, err := a.summarise(ctx, stage, due)
		switch {
		case ctx.Err() != nil:
			return made, ctx.Err()
		case err != nil:
			out.Failed = append(out.Failed, fmt.Errorf("%s: %w", due.Label(), err))
		case t != nil:
			out.Summaries, made = append(out.Summaries, *t), append(made, c)
		}
	}
	return made, nil
}

// hide adds what is superseded. A weekly summary stays while the monthly one that replaces it is missing, and so do the
// versions of a session of which a new one could not be made.
func (a *tierRun) hide(made *aged, out *TierResult) {
	labels := map[string]string{}
	for _, v := range a.st.Versions {
		labels[v.ID.String()] = v.Label
	}
	lacks := map[string]bool{}
	for _, c := range a.plan.Compress {
		lacks[c.Session] = lacks[c.Session] || !slices.ContainsFunc(out.Compressed,
			func(v TierVersion) bool { return v.Session.ID == c.Session && v.Preset == c.Preset })
	}
	for _, h := range a.plan.Hide {
		if lacks[h.Session] {
			continue
		}
		label := cmp.Or(labels[h.Version], strings.TrimPrefix(h.Version, planning.Unmade))
		made.hide, out.Hidden = append(made.hide, h), append(out.Hidden, records.ShortID(h.Session)+":"+label)
	}
	for _, label := range a.plan.Over {
		if c := a.st.Composition(label); c != nil && c.Tier == string(planning.Weekly) && len(out.Failed) == 0 {
			made.over, out.Hidden = append(made.over, label), append(out.Hidden, label)
		}
	}
}

// commit stores what was made and hides what is superseded, without what another process has done meanwhile.
func (a *tierRun) commit(ctx context.Context, stage *refs.Stage, made aged, out *TierResult) error {
	if len(made.versions)+len(made.summaries)+len(made.hide)+len(made.over) == 0 {
		return nil
	}
	return a.m.Refs.Update(ctx, a.p.ID, "tier", func(tx *refs.Tx) error {
		st, err := a.m.Fold(ctx, tx, a.p.ID)
		if err != nil {
			return err
		}
		summaries, _ := st.LackingOf(made.summaries, nil)
		there := func(c CompressResult) int { // also if it is hidden already
			return slices.IndexFunc(st.Versions, func(v *records.Version) bool { return v.Key == c.Version.Derivation.Key() })
		}
		if len(summaries) > 0 || slices.ContainsFunc(made.versions, func(c CompressResult) bool { return there(c) < 0 }) {
			if err := tx.Adopt(stage); err != nil {
				return err
			}
		}
		fresh, versions := map[planning.Hiding]*records.Version{}, 0
		for i, c := range made.versions {
			v := c.Version
			if k := there(c); k >= 0 {
				v = st.Versions[k]
			} else {
				v.Label = st.NextLabel(c.Session.ID, a.m.Refs.Device().ID)
				if err := addVersion(ctx, tx, c); err != nil {
					return err
				}
				st.Versions = append(slices.Clip(st.Versions), v) // reserves the label
				versions++
			}
			out.Compressed[i].Label = v.Label
			fresh[planning.Hiding{Session: c.Session.ID, Version: planning.Unmade + out.Compressed[i].Preset}] = v
		}
		for _, c := range summaries {
			if err := originals.CheckParts(ctx, a.m, tx, c); err != nil {
				return err
			}
			if _, err := tx.Add(records.KindComposition, c); err != nil {
				return err
			}
		}
		var sets []records.SetBody
		for i, h := range made.hide {
			id := h.Version
			if v := fresh[h]; v != nil {
				id, out.Hidden[i] = v.ID.String(), records.ShortID(h.Session)+":"+v.Label
			}
			sets = append(sets, records.SetBody{Target: "version/" + id, Field: "deleted", Value: true})
		}
		for _, label := range made.over {
			sets = append(sets, records.SetBody{Target: "composition/" + label, Field: "deleted", Value: true})
		}
		_, sets = st.LackingOf(nil, sets)
		for _, b := range sets {
			if _, err := tx.Add(records.KindSet, b); err != nil {
				return err
			}
		}
		if versions+len(summaries)+len(sets) == 0 {
			return nil
		}
		tx.Trailer("Op", "tier")
		tx.Subject(fmt.Sprintf("tier  %s, %s, %d hidden", records.Numbered(versions, "version", "versions"),
			records.Numbered(len(summaries), "summary", "summaries"), len(sets)))
		return nil
	})
}

// A TierState is the tier of a session.
type TierState struct {
	Session *state.Session
	Tier    planning.Age
	Period  planning.Period
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
		case planning.Weekly:
			x.Period = planning.Week(s.End)
		case planning.Monthly:
			x.Period = planning.Month(s.End)
		}
		for _, label := range []string{planning.Week(s.End).Label(), planning.Month(s.End).Label()} {
			if c := a.st.Composition(label); c != nil && c.Tier == string(x.Tier) {
				x.Summary = label
			}
		}
		if x.Summary == "" && x.Tier == planning.Monthly { // its month is not over or not summarised
			if c := a.st.Composition(planning.Week(s.End).Label()); c != nil && c.Tier == string(planning.Weekly) {
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
