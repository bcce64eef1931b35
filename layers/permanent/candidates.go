package permanent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/claims"
	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/objects"
)

// What a candidate can be.
const (
	WasStated     = "stated"        // the user said that it is for ever
	WasDecided    = "decision"      // in three independent sessions
	WasSolved     = "solution"      // a problem and what solved it, in two
	WasHard       = "breakthrough"  // failure after failure, then success
	WasCore       = "core_logic"    // a change to what everything rests on
	WasContrary   = "contradiction" // a rule, and what speaks against it
	WasUnneeded   = "stale"         // a rule that nothing has spoken of for half a year
	minDecisions  = 3
	minSolutions  = 2
	minFailures   = 3
	minCore       = 3
	monthsToStale = 6
)

// A Candidate is something that may become a rule, or a rule that may have to go.
type Candidate struct {
	ID       string      `json:"id"` // p: and 8 digits; the same as long as the first of its evidence is
	Kind     string      `json:"kind"`
	Type     string      `json:"type"` // of the rule that it would be, or is
	Text     string      `json:"text"`
	Problem  string      `json:"problem,omitempty"`
	Why      string      `json:"why"`
	Rule     string      `json:"rule,omitempty"` // that it speaks of
	Stated   bool        `json:"stated,omitempty"`
	Trust    facts.Trust `json:"trust"`
	Files    []string    `json:"files"`
	Sessions []string    `json:"sessions"` // that bear witness, independent of each other
	Evidence []string    `json:"evidence"` // ids of facts
	Words    []Word      `json:"words,omitempty"`
	Newest   time.Time   `json:"newest"` // of its evidence

	keys []string // of the evidence
}

// Keys returns the keys of the facts that are its evidence.
func (c *Candidate) Keys() []string { return c.keys }

// A Trial is a command of a session that failed, was run again, and in the end went well.
type Trial struct {
	Session  string    `json:"session,omitempty"`
	Command  string    `json:"command"`
	Failures int       `json:"failures"`
	From     int       `json:"from"` // messages
	To       int       `json:"to"`
	Time     time.Time `json:"time,omitzero"`
}

// Input is what candidates are found in.
type Input struct {
	Facts    *facts.Set
	Concepts *concepts.Set
	Rules    *Set
	Words    []Word // sentences by which the user asked for something for ever
	Trials   []Trial
	Now      time.Time
	Trusted  func(device string) bool // nil trusts all

	// Family names the conversation that a session is of: forks, resumed copies and subagents are one with what they
	// came from, and together bear witness once.
	Family func(session string) string
}

// finder looks for candidates.
type finder struct {
	Input
	live  []facts.Fact        // that stand and were said by the user or the model
	words map[string][]string // of their texts, by id
	out   []Candidate
}

// Candidates returns what may be worth promoting or taking back, in the order of kinds, the best supported
// first. What was dismissed, or is a rule already, is not among it. Facts that only tools, files, the web,
// scripts or an echo vouch for, or a device that is not trusted, count for nothing.
func Candidates(in Input) []Candidate {
	f := &finder{Input: in, words: map[string][]string{}}
	for _, x := range in.Facts.Live() {
		if x.Trust >= facts.Assistant && (in.Trusted == nil || in.Trusted(x.Device)) {
			f.live = append(f.live, x)
			f.words[x.ID], _ = words(x.Text)
		}
	}
	f.stated()
	f.decided()
	f.solved()
	f.hard()
	f.core()
	f.contrary()
	f.stale()
	out := slices.DeleteFunc(f.out, f.settled)
	slices.SortStableFunc(out, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(rank(a.Kind), rank(b.Kind)), cmp.Compare(len(b.Sessions), len(a.Sessions)),
			b.Newest.Compare(a.Newest), cmp.Compare(a.ID, b.ID))
	})
	return slices.CompactFunc(out, func(a, b Candidate) bool { return a.ID == b.ID })
}

func rank(kind string) int {
	return slices.Index([]string{WasStated, WasDecided, WasSolved, WasHard, WasCore, WasContrary, WasUnneeded}, kind)
}

// settled reports whether a candidate needs nobody's word any more.
func (f *finder) settled(c Candidate) bool {
	if f.Rules.dismissed[c.ID] {
		return true
	}
	if c.Rule != "" {
		return false
	}
	mine, _ := words(c.Problem + " " + c.Text)
	for _, r := range f.Rules.Rules {
		common := 0
		for _, k := range c.keys {
			if slices.Contains(r.keys, k) {
				common++
			}
		}
		theirs, _ := words(r.Problem + " " + r.Text)
		if r.Candidate == c.ID || 2*common > len(c.keys) || r.State != Retired && len(mine) == len(theirs) &&
			shared(mine, theirs) == len(mine) {
			return true
		}
	}
	return false
}

// name returns the id of a candidate by what it is first of all about.
func name(kind string, about ...string) string {
	return "p:" + objects.Sum([]byte("mem candidate 1\n" + kind + "\n" + strings.Join(about, "\n"))).String()[:8]
}

