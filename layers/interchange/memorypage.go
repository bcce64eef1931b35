package interchange

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/tokens"
)

// A Session is a session in the
type Session struct {
	ID     string
	Name   string // short
	Title  string
	Branch string
	Last   time.Time
}

// Project is the input of the
type Project struct {
	Name       string
	Facts      *facts.Set
	Concepts   *concepts.Set
	Rules      *permanent.Set
	Sessions   []Session // the newest first
	Label      func(*concepts.Concept) string
	Unassessed int // statements about facts since the last reflection
}

// live returns the live facts with a trust above tool that may be shown, the newest first.
func (p *Project) live(kinds ...facts.Kind) []facts.Fact {
	var out []facts.Fact
	for f := range p.Facts.All() {
		if f.Live() && f.Shown() != "" && f.Trust >= facts.Assistant && slices.Contains(kinds, f.Kind) {
			out = append(out, *f)
		}
	}
	slices.SortFunc(out, func(a, b facts.Fact) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.ID, b.ID)) })
	return out
}

// rules returns the rules in force, those that the user stated first.
func (p *Project) rules() []*permanent.Rule {
	out := p.Rules.InForce()
	slices.SortStableFunc(out, func(a, b *permanent.Rule) int {
		return cmp.Or(cmp.Compare(b.Trust, a.Trust), cmp.Compare(b.Confidence, a.Confidence), a.Created.Compare(b.Created),
			cmp.Compare(a.ID, b.ID))
	})
	return out
}

// updated returns the time of the last change.
func (p *Project) updated() time.Time {
	times := []time.Time{{}}
	for i := range p.Facts.Exchanges {
		times = append(times, p.Facts.Exchanges[i].Time)
	}
	for _, c := range p.Concepts.Concepts {
		times = append(times, c.Updated)
	}
	for _, r := range p.Rules.Rules {
		times = append(times, r.LastValidated)
	}
	for _, s := range p.Sessions {
		times = append(times, s.Last)
	}
	return slices.MaxFunc(times, time.Time.Compare)
}

// The sections of memory.md, in their order.
const (
	decisions = iota // of memory.md
	current
	recent
	issues
	sections
)

// A line is an item of memory.md.
type line struct {
	section int
	rank    int // the lowest are included first
	text    string
}

// A Page is memory.md.
type Page struct {
	Text    string
	Tokens  int
	Omitted int // number of items that did not fit
	Counter string
}

// maxItem is the maximum length of an item in characters.
const maxItem = 300

// Memory returns memory.md, at most budget tokens long if budget is not 0. The error wraps [ErrBudget] if not even its
// headings fit.
func Memory(p *Project, budget int, c tokens.Counter) (Page, error) {
	items := p.lines()
	order := make([]int, len(items))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(items[a].rank, items[b].rank) })
	shown := make([]bool, len(items))
	page := func() Page {
		text, left := p.page(items, shown)
		return Page{text, c.Count(text), left, c.ID()}
	}
	if budget == 0 {
		for i := range shown {
			shown[i] = true
		}
		return page(), nil
	}
	out := page()
	if out.Tokens > budget {
		return out, fmt.Errorf("%w: %d tokens", ErrBudget, out.Tokens)
	}
	spent := out.Tokens
	var taken []int
	for _, i := range order {
		if n := c.Count("- " + items[i].text + "\n"); spent+n <= budget {
			spent, shown[i], taken = spent+n, true, append(taken, i)
		}
	}
	out = page()
	for out.Tokens > budget { // the sum of the counts may be less than the count of the whole
		last := taken[len(taken)-1]
		shown[last], taken = false, taken[:len(taken)-1]
		out = page()
	}
	return out, nil
}

// ErrBudget means that a budget is too small for any memory.md.
var ErrBudget = errors.New("not even the headings of memory.md fit")

