package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"io"
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

// ReflectionDue reports whether there are facts that no reflection has seen.
func ReflectionDue(ctx context.Context, db *state.DB, p refs.Project) (bool, error) {
	upper, err := db.Upper(ctx, p)
	if err != nil {
		return false, err
	}
	return ReflectionDueIn(upper)
}

// ReflectionDueIn is like [ReflectionDue] for records that are already loaded.
func ReflectionDueIn(upper []state.UpperRecord) (bool, error) {
	rules, err := permanent.Fold(state.Statements(upper), &facts.Set{}, nil)
	return err == nil && FactStatements(upper) > rules.Reflected, err
}

// FactStatements counts the records about facts. Records are only added, so there are new facts for a reflection if the
// number exceeds the largest that a reflection has seen, in any order of arrival.
func FactStatements(records []state.UpperRecord) int {
	n := 0
	for _, r := range records {
		if r.Kind == facts.KindExchange || r.Kind == facts.KindJudgement {
			n++
		}
	}
	return n
}

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
	upper, err := db.Upper(ctx, p.ID)
	if err != nil {
		return out, err
	}
	in, err := reflectionInput(ctx, db, p.ID, upper)
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
	st, err := trust.Outline(ctx, db, p.ID)
	if err != nil {
		return out, err
	}
	out.Sessions = len(st.Recent())
	if dryRun || st.Name == "" { // the project is empty
		return out, nil
	}
	seen := permanent.Reflection{Seen: FactStatements(upper), Candidates: len(out.Candidates)}
	return out, db.Refs.Update(ctx, p.ID, fmt.Sprintf("reflect: %d candidates", len(out.Candidates)),
		func(tx *refs.Tx) error {
			tx.Trailer("Op", "reflect")
			_, err := tx.Add(permanent.KindReflect, seen)
			return err
		})
}

// reflectionInput gathers the input of [permanent.Candidates].
func reflectionInput(ctx context.Context, db *state.DB, p refs.Project, upper []state.UpperRecord) (in permanent.Input,
	err error) {
	in.Now = db.Opts.Now()
	all, err := trust.Folded(ctx, db, p, upper)
	if err != nil {
		return in, err
	}
	in.Facts, in.Concepts, in.Rules = all.Facts, all.Concepts, all.Rules
	st, err := trust.State(ctx, db, p)
	if err != nil {
		return in, err
	}
	in.Family = st.Families()
	for _, s := range st.Recent() {
		if err := ctx.Err(); err != nil {
			return in, err
		}
		found, err := ruleEvidence(ctx, db, p, s)
		if err != nil {
			return in, fmt.Errorf("search %s: %w", records.ShortID(s.ID), err)
		}
		if found, err = trust.WithoutRevoked(ctx, db, st, s, found); err != nil {
			return in, err
		}
		in.Quotes, in.Corrections = append(in.Quotes, found.Words...), append(in.Corrections, found.Corrections...)
	}
	return in, nil
}

// evidenceVersion changes with the rules of recognition; results of another version in the cache are ignored.
const evidenceVersion = 5

func ruleEvidence(ctx context.Context, db *state.DB, p refs.Project, s *state.Session) (state.RuleEvidence, error) {
	now := s.Now()
	file := db.CachePath("signs", fmt.Sprintf("%s-%d-%d.json", now.Original, refine.Version, evidenceVersion))
	var out state.RuleEvidence
	if state.ReadCache(file, &out) {
		db.Touch(file)
		return s.OwnEvidence(out), nil
	}
	l1, err := originals.L1(ctx, db, p, now.Original, refine.Full)
	if err != nil {
		return out, err
	}
	defer l1.Close()
	if out, err = findRuleEvidence(l1); err != nil {
		return out, err
	}
	db.WriteCache(file, out)
	return s.OwnEvidence(out), nil
}

func findRuleEvidence(l1 io.Reader) (out state.RuleEvidence, err error) {
	for e, err := range refine.Entries(l1) {
		if err != nil {
			return out, err
		}
		if !e.Typed() {
			continue
		}
		at, _ := time.Parse(time.RFC3339, e.TS) // zero if the message has no time
		for _, s := range permanent.Requests(e.Said) {
			out.Words = append(out.Words, permanent.Quote{Message: e.N, Text: s.Text, Time: at})
		}
		for _, s := range permanent.Corrections(e.Said) {
			out.Corrections = append(out.Corrections, permanent.Quote{Message: e.N, Text: s, Time: at})
		}
	}
	return out, nil
}
