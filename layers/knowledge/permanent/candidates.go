package permanent

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/requests"
	"github.com/memvcs/mem/objects"
)

// The kinds of candidates, in the order in which they are shown.
const (
	CandidateStated        = "stated"        // the user asked for it
	CandidateCorrection    = "correction"    // the user corrected it in minCorrections sessions
	CandidateContradiction = "contradiction" // a rule and a fact of its evidence that is no longer true
	CandidateStale         = "stale"         // a rule that was not mentioned for monthsToStale months
)

func candidateKinds() []string {
	return []string{CandidateStated, CandidateCorrection, CandidateContradiction, CandidateStale}
}

// What the evidence of a rule needs that a reader proposes: independent sessions, two for the solution of a problem.
const (
	minDecisions  = 3
	minSolutions  = 2
	monthsToStale = 6
)

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

// Keys returns the keys of the facts in its evidence.
func (c *Candidate) Keys() []string { return c.keys }

// Input is the input of [Candidates].
type Input struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *Set
	Quotes   []Quote // requests of the user

	Corrections []Quote // of what the model did, by the user
	Now         time.Time

	// Family returns the conversation of a session: forks, resumed copies and subagents belong to their origin and
	// count once. Nil treats every session as its own conversation.
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
	if in.Family == nil {
		in.Family = func(session string) string { return session }
	}
	f := &finder{Input: in}
	f.fromStatements()
	f.fromCorrections()
	f.fromContradictions()
	f.fromStaleRules()
	out := slices.DeleteFunc(f.out, f.isSettled)
	kinds := candidateKinds()
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
		return slices.ContainsFunc(c.Quotes, func(o Quote) bool { return requests.Letters(o.Text) == requests.Letters(q.Text) })
	}
	return c.Rule == "" && slices.ContainsFunc(f.Rules.Rules, func(r *Rule) bool {
		return r.Candidate == c.ID || r.State != Retired && requests.Letters(r.Text) == requests.Letters(c.Text) || slices.ContainsFunc(r.Quotes, said)
	})
}

// candidateID returns the id of a candidate, derived from its kind and main subject.
func candidateID(kind string, about ...string) string {
	return "p:" + objects.Sum([]byte("mem candidate 1\n" + kind + "\n" + strings.Join(about, "\n"))).String()[:8]
}

// independentSessions returns one session of each conversation that facts come from, in the order of the facts.
func (f *finder) independentSessions(list []facts.Fact) []string {
	out, seen := []string{}, map[string]bool{}
	for _, x := range list {
		if family := f.Family(x.Session); x.Session != "" && !seen[family] {
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
		key := requests.Letters(q.Text)
		i, ok := at[key]
		if !ok {
			i = len(f.out)
			at[key] = i
			f.out = append(f.out, Candidate{
				ID: candidateID(CandidateStated, key), Kind: CandidateStated, Type: TypeRule, Text: q.Text,
				Why: "the user asked for it", Stated: true, Trust: facts.User,
				Files: []string{}, Evidence: []string{}, Sessions: []string{},
			})
		}
		f.quoted(&f.out[i], q)
	}
}

// about returns a candidate for a look at a rule.
func about(kind string, r *Rule, why string, subject ...string) Candidate {
	return Candidate{ID: candidateID(kind, append([]string{r.Record}, subject...)...), Kind: kind, Type: r.Type, Text: r.Text,
		Problem: r.Problem, Rule: r.ID, Stated: r.Stated, Trust: r.Trust, Why: why, Files: []string{}, Sessions: []string{},
		Evidence: []string{}}
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
		mine := requests.Terms(r.Problem + " " + r.Text)
		for x := range f.Facts.All() {
			if x.Time.After(last) && x.Live() && x.Trust >= facts.Assistant && requests.Similar(mine, requests.Terms(x.Text)) {
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