// add adds a candidate that rests on facts.
func (f *finder) add(c Candidate, list []facts.Fact) {
	slices.SortFunc(list, earlier)
	c.Trust, c.Files, c.Evidence = facts.User, []string{}, []string{}
	for _, x := range list {
		c.Trust = min(c.Trust, x.Trust)
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
		c.Sessions = f.independent(list)
	}
	f.out = append(f.out, c)
}

// independent returns one session of each conversation that facts are of, in the order of the facts.
func (f *finder) independent(list []facts.Fact) []string {
	out, seen := []string{}, map[string]bool{}
	for _, x := range list {
		if family := f.family(x.Session); x.Session != "" && !seen[family] {
			seen[family] = true
			out = append(out, x.Session)
		}
	}
	return out
}

func (f *finder) family(session string) string {
	if f.Family == nil {
		return session
	}
	return f.Family(session)
}

func (f *finder) of(kinds ...facts.Kind) []facts.Fact {
	var out []facts.Fact
	for _, x := range f.live {
		if slices.Contains(kinds, x.Kind) {
			out = append(out, x)
		}
	}
	return out
}

// newest returns the fact that was established last.
func newest(list []facts.Fact) facts.Fact { return slices.MaxFunc(list, earlier) }

// stated proposes what the user asked for in so many words.
func (f *finder) stated() {
	at := map[string]int{}
	for _, w := range f.Words {
		key := squash(w.Quote)
		i, ok := at[key]
		if !ok {
			i = len(f.out)
			at[key] = i
			f.out = append(f.out, Candidate{
				ID: name(WasStated, key), Kind: WasStated, Type: IsRule, Text: w.Quote, Why: "the user asked for it", Stated: true,
				Trust: facts.User,
				Files: []string{}, Evidence: []string{}, Sessions: []string{},
			})
		}
		c := &f.out[i]
		c.Words = append(c.Words, w)
		if !slices.ContainsFunc(c.Sessions, func(s string) bool { return f.family(s) == f.family(w.Session) }) {
			c.Sessions = append(c.Sessions, w.Session)
		}
		if w.Time.After(c.Newest) {
			c.Newest = w.Time
		}
	}
}

// decided proposes what was decided, or wished for, in several conversations.
func (f *finder) decided() {
	for _, g := range grouped(f.of(facts.Decision, facts.Preference)) {
		if sessions := f.independent(g.facts); len(sessions) >= minDecisions {
			f.add(Candidate{
				ID: name(WasDecided, g.facts[0].Key().String()), Kind: WasDecided, Type: IsRule, Text: newest(g.facts).Text,
				Sessions: sessions,
				Why:      fmt.Sprintf("decided in %d sessions", len(sessions)),
			}, g.facts)
		}
	}
}

// problems groups the issues that were met, each with what solved it.
func (f *finder) problems() (groups []*group, solution map[string]facts.Fact) {
	solution = map[string]facts.Fact{}
	solutions := map[string][]facts.Fact{} // by exchange
	byID := map[string]facts.Fact{}
	for _, x := range f.of(facts.Solution) {
		solutions[x.Exchange], byID[x.ID] = append(solutions[x.Exchange], x), x
	}
	issues := f.of(facts.Issue)
	for _, x := range issues {
		if by, ok := byID[x.ResolvedBy]; ok {
			solution[x.ID] = by
			continue
		}
		best := -1 // of several solutions in the exchange the one with the most words of the issue
		for _, s := range solutions[x.Exchange] {
			if n := shared(f.words[x.ID], f.words[s.ID]); n > best {
				best, solution[x.ID] = n, s
			}
		}
	}
	return grouped(issues), solution
}

// solved proposes solutions of problems that came back in another conversation.
func (f *finder) solved() {
	groups, solution := f.problems()
	for _, g := range groups {
		var pairs, issues []facts.Fact
		for _, x := range g.facts {
			if s, ok := solution[x.ID]; ok {
				issues, pairs = append(issues, x), append(pairs, x, s)
			}
		}
		if sessions := f.independent(issues); len(sessions) >= minSolutions {
			last := newest(issues)
			f.add(Candidate{
				ID: name(WasSolved, g.facts[0].Key().String()), Kind: WasSolved, Type: IsSolution, Problem: last.Text,
				Text: solution[last.ID].Text, Sessions: sessions,
				Why: fmt.Sprintf("met and solved in %d sessions", len(sessions)),
			}, unique(pairs))
		}
	}
}

func unique(list []facts.Fact) []facts.Fact {
	slices.SortFunc(list, earlier)
	return slices.CompactFunc(list, func(a, b facts.Fact) bool { return a.ID == b.ID })
}

