package permanent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/claims"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/objects"
)

// The kinds of candidates, in the order in which they are shown.
const (
	CandidateStated        = "stated"        // the user asked for it
	CandidateCorrection    = "correction"    // the user corrected it in minCorrections sessions
	CandidateDecision      = "decision"      // made in minDecisions independent sessions
	CandidateSolution      = "solution"      // a problem and its solution, in minSolutions sessions
	CandidateBreakthrough  = "breakthrough"  // success after minFailures failures
	CandidateCoreLogic     = "core_logic"    // a change to a file that minCore sessions changed
	CandidateContradiction = "contradiction" // a rule and a fact that contradicts it
	CandidateStale         = "stale"         // a rule that was not mentioned for monthsToStale months
)

func candidateKinds() []string {
	return []string{CandidateStated, CandidateCorrection, CandidateDecision, CandidateSolution, CandidateBreakthrough, CandidateCoreLogic,
		CandidateContradiction, CandidateStale}
}

const (
	minDecisions  = 3
	minSolutions  = 2
	minFailures   = 3
	minCore       = 3
	monthsToStale = 6
)

// A Candidate is a proposal to add a rule, or to review or remove one.
type Candidate struct {
	ID       string      `json:"id"` // p: and 8 digits; stays the same while the first fact of its evidence does
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

// A Trial is a command of a session that failed, was repeated, and finally succeeded.
type Trial struct {
	Session  string    `json:"session,omitempty"`
	Command  string    `json:"command"`
	Failures int       `json:"failures"`
	From     int       `json:"from"` // first and last message
	To       int       `json:"to"`
	Time     time.Time `json:"time,omitzero"`
}

// Input is the input of [Candidates].
type Input struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *Set
	Quotes   []Quote // requests of the user

	Corrections []Quote // of what the model did, by the user
	Trials      []Trial
	Now         time.Time

	// Family returns the conversation of a session: forks, resumed copies and subagents belong to their origin and
	// count once. Nil treats every session as its own conversation.
	Family func(session string) string
}

// A finder collects candidates.
type finder struct {
	Input
	live  []facts.Fact        // valid facts from the user or the model
	words map[string][]string // of the texts of live, by id of the fact
	out   []Candidate
}

