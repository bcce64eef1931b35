package view

import (
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// A Fact is a fact with its evidence.
type Fact struct {
	facts.Fact
	Project string `json:"project,omitempty"` // with --all-projects
}

// FactOf returns a fact.
func FactOf(f facts.Fact) Fact { return Fact{Fact: f} }

// A Rule is a permanent rule.
type Rule struct {
	*permanent.Rule
	Confidence Weight `json:"confidence"`
	Project    string `json:"project,omitempty"` // with --all-projects
}

// RuleOf returns a rule.
func RuleOf(r *permanent.Rule) Rule {
	x := *r
	x.Files, x.Evidence = list(x.Files), list(x.Evidence)
	return Rule{Rule: &x, Confidence: Weight(r.Confidence)}
}

// A Concept is a concept with its members.
type Concept struct {
	*concepts.Concept
	As      string `json:"as,omitempty"`      // as it is typed on this device
	Project string `json:"project,omitempty"` // with --all-projects
}

// ConceptOf returns a concept that is typed as the label as.
func ConceptOf(c *concepts.Concept, as string) Concept {
	x := *c
	x.Sessions, x.Exchanges, x.Files, x.Keywords = list(x.Sessions), list(x.Exchanges), list(x.Files), list(x.Keywords)
	return Concept{Concept: &x, As: as}
}