// hard proposes what ended a row of failures: of a command, or of an issue that several exchanges speak of.
func (f *finder) hard() {
	groups, solution := f.problems()
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
				ID: name(WasHard, g.facts[0].Key().String()), Kind: WasHard, Type: IsSolution, Problem: last.Text, Text: s.Text,
				Why: fmt.Sprintf("solved after %d attempts", len(tries)),
			}, unique(append(slices.Clone(g.facts), s)))
		}
	}
	for _, t := range f.Trials {
		if t.Failures < minFailures {
			continue
		}
		var list []facts.Fact
		text := ""
		for _, x := range f.of(facts.Solution, facts.Decision, facts.Action) {
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
			continue // nobody has written down what helped: nothing to keep yet
		}
		f.add(Candidate{
			ID: name(WasHard, t.Session, t.Command, fmt.Sprint(t.From)), Kind: WasHard, Type: IsSolution,
			Problem: t.Command + " fails",
			Text:    cmp.Or(text, newest(list).Text), Why: fmt.Sprintf("%s failed %d times, then went well", t.Command,
				t.Failures),
		}, list)
		last := &f.out[len(f.out)-1]
		last.Trust = min(last.Trust, facts.Assistant) // who wrote the command, which is the problem
	}
}

// core proposes decisions about the files that most conversations come back to.
func (f *finder) core() {
	by := map[string][]facts.Fact{}
	var files []string
	for _, x := range f.of(facts.Decision, facts.Action, facts.Solution) {
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
		sessions := f.independent(by[file])
		if len(sessions) < minCore {
			continue
		}
		decisions := slices.DeleteFunc(slices.Clone(by[file]), func(x facts.Fact) bool { return x.Kind != facts.Decision })
		if len(decisions) == 0 {
			continue
		}
		last := newest(decisions)
		if taken[last.ID] {
			continue
		}
		taken[last.ID] = true
		f.add(Candidate{
			ID: name(WasCore, last.Key().String()), Kind: WasCore, Type: IsCore, Text: last.Text, Problem: f.feature(last),
			Sessions: sessions,
			Why:      fmt.Sprintf("the newest decision about %s, which %d sessions changed", file, len(sessions)),
		}, []facts.Fact{last})
	}
}

// feature names what a fact is about: its concept, or else the topic of its exchange. Whoever gave the name may
// have had it from a file, and a rule would carry it: it counts only if facts in its place, said by the user or
// the model, bear its words.
func (f *finder) feature(x facts.Fact) string {
	name, said := "", []string{}
	in := func(o facts.Fact) bool { return o.Exchange == x.Exchange }
	if f.Concepts != nil {
		if c := f.Concepts.Of(x.Exchange, x.Session).Concept; c != nil {
			name = c.Name
			in = func(o facts.Fact) bool { return f.Concepts.Of(o.Exchange, o.Session).Concept == c }
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
	if !Bears(said, name) || len(claims.Missing(name, strings.Join(said, "\n"))) > 0 {
		return ""
	}
	return name
}

// contrary proposes to look at rules that later facts speak against.
func (f *finder) contrary() {
	for _, r := range f.Rules.In(Active) {
		mine, denies := words(r.Text)
		for i, id := range r.Evidence {
			x, ok := f.Facts.Fact(id)
			if !ok || x.Stands() || r.Against(r.keys[i]) {
				continue
			}
			f.against(r, x, "its evidence "+x.ID+" "+fate(x))
		}
		for _, x := range f.of(facts.Decision, facts.Preference, facts.Solution) {
			if !alike(mine, f.words[x.ID]) {
				continue
			}
			if _, no := words(x.Text); no != denies && x.Time.After(r.LastValidated) && !r.Against(x.Key().String()) {
				f.against(r, x, "a later "+string(x.Kind)+" says: "+x.Text)
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

func (f *finder) against(r *Rule, x facts.Fact, why string) {
	f.add(Candidate{
		ID: name(WasContrary, r.Record, x.Key().String()), Kind: WasContrary, Type: r.Type, Text: r.Text, Problem: r.Problem,
		Rule: r.ID, Stated: r.Stated, Why: why,
	}, []facts.Fact{x})
}

// stale proposes to look at rules that nothing has spoken of for long.
func (f *finder) stale() {
	limit := f.Now.AddDate(0, -monthsToStale, 0)
	for _, r := range f.Rules.In(Active, Review) {
		last := r.LastValidated
		mine, _ := words(r.Problem + " " + r.Text)
		for _, x := range f.live {
			if x.Time.After(last) && alike(mine, f.words[x.ID]) {
				last = x.Time
			}
		}
		if last.Before(limit) {
			f.out = append(f.out, Candidate{
				ID: name(WasUnneeded, r.Record, r.LastValidated.String()), Kind: WasUnneeded, Type: r.Type, Text: r.Text,
				Problem: r.Problem, Rule: r.ID, Stated: r.Stated,
				Trust: r.Trust, Why: "nothing has spoken of it since " + last.UTC().Format(time.DateOnly), Files: []string{},
				Sessions: []string{}, Evidence: []string{}, Newest: last,
			})
		}
	}
}