// Candidates returns proposals to promote or review, ordered by kind and support. Dismissed candidates and existing
// rules are left out. Facts that only tools, files, the web, scripts or an echo support are ignored.
func Candidates(in Input) []Candidate {
	if in.Family == nil {
		in.Family = func(session string) string { return session }
	}
	f := &finder{Input: in, words: map[string][]string{}}
	for _, x := range in.Facts.Live() {
		if x.Trust >= facts.Assistant {
			f.live = append(f.live, x)
			f.words[x.ID], _ = words(x.Text)
		}
	}
	f.fromStatements()
	f.fromCorrections()
	f.fromDecisions()
	issues, solution := f.problems()
	f.fromSolutions(issues, solution)
	f.fromBreakthroughs(issues, solution)
	f.fromTrials()
	f.fromCoreFiles()
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

// isSettled reports whether a candidate was dismissed or is a rule already.
func (f *finder) isSettled(c Candidate) bool {
	if f.Rules.dismissed[c.ID] {
		return true
	}
	if c.Rule != "" {
		return false
	}
	mine, denies := words(c.Problem + " " + c.Text)
	for _, r := range f.Rules.Rules {
		common := 0
		for _, k := range c.keys {
			if slices.Contains(r.keys, k) {
				common++
			}
		}
		theirs, no := words(r.Problem + " " + r.Text)
		same := squash(r.Text) == squash(c.Text) || len(mine) > 0 && no == denies && slices.Equal(mine, theirs)
		if r.Candidate == c.ID || 2*common > len(c.keys) || r.State != Retired && same {
			return true
		}
	}
	return false
}

// candidateID returns the id of a candidate, derived from its kind and main subject.
func candidateID(kind string, about ...string) string {
	return "p:" + objects.Sum([]byte("mem candidate 1\n" + kind + "\n" + strings.Join(about, "\n"))).String()[:8]
}

// add adds a candidate with facts as its evidence.
func (f *finder) add(c Candidate, list []facts.Fact) {
	slices.SortFunc(list, earlier)
	c.Trust, c.Files, c.Evidence = facts.User, []string{}, []string{}
	for _, x := range list {
		c.Trust = min(c.Trust, wordTrust(x))
		c.Evidence, c.keys = append(c.Evidence, x.ID), append(c.keys, x.Key().String())
		for _, file := range x.Files {
			if !slices.Contains(c.Files, file) {
				c.Files = append(c.Files, file)
			}
		}
		if x.Time.After(c.Newest) {
			c.Newest = x.Time
		}
	}
	if c.Sessions == nil {
		c.Sessions = f.independentSessions(list)
	}
	f.out = append(f.out, c)
}

// wordTrust returns who vouches for the words of a fact: the user only if they are the user's words, or confirmed.
func wordTrust(x facts.Fact) facts.Trust {
	t := x.StatementTrust()
	if t < facts.User || x.Confirmed {
		return t
	}
	var said []string
	for _, e := range x.Evidence {
		if e.By == "" || e.By == facts.ByUser.String() {
			said = append(said, e.Quote)
		}
	}
	if len(AddedWords(said, x.Text)) > 0 {
		return facts.Assistant
	}
	return t
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

func (f *finder) ofKind(kinds ...facts.Kind) []facts.Fact {
	var out []facts.Fact
	for _, x := range f.live {
		if slices.Contains(kinds, x.Kind) {
			out = append(out, x)
		}
	}
	return out
}

// newest returns the latest fact.
func newest(list []facts.Fact) facts.Fact { return slices.MaxFunc(list, earlier) }

// fromStatements proposes what the user asked for explicitly.
func (f *finder) fromStatements() {
	at := map[string]int{}
	for _, w := range f.Quotes {
		key := squash(w.Text)
		i, ok := at[key]
		if !ok {
			i = len(f.out)
			at[key] = i
			f.out = append(f.out, Candidate{
				ID: candidateID(CandidateStated, key), Kind: CandidateStated, Type: TypeRule, Text: w.Text,
				Why: "the user asked for it", Stated: true, Trust: facts.User,
				Files: []string{}, Evidence: []string{}, Sessions: []string{},
			})
		}
		c := &f.out[i]
		c.Quotes = append(c.Quotes, w)
		if !slices.ContainsFunc(c.Sessions, func(s string) bool { return f.Family(s) == f.Family(w.Session) }) {
			c.Sessions = append(c.Sessions, w.Session)
		}
		if w.Time.After(c.Newest) {
			c.Newest = w.Time
		}
	}
}

// fromDecisions proposes decisions and preferences of several conversations.
func (f *finder) fromDecisions() {
	for _, g := range grouped(f.ofKind(facts.Decision, facts.Preference)) {
		if sessions := f.independentSessions(g.facts); len(sessions) >= minDecisions {
			f.add(Candidate{
				ID: candidateID(CandidateDecision, g.facts[0].Key().String()), Kind: CandidateDecision,
				Type: TypeRule, Text: newest(g.facts).Text, Sessions: sessions,
				Why: fmt.Sprintf("decided in %d sessions", len(sessions)),
			}, g.facts)
		}
	}
}

// problems groups the issues and returns the solution of each solved issue, by id.
func (f *finder) problems() (groups []*group, solution map[string]facts.Fact) {
	solution = map[string]facts.Fact{}
	solutions := map[string][]facts.Fact{} // by exchange
	byID := map[string]facts.Fact{}
	for _, x := range f.ofKind(facts.Solution) {
		solutions[x.Exchange], byID[x.ID] = append(solutions[x.Exchange], x), x
	}
	issues := f.ofKind(facts.Issue)
	for _, x := range issues {
		if by, ok := byID[x.ResolvedBy]; ok {
			solution[x.ID] = by
			continue
		}
		best := -1 // the solution of the exchange with the most words of the issue wins
		for _, s := range solutions[x.Exchange] {
			if n := shared(f.words[x.ID], f.words[s.ID]); n > best {
				best, solution[x.ID] = n, s
			}
		}
	}
	return grouped(issues), solution
}

// fromSolutions proposes solutions of problems that came back in another conversation.
func (f *finder) fromSolutions(groups []*group, solution map[string]facts.Fact) {
	for _, g := range groups {
		var pairs, issues []facts.Fact
		for _, x := range g.facts {
			if s, ok := solution[x.ID]; ok {
				issues, pairs = append(issues, x), append(pairs, x, s)
			}
		}
		if sessions := f.independentSessions(issues); len(sessions) >= minSolutions {
			last := newest(issues)
			f.add(Candidate{
				ID: candidateID(CandidateSolution, g.facts[0].Key().String()), Kind: CandidateSolution,
				Type: TypeSolution, Problem: last.Text, Text: solution[last.ID].Text, Sessions: sessions,
				Why: fmt.Sprintf("met and solved in %d sessions", len(sessions)),
			}, unique(pairs))
		}
	}
}

func unique(list []facts.Fact) []facts.Fact {
	slices.SortFunc(list, earlier)
	return slices.CompactFunc(list, func(a, b facts.Fact) bool { return a.ID == b.ID })
}

// fromBreakthroughs proposes the solutions of issues that several exchanges mention.
func (f *finder) fromBreakthroughs(groups []*group, solution map[string]facts.Fact) {
	for _, g := range groups {
		tries := map[string]bool{}
		var last facts.Fact
		for _, x := range g.facts {
			tries[x.Exchange] = true
			if _, ok := solution[x.ID]; ok {
				last = x
			}
		}
		if s, ok := solution[last.ID]; ok && len(tries) >= minFailures {
			f.add(Candidate{
				ID: candidateID(CandidateBreakthrough, g.facts[0].Key().String()), Kind: CandidateBreakthrough,
				Type: TypeSolution, Problem: last.Text, Text: s.Text,
				Why: fmt.Sprintf("solved after %d attempts", len(tries)),
			}, unique(append(slices.Clone(g.facts), s)))
		}
	}
}

// fromTrials proposes what made a command succeed that had failed several times.
func (f *finder) fromTrials() {
	described := f.ofKind(facts.Solution, facts.Decision, facts.Action)
	for _, t := range f.Trials {
		if t.Failures < minFailures {
			continue
		}
		var list []facts.Fact
		text := ""
		for _, x := range described {
			if x.Session != t.Session || !slices.ContainsFunc(x.Evidence, func(e facts.Evidence) bool {
				return e.Message >= t.From && e.Message <= t.To
			}) {
				continue
			}
			list = append(list, x)
			if x.Kind == facts.Solution {
				text = x.Text
			}
		}
		if len(list) == 0 {
			continue // no fact describes the solution yet
		}
		f.add(Candidate{
			ID:   candidateID(CandidateBreakthrough, t.Session, t.Command, fmt.Sprint(t.From)),
			Kind: CandidateBreakthrough, Type: TypeSolution,
			Problem: t.Command + " fails", Text: cmp.Or(text, newest(list).Text),
			Why: fmt.Sprintf("%s failed %d times, then went well", t.Command, t.Failures),
		}, list)
		last := &f.out[len(f.out)-1]
		last.Trust = min(last.Trust, facts.Assistant) // the model wrote the command in Problem
	}
}

// fromCoreFiles proposes the newest decisions about the files that most conversations change.
func (f *finder) fromCoreFiles() {
	by := map[string][]facts.Fact{}
	var files []string
	for _, x := range f.ofKind(facts.Decision, facts.Action, facts.Solution) {
		for _, file := range x.Files {
			if by[file] == nil {
				files = append(files, file)
			}
			by[file] = append(by[file], x)
		}
	}
	slices.Sort(files)
	taken := map[string]bool{} // a decision about several files is one candidate
	for _, file := range files {
		sessions := f.independentSessions(by[file])
		if len(sessions) < minCore {
			continue
		}
		decisions := slices.DeleteFunc(slices.Clone(by[file]),
			func(x facts.Fact) bool { return x.Kind != facts.Decision })
		if len(decisions) == 0 {
			continue
		}
		last := newest(decisions)
		if taken[last.ID] {
			continue
		}
		taken[last.ID] = true
		f.add(Candidate{
			ID: candidateID(CandidateCoreLogic, last.Key().String()), Kind: CandidateCoreLogic, Type: TypeCoreLogic,
			Text: last.Text, Problem: f.feature(last), Sessions: sessions,
			Why: fmt.Sprintf("the newest decision about %s, which %d sessions changed", file, len(sessions)),
		}, []facts.Fact{last})
	}
}

// feature returns the name of a fact's concept, or else the topic of its exchange. The name may come from a file, so it
// is used only if facts from the user or the model, of the same concept or exchange, support its words.
func (f *finder) feature(x facts.Fact) string {
	name, said := "", []string{}
	in := func(o facts.Fact) bool { return o.Exchange == x.Exchange }
	if f.Concepts != nil {
		if c := f.Concepts.MembershipOf(x.Exchange, x.Session).Concept; c != nil {
			name = c.Name
			in = func(o facts.Fact) bool { return f.Concepts.MembershipOf(o.Exchange, o.Session).Concept == c }
		}
	}
	for i := range f.Facts.Exchanges {
		if e := &f.Facts.Exchanges[i]; name == "" && e.ID == x.Exchange {
			name = e.Topic
		}
	}
	for _, o := range f.live {
		if in(o) {
			said = append(said, o.Text)
		}
	}
	if !Supports(said, name) || len(claims.Missing(name, strings.Join(said, "\n"))) > 0 {
		return ""
	}
	return name
}

// fromContradictions proposes a review of rules that later facts contradict.
func (f *finder) fromContradictions() {
	for _, r := range f.Rules.InState(Active) {
		mine, denies := words(r.Text)
		for i, id := range r.Evidence {
			x, ok := f.Facts.Fact(id)
			if !ok || x.Live() || r.counted[r.keys[i]] {
				continue
			}
			f.addContradiction(r, x, "its evidence "+x.ID+" "+fate(x))
		}
		for _, x := range f.ofKind(facts.Decision, facts.Preference, facts.Solution) {
			if !similar(mine, f.words[x.ID]) {
				continue
			}
			if _, no := words(x.Text); no != denies && x.Time.After(r.LastValidated) && !r.counted[x.Key().String()] {
				f.addContradiction(r, x, "a later "+string(x.Kind)+" says: "+x.Text)
			}
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

func (f *finder) addContradiction(r *Rule, x facts.Fact, why string) {
	f.add(Candidate{
		ID: candidateID(CandidateContradiction, r.Record, x.Key().String()), Kind: CandidateContradiction,
		Type: r.Type, Text: r.Text, Problem: r.Problem, Rule: r.ID, Stated: r.Stated, Why: why,
	}, []facts.Fact{x})
}

// fromStaleRules proposes a review of rules that were not mentioned for a long time.
func (f *finder) fromStaleRules() {
	limit := f.Now.AddDate(0, -monthsToStale, 0)
	for _, r := range f.Rules.InState(Active, Review) {
		last := r.LastValidated
		mine, _ := words(r.Problem + " " + r.Text)
		for _, x := range f.live {
			if x.Time.After(last) && similar(mine, f.words[x.ID]) {
				last = x.Time
			}
		}
		if last.Before(limit) {
			f.out = append(f.out, Candidate{
				ID: candidateID(CandidateStale, r.Record, r.LastValidated.UTC().String()), Kind: CandidateStale,
				Type: r.Type, Text: r.Text, Problem: r.Problem, Rule: r.ID, Stated: r.Stated, Trust: r.Trust,
				Why: "not mentioned since " + last.UTC().Format(time.DateOnly), Newest: last,
				Files: []string{}, Sessions: []string{}, Evidence: []string{},
			})
		}
	}
}
