package interchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/objects"
)

// Hundredths is a number with two decimals.
type Hundredths int

// MarshalJSON writes 95 as 0.95.
func (n Hundredths) MarshalJSON() ([]byte, error) {
	s := fmt.Sprintf("%d.%02d", n/100, n%100)
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// formatVersion is the version of the format of facts.json.
const formatVersion = 3

// Facts returns facts.json. Unlike memory.md it contains all live facts, with any trust.
func Facts(p *Project) objects.Object {
	words, reason := map[string][]string{}, map[string]string{} // words lead to concepts and exchanges
	exchanges, count := 0, 0
	for i := range p.Facts.Exchanges {
		x := &p.Facts.Exchanges[i]
		if x.Revoked != "" {
			continue
		}
		exchanges++
		if x.Verdict == facts.Verified {
			reason[x.ID] = x.Summary
		}
		for _, w := range x.Keywords {
			words[w] = append(words[w], x.ID)
		}
	}
	for _, c := range p.concepts() {
		for _, w := range c.Keywords {
			words[w] = slices.Insert(words[w], 0, p.Label(c))
		}
	}
	decisions, patterns, issues := []objects.Object{}, []objects.Object{}, []objects.Object{}
	for x := range p.Facts.All() {
		if !x.Live() {
			continue
		}
		count++
		entry := objects.Object{"id", x.ID, "date", date(x.Time), "content", content(x)}
		switch {
		case x.Kind == facts.Decision: // the reason as stated, or else the verified summary of the exchange
			decisions = append(decisions, append(entry, "reason", cmp.Or(x.Reason, reason[x.Exchange]), "session", x.Session))
		case x.Kind == facts.Preference:
			patterns = append(patterns, entry)
		case x.Kind == facts.Issue && x.Resolved:
			issues = append(issues, append(entry, "status", "resolved", "resolution", x.Resolution))
		case x.Kind == facts.Issue:
			issues = append(issues, append(entry, "status", "open", "resolution", ""))
		}
	}
	return objects.Object{
		"_meta", objects.Object{"counter", p.Unassessed, "version", formatVersion}, // statements about facts since the last reflection
		"keywords", words, "permanent", p.permanent(), "decisions", decisions, "patterns", patterns, "issues", issues,
		"stats", objects.Object{"total_exchanges", exchanges, "total_concepts", len(p.concepts()), "total_facts", count,
			"total_rules", len(p.rules()), "total_sessions", len(p.Sessions), "last_updated", date(p.updated())},
	}
}

// content returns a fact as it may be told; one without a quote is the word of its author.
func content(x *facts.Fact) string { return cmp.Or(x.Shown(), x.Text) }

// permanent returns the rules by type, each with its trust and state.
func (p *Project) permanent() objects.Object {
	rules, solutions, core := []objects.Object{}, []objects.Object{}, []objects.Object{}
	for _, r := range p.rules() {
		status := objects.Object{"source", r.Trust.String(), "confidence", Hundredths(r.Confidence), "contradictions", r.Contradictions,
			"last_validated", date(r.LastValidated), "state", r.State, "evidence", orEmpty(r.Evidence)}
		switch r.Type {
		case permanent.TypeSolution:
			solutions = append(solutions, append(objects.Object{"id", r.ID, "problem", r.Problem, "solution", r.Text,
				"attempts", p.attempts(r)}, status...))
		case permanent.TypeCoreLogic:
			core = append(core, append(objects.Object{"id", r.ID, "feature", r.Problem, "description", r.Text,
				"files", orEmpty(r.Files)}, status...))
		default:
			rules = append(rules, append(objects.Object{"id", r.ID, "content", r.Text, "files", orEmpty(r.Files)}, status...))
		}
	}
	return objects.Object{"rules", rules, "solutions", solutions, "core_logic", core}
}

// orEmpty returns list, or an empty list for nil, which JSON would write as null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// attempts counts the exchanges in the evidence of a rule.
func (p *Project) attempts(r *permanent.Rule) int {
	seen := map[string]bool{}
	for _, id := range r.Evidence {
		if x, ok := p.Facts.Fact(id); ok {
			seen[x.Exchange] = true
		}
	}
	return len(seen)
}

// concepts returns the live concepts.
func (p *Project) concepts() []*concepts.Concept {
	return p.Concepts.Live()
}

// Concepts returns concepts.json. A concept without a summary gets the summaries of its newest exchanges.
func Concepts(p *Project) objects.Object {
	list := []objects.Object{}
	summary := map[string]string{}
	for i := range p.Facts.Exchanges {
		x := &p.Facts.Exchanges[i]
		if x.Revoked != "" {
			continue
		}
		summary[x.ID] = strings.TrimRight(strings.TrimSpace(x.Summary), ".")
	}
	for _, c := range p.concepts() {
		text := c.Summary
		if c.Doubt != "" {
			text = ""
		}
		if text == "" {
			var parts []string
			for _, id := range c.Exchanges[max(0, len(c.Exchanges)-3):] {
				if s := summary[id]; s != "" && !slices.Contains(parts, s) {
					parts = append(parts, s)
				}
			}
			text = strings.Join(parts, "; ")
		}
		list = append(list, objects.Object{"id", p.Label(c), "name", c.Name, "topic", c.Topic, "summary", text,
			"exchanges", orEmpty(c.Exchanges), "sessions", orEmpty(c.Sessions), "files", orEmpty(c.Files),
			"keywords", orEmpty(c.Keywords), "updated", date(c.Updated)})
	}
	next := 0
	fmt.Sscanf(p.Concepts.LabelAfter(0), "c%d", &next)
	return objects.Object{"concepts", list, "nextId", next}
}
