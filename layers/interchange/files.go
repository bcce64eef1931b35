package interchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// Hundredths is a number with two decimals.
type Hundredths int

// MarshalJSON writes 95 as 0.95.
func (n Hundredths) MarshalJSON() ([]byte, error) {
	s := fmt.Sprintf("%d.%02d", n/100, n%100)
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// FactsFile is facts.json.
type FactsFile struct {
	Meta struct {
		Counter int `json:"counter"` // statements about facts since the last reflection
		Version int `json:"version"`
	} `json:"_meta"`
	Keywords  map[string][]string `json:"keywords"` // to concepts and exchanges
	Permanent struct {
		Rules     []RuleEntry     `json:"rules"`
		Solutions []SolutionEntry `json:"solutions"`
		CoreLogic []CoreEntry     `json:"core_logic"`
	} `json:"permanent"`
	Decisions []DecisionEntry `json:"decisions"`
	Patterns  []PatternEntry  `json:"patterns"`
	Issues    []IssueEntry    `json:"issues"`
	Stats     struct {
		Exchanges int    `json:"total_exchanges"`
		Concepts  int    `json:"total_concepts"`
		Facts     int    `json:"total_facts"`
		Rules     int    `json:"total_rules"`
		Sessions  int    `json:"total_sessions"`
		Updated   string `json:"last_updated"`
	} `json:"stats"`
}

// RuleStatus contains the trust and the state of a rule.
type RuleStatus struct {
	Source         string     `json:"source"` // user, assistant
	Confidence     Hundredths `json:"confidence"`
	Contradictions int        `json:"contradictions"`
	LastValidated  string     `json:"last_validated"`
	State          string     `json:"state"`
	Evidence       []string   `json:"evidence"`
}

// A RuleEntry is a rule in facts.json.
type RuleEntry struct {
	ID      string   `json:"id"`
	Content string   `json:"content"`
	Files   []string `json:"files"`
	RuleStatus
}

// A SolutionEntry is a solution in facts.json.
type SolutionEntry struct {
	ID       string `json:"id"`
	Problem  string `json:"problem"`
	Solution string `json:"solution"`
	Attempts int    `json:"attempts"` // exchanges about it
	RuleStatus
}

// A CoreEntry describes the core of the project in facts.json.
type CoreEntry struct {
	ID          string   `json:"id"`
	Feature     string   `json:"feature"`
	Description string   `json:"description"`
	Files       []string `json:"files"`
	RuleStatus
}

// A DecisionEntry is a decision in facts.json.
type DecisionEntry struct {
	ID      string `json:"id"`
	Date    string `json:"date"`
	Content string `json:"content"`
	Reason  string `json:"reason"` // as stated, or else the verified summary of the exchange
	Session string `json:"session"`
}

// A PatternEntry is a preference in facts.json.
type PatternEntry struct {
	ID      string `json:"id"`
	Date    string `json:"date"`
	Content string `json:"content"`
}

// An IssueEntry is an issue in facts.json.
type IssueEntry struct {
	ID         string `json:"id"`
	Date       string `json:"date"`
	Content    string `json:"content"`
	Status     string `json:"status"` // open, resolved
	Resolution string `json:"resolution"`
}

// formatVersion is the version of the format of facts.json.
const formatVersion = 3

// Facts returns facts.json. Unlike memory.md it contains all live facts, with any trust.
func Facts(p *Project) FactsFile {
	f := FactsFile{Keywords: map[string][]string{}, Decisions: []DecisionEntry{}, Patterns: []PatternEntry{},
		Issues: []IssueEntry{}}
	f.Meta.Version, f.Meta.Counter = formatVersion, p.Unassessed
	f.addRules(p)
	reason := map[string]string{}
	for i := range p.Facts.Exchanges {
		x := &p.Facts.Exchanges[i]
		if x.Revoked != "" {
			continue
		}
		f.Stats.Exchanges++
		if x.Verdict == facts.Verified {
			reason[x.ID] = x.Summary
		}
		for _, w := range x.Keywords {
			f.Keywords[w] = append(f.Keywords[w], x.ID)
		}
	}
	for _, c := range p.concepts() {
		for _, w := range c.Keywords {
			f.Keywords[w] = slices.Insert(f.Keywords[w], 0, p.Label(c))
		}
	}
	for x := range p.Facts.All() {
		if !x.Live() {
			continue
		}
		f.Stats.Facts++
		switch day := date(x.Time); x.Kind {
		case facts.Decision:
			f.Decisions = append(f.Decisions, DecisionEntry{x.ID, day, content(x), cmp.Or(x.Reason, reason[x.Exchange]),
				x.Session})
		case facts.Preference:
			f.Patterns = append(f.Patterns, PatternEntry{x.ID, day, content(x)})
		case facts.Issue:
			f.Issues = append(f.Issues, issueOf(x))
		}
	}
	f.Stats.Concepts, f.Stats.Sessions = len(p.concepts()), len(p.Sessions)
	f.Stats.Rules = len(p.rules())
	f.Stats.Updated = date(p.updated())
	return f
}

// content returns a fact as it may be told; one without a quote is the word of its author.
func content(x *facts.Fact) string { return cmp.Or(x.Shown(), x.Text) }

func issueOf(x *facts.Fact) IssueEntry {
	e := IssueEntry{ID: x.ID, Date: date(x.Time), Content: content(x), Status: "open"}
	if x.Resolved {
		e.Status, e.Resolution = "resolved", x.Resolution
	}
	return e
}

func (f *FactsFile) addRules(p *Project) {
	f.Permanent.Rules, f.Permanent.Solutions, f.Permanent.CoreLogic = []RuleEntry{}, []SolutionEntry{}, []CoreEntry{}
	for _, r := range p.rules() {
		v := RuleStatus{r.Trust.String(), Hundredths(r.Confidence), r.Contradictions, date(r.LastValidated), r.State,
			orEmpty(r.Evidence)}
		switch r.Type {
		case permanent.TypeSolution:
			f.Permanent.Solutions = append(f.Permanent.Solutions, SolutionEntry{r.ID, r.Problem, r.Text, p.attempts(r), v})
		case permanent.TypeCoreLogic:
			f.Permanent.CoreLogic = append(f.Permanent.CoreLogic, CoreEntry{r.ID, r.Problem, r.Text, orEmpty(r.Files), v})
		default:
			f.Permanent.Rules = append(f.Permanent.Rules, RuleEntry{r.ID, r.Text, orEmpty(r.Files), v})
		}
	}
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

// ConceptsFile is concepts.json.
type ConceptsFile struct {
	Concepts []ConceptEntry `json:"concepts"`
	NextID   int            `json:"nextId"`
}

// A ConceptEntry is a concept in concepts.json.
type ConceptEntry struct {
	ID        string   `json:"id"` // c001
	Name      string   `json:"name"`
	Topic     string   `json:"topic"`
	Summary   string   `json:"summary"`
	Exchanges []string `json:"exchanges"`
	Sessions  []string `json:"sessions"`
	Files     []string `json:"files"`
	Keywords  []string `json:"keywords"`
	Updated   string   `json:"updated"`
}

// concepts returns the live concepts.
func (p *Project) concepts() []*concepts.Concept {
	return p.Concepts.Live()
}

// Concepts returns concepts.json. A concept without a summary gets the summaries of its newest exchanges.
func Concepts(p *Project) ConceptsFile {
	out := ConceptsFile{Concepts: []ConceptEntry{}}
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
		out.Concepts = append(out.Concepts, ConceptEntry{p.Label(c), c.Name, c.Topic, text, orEmpty(c.Exchanges),
			orEmpty(c.Sessions), orEmpty(c.Files), orEmpty(c.Keywords), date(c.Updated)})
	}
	fmt.Sscanf(p.Concepts.LabelAfter(0), "c%d", &out.NextID)
	return out
}
