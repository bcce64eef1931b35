package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A FactGroup contains recent facts of a concept, or about a file.
type FactGroup struct {
	Name  string       `json:"name"`
	Facts []facts.Fact `json:"facts"`
}

// maxRecent is the number of recent facts that a reflection looks at.
const maxRecent = 60

// recentFacts returns the newest facts that may be shown, by concept, or else by file; the largest group first.
func recentFacts(in permanent.Input) (out []FactGroup) {
	var list []facts.Fact
	for _, f := range in.Facts.Live() {
		if f.Trust >= facts.Assistant && f.Shown() != "" {
			list = append(list, f)
		}
	}
	slices.SortStableFunc(list, func(a, b facts.Fact) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	list = facts.Distinct(list)
	at := map[string]int{}
	for _, f := range list[:min(len(list), maxRecent)] {
		name := "others"
		if c := in.Concepts.MembershipOf(f.Exchange, f.Session).Concept; c != nil {
			name = "of " + c.Name
		} else if len(f.Files) > 0 {
			name = "about " + f.Files[0]
		}
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name], out = i, append(out, FactGroup{Name: name})
		}
		out[i].Facts = append(out[i].Facts, f)
	}
	slices.SortStableFunc(out, func(a, b FactGroup) int { return len(b.Facts) - len(a.Facts) })
	return out
}

// Candidates is the result of [Reflect].
type Candidates struct {
	Recent     []FactGroup
	Candidates []permanent.Candidate
	Facts      int       // valid facts
	Sessions   int       // searched sessions
	Last       time.Time // of the last reflection
}

// Reflect searches a project for candidates for new rules and for rules to review, with evidence newer than since. It
// changes no rule; unless dryRun is set, it records that a reflection took place.
func Reflect(ctx context.Context, db *state.DB, p state.Project, since time.Time, dryRun bool) (Candidates, error) {
	var out Candidates
	in, st, seen, err := reflectionInput(ctx, db, p.ID)
	if err != nil {
		return out, err
	}
	out.Candidates = permanent.Candidates(in)
	if !since.IsZero() {
		out.Candidates = slices.DeleteFunc(out.Candidates, func(c permanent.Candidate) bool {
			return c.Newest.Before(since) && c.Kind != permanent.CandidateStale
		})
	}
	out.Recent = recentFacts(in)
	out.Facts, out.Last = len(in.Facts.Live()), in.Rules.ReflectedAt
	out.Sessions = len(st.Recent())
	if dryRun || st.Name == "" { // the project is empty
		return out, nil
	}
	record := permanent.Reflection{Seen: seen, Candidates: len(out.Candidates)}
	return out, add(ctx, db, p.ID, fmt.Sprintf("reflect: %d candidates", len(out.Candidates)), permanent.KindReflect, record)
}

// reflectionInput gathers the input of [permanent.Candidates], with the project and the number of statements about facts.
func reflectionInput(ctx context.Context, db *state.DB, p refs.Project) (in permanent.Input, st *state.State, seen int, err error) {
	all, err := trust.Known(ctx, db, p)
	if err != nil {
		return in, st, 0, err
	}
	in = permanent.Input{Now: db.Opts.Now(), Facts: all.Facts, Concepts: all.Concepts, Rules: all.Rules}
	if st, err = trust.State(ctx, db, p); err != nil {
		return in, st, 0, err
	}
	in.Family = st.Families()
	for _, s := range st.Recent() {
		if err := ctx.Err(); err != nil {
			return in, st, 0, err
		}
		found, err := ruleEvidence(ctx, db, p, s)
		if err != nil {
			return in, st, 0, fmt.Errorf("search %s: %w", records.ShortID(s.ID), err)
		}
		if found, err = trust.WithoutRevoked(ctx, db, st, s, found); err != nil {
			return in, st, 0, err
		}
		in.Quotes, in.Corrections = append(in.Quotes, found.Words...), append(in.Corrections, found.Corrections...)
	}
	return in, st, all.Statements, nil
}

// evidenceVersion changes with the rules of recognition; results of another version in the cache are ignored.
const evidenceVersion = 6

// ruleEvidence returns what the user asked for and corrected in a session.
func ruleEvidence(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) (state.RuleEvidence, error) {
	now := s.Now()
	file := db.CachePath("signs", now.Original.String())
	var out state.RuleEvidence
	if state.ReadCache(file, refine.Version<<16|evidenceVersion, &out) {
		db.Touch(file)
		return s.OwnEvidence(out), nil
	}
	l1, err := originals.L1(ctx, db, p, now.Original, refine.Full)
	if err != nil {
		return out, err
	}
	defer l1.Close()
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return out, err
		}
		if !e.Typed() {
			continue
		}
		at, _ := time.Parse(time.RFC3339, e.TS) // zero if the message has no time
		for _, s := range permanent.FindRequests(e.Said) {
			out.Words = append(out.Words, permanent.Quote{Message: e.N, Text: s.Text, Time: at})
		}
		for _, s := range permanent.Corrections(e.Said) {
			out.Corrections = append(out.Corrections, permanent.Quote{Message: e.N, Text: s, Time: at})
		}
	}
	db.WriteCache(file, refine.Version<<16|evidenceVersion, &out)
	return s.OwnEvidence(out), nil
}
