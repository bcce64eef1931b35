package permanent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/objects"
)

// The kinds of candidates, in the order in which they are shown.
const (
	CandidateStated        = "stated"        // the user asked for it
	CandidateCorrection    = "correction"    // the user corrected it in minCorrections sessions
	CandidateContradiction = "contradiction" // a rule and a fact of its evidence that is no longer true
	CandidateStale         = "stale"         // a rule that was not mentioned for monthsToStale months
)

// monthsToStale is the time after which a rule that is not mentioned is stale.
const monthsToStale = 6

// minSessions returns the number of independent sessions that the evidence of a rule needs that a reader proposes.
func minSessions(kind string) int {
	if kind == TypeSolution {
		return 2
	}
	return 3
}

// A Candidate is a proposal to add a rule in the user's words, or to review or remove one.
type Candidate struct {
	ID       string      `json:"id"` // p: and 8 digits; stays the same while the first quote or fact of its evidence does
	Kind     string      `json:"kind"`
	Type     string      `json:"type"` // of the proposed or existing rule
	Text     string      `json:"text"`
	Problem  string      `json:"problem,omitempty"`
	Why      string      `json:"why"`
	Rule     string      `json:"rule,omitempty"` // id of the existing rule
	Stated   bool        `json:"stated,omitempty"`
	Trust    facts.Trust `json:"trust"`
	Files    []string    `json:"files"`
	Sessions []string    `json:"sessions"` // that support it, independent of each other
	Evidence []string    `json:"evidence"` // ids of facts
	Quotes   []Quote     `json:"words,omitempty"`
	Newest   time.Time   `json:"newest"` // of its evidence

	keys []string // of the evidence
}

// Input is the input of [Candidates].
type Input struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *Set
	Quotes   []Quote // requests of the user

	Corrections []Quote // of what the model did, by the user
	Now         time.Time

	// Family returns the conversation of a session: forks, resumed copies and subagents belong to their origin and
	// count once.
	Family func(session string) string
}

// A finder collects candidates.
type finder struct {
	Input
	out []Candidate
}

// Candidates returns proposals to promote or review, ordered by kind and support. Dismissed candidates and existing
// rules are left out.
func Candidates(in Input) []Candidate {
	f := &finder{Input: in}
	f.fromStatements()
	f.fromCorrections()
	f.fromContradictions()
	f.fromStaleRules()
	out := slices.DeleteFunc(f.out, f.isSettled)
	kinds := []string{CandidateStated, CandidateCorrection, CandidateContradiction, CandidateStale}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(len(b.Sessions), len(a.Sessions)),
			b.Newest.Compare(a.Newest), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(out, func(a, b Candidate) bool { return a.ID == b.ID })
}

// isSettled reports whether a candidate was dismissed, or a rule has its words or one of its quotes.
func (f *finder) isSettled(c Candidate) bool {
	if f.Rules.dismissed[c.ID] {
		return true
	}
	said := func(q Quote) bool {
		return slices.ContainsFunc(c.Quotes, func(o Quote) bool { return letters(o.Text) == letters(q.Text) })
	}
	return c.Rule == "" && slices.ContainsFunc(f.Rules.Rules, func(r *Rule) bool {
		return r.Candidate == c.ID || r.State != Retired && letters(r.Text) == letters(c.Text) || slices.ContainsFunc(r.Quotes, said)
	})
}

// newCandidate returns a candidate for a rule of the user, without evidence. Its id is derived from its kind and main
// subject.
func newCandidate(kind, text string, about ...string) Candidate {
	id := "p:" + objects.Sum([]byte("mem candidate 1\n" + kind + "\n" + strings.Join(about, "\n"))).String()[:8]
	return Candidate{ID: id, Kind: kind, Type: TypeRule, Text: text, Trust: facts.User, Files: []string{}, Sessions: []string{},
		Evidence: []string{}}
}

// independentSessions returns one session of each conversation that facts come from, in the order of the facts.
func (in Input) independentSessions(list []facts.Fact) []string {
	out, seen := []string{}, map[string]bool{}
	for _, x := range list {
		if family := in.Family(x.Session); x.Session != "" && !seen[family] {
			seen[family] = true
			out = append(out, x.Session)
		}
	}
	return out
}

// quoted adds a quote to a candidate.
func (f *finder) quoted(c *Candidate, q Quote) {
	c.Quotes = append(c.Quotes, q)
	if !slices.ContainsFunc(c.Sessions, func(s string) bool { return f.Family(s) == f.Family(q.Session) }) {
		c.Sessions = append(c.Sessions, q.Session)
	}
	if q.Time.After(c.Newest) {
		c.Newest = q.Time
	}
}

// fromStatements proposes what the user asked for explicitly.
func (f *finder) fromStatements() {
	at := map[string]int{}
	for _, q := range f.Quotes {
		key := letters(q.Text)
		i, ok := at[key]
		if !ok {
			i = len(f.out)
			at[key] = i
			c := newCandidate(CandidateStated, q.Text, key)
			c.Why, c.Stated = "the user asked for it", true
			f.out = append(f.out, c)
		}
		f.quoted(&f.out[i], q)
	}
}

// about returns a candidate for a look at a rule.
func about(kind string, r *Rule, why string, subject ...string) Candidate {
	c := newCandidate(kind, r.Text, append([]string{r.Record}, subject...)...)
	c.Type, c.Problem, c.Rule, c.Stated, c.Trust, c.Why = r.Type, r.Problem, r.ID, r.Stated, r.Trust, why
	return c
}

// fromContradictions proposes a review of rules whose evidence fell. What else speaks against a rule, a reader sees.
func (f *finder) fromContradictions() {
	for _, r := range f.Rules.InState(Active) {
		for i, id := range r.Evidence {
			x, ok := f.Facts.Fact(id)
			if !ok || x.Live() || x.Trust < facts.Assistant || r.counted[r.keys[i]] {
				continue
			}
			c := about(CandidateContradiction, r, "its evidence "+x.ID+" "+fate(x), r.keys[i])
			c.Trust, c.Newest = wordTrust(x), x.Time
			c.Evidence, c.keys, c.Sessions = []string{x.ID}, []string{r.keys[i]}, f.independentSessions([]facts.Fact{x})
			f.out = append(f.out, c)
		}
	}
}

func fate(x facts.Fact) string {
	switch {
	case x.SupersededBy != "":
		return "was superseded by " + x.SupersededBy
	case x.Refuted:
		return "was refuted"
	case x.Verdict == facts.Rejected:
		return "was rejected"
	}
	return "was removed"
}

// fromStaleRules proposes a review of rules that were not mentioned for a long time.
func (f *finder) fromStaleRules() {
	limit := f.Now.AddDate(0, -monthsToStale, 0)
	for _, r := range f.Rules.InState(Active, Review) {
		last := r.LastValidated
		if !last.Before(limit) {
			continue
		}
		mine := Terms(r.Problem + " " + r.Text)
		for x := range f.Facts.All() {
			if x.Time.After(last) && x.Live() && x.Trust >= facts.Assistant && similar(mine, Terms(x.Text)) {
				last = x.Time
			}
		}
		if last.Before(limit) {
			c := about(CandidateStale, r, "not mentioned since "+last.UTC().Format(time.DateOnly), r.LastValidated.UTC().String())
			c.Newest = last
			f.out = append(f.out, c)
		}
	}
}