// page writes the shown items under their headings.
func (p *Project) page(items []line, shown []bool) (text string, left int) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Project Memory: %s\n", brief.Plain(p.Name, 80))
	for section, title := range [sections]string{"Core Decisions", "Current State", "Recent Context", "Known Issues"} {
		fmt.Fprintf(&b, "\n## %s\n", title)
		n, gone := 0, 0
		for i, it := range items {
			switch {
			case it.section != section:
			case shown[i]:
				fmt.Fprintf(&b, "- %s\n", it.text)
				n++
			default:
				gone++
			}
		}
		switch {
		case gone > 0:
			fmt.Fprintf(&b, "- (%d more)\n", gone)
		case n == 0:
			b.WriteString("- none\n")
		}
		left += gone
	}
	return b.String(), left
}

// lines returns all items. Each kind has its own ranks: rules and open items precede the past, and some items of each
// kind precede more of any.
func (p *Project) lines() []line {
	var out []line
	put := func(section, rank int, format string, args ...any) {
		out = append(out, line{section, rank, brief.Plain(fmt.Sprintf(format, args...), maxItem)})
	}
	for i, r := range p.rules() {
		review := ""
		if r.State == permanent.Review {
			review = ", under review"
		}
		put(decisions, 2*i, "%s (%s, %s%s)", ruleText(r), r.ID, r.Trust, review)
	}
	for i, f := range p.live(facts.Decision, facts.Preference) {
		if !p.coveredByRule(f) {
			put(decisions, 20+4*i, "%s%s (%s)", dated(f.Time), f.Shown(), f.ID)
		}
	}
	if f, v := p.version(); v != "" {
		put(current, 4, "Version: %s (%s)", v, f.ID)
	}
	if len(p.Sessions) > 0 {
		now := p.Sessions[0]
		put(current, 1, "Status: %s", cmp.Or(p.summary(now.ID), now.Title, "no summary yet"))
		if now.Branch != "" {
			put(current, 8, "Branch: %s", now.Branch)
		}
	}
	if last := p.updated(); !last.IsZero() {
		put(current, 5, "Last updated: %s", last.UTC().Format(time.RFC3339))
	}
	for i, s := range p.Sessions {
		if text := cmp.Or(p.summary(s.ID), s.Title); text != "" {
			put(recent, 6+3*i, "%s%s (%s)", dated(s.Last), text, s.Name)
		}
	}
	open := slices.DeleteFunc(p.live(facts.Issue), func(f facts.Fact) bool { return !f.Open() })
	for i, f := range facts.Distinct(open) {
		put(issues, 3+2*i, "%s%s (%s)", dated(f.Time), f.Shown(), f.ID)
	}
	return out
}

// date returns the day of a time, "" if it is unknown.
func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// dated returns the start of an item with a time, "" if the time is unknown.
func dated(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return date(t) + ": "
}

// coveredByRule reports whether a rule in force is based on the fact, so that the fact need not be repeated.
func (p *Project) coveredByRule(f facts.Fact) bool {
	return slices.ContainsFunc(p.Rules.Rules, func(r *permanent.Rule) bool {
		return r.InForce() && slices.Contains(r.Evidence, f.ID)
	})
}

// summary returns the subjects of the last exchanges of a session.
func (p *Project) summary(session string) string {
	const most = 3
	var parts []string
	for _, x := range p.Facts.LiveExchanges(session) {
		trusted := len(x.Facts) == 0 || slices.ContainsFunc(x.Facts, func(f facts.Fact) bool {
			return f.Trust >= facts.Assistant
		})
		summary := x.Summary
		if x.Verdict != facts.Verified {
			summary = "" // nobody checked it
		}
		if text := strings.TrimRight(strings.TrimSpace(cmp.Or(summary, x.Topic)), "."); text != "" && trusted &&
			x.Revoked == "" && !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts[max(0, len(parts)-most):], "; ")
}

var versionWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:versions?|releas\w*|bump\w*|tag\w*)\b[^.;]*?\bv?(\d+\.\d+\.\d+(?:-[0-9a-z.]+)?)\b`)
})

// version returns the newest version of the project that a fact mentions.
func (p *Project) version() (facts.Fact, string) {
	for _, f := range p.live(facts.Action, facts.Decision) {
		if m := versionWords().FindAllStringSubmatch(f.Shown(), -1); m != nil {
			return f, m[len(m)-1][1]
		}
	}
	return facts.Fact{}, ""
}
