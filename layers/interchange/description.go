package interchange

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
)

// maxConceptFiles is the maximum number of files listed with a concept.
const maxConceptFiles = 5

// Description returns project.md: what the project is about and which rules it has. Unlike memory.md it contains only
// what outlasts the current work.
func Description(p *Project) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Project: %s\n\n%s\n", brief.Plain(p.Name, 80), p.extent())
	section := func(title string, items []string) {
		fmt.Fprintf(&b, "\n## %s\n", title)
		if len(items) == 0 {
			b.WriteString("- none\n")
		}
		for _, text := range items {
			fmt.Fprintf(&b, "- %s\n", brief.Plain(text, maxItem))
		}
	}
	var topics, logic, rules []string
	for _, c := range p.mainConcepts() {
		topics = append(topics, p.topic(c))
	}
	for _, r := range p.rules() {
		if text := fmt.Sprintf("%s (%s, %s)", ruleText(r), r.ID, r.Trust); r.Type == permanent.TypeCoreLogic {
			logic = append(logic, text)
		} else {
			rules = append(rules, text)
		}
	}
	section("Topics", topics)
	section("Core Logic", logic)
	section("Rules", rules)
	return b.String()
}

// extent returns the number of sessions, their days and the version of the project.
func (p *Project) extent() string {
	n := len(p.Sessions)
	if n == 0 {
		return "No sessions yet."
	}
	text := fmt.Sprintf("%d sessions", n)
	if n == 1 {
		text = "1 session"
	}
	switch first, last := date(p.Sessions[n-1].Last), date(p.Sessions[0].Last); {
	case n > 1 && first != "":
		text += ", " + first + " to " + last
	case last != "":
		text += ", " + last
	}
	text += "."
	if f, v := p.version(); v != "" {
		text += fmt.Sprintf(" Version %s (%s).", v, f.ID)
	}
	return text
}

// mainConcepts returns the concepts that are in force, those of the most sessions first.
func (p *Project) mainConcepts() []*concepts.Concept {
	out := p.concepts()
	slices.SortStableFunc(out, func(a, b *concepts.Concept) int {
		return cmp.Or(cmp.Compare(len(b.Sessions), len(a.Sessions)), b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// topic describes a concept in one line. A summary in doubt is left out.
func (p *Project) topic(c *concepts.Concept) string {
	about := cmp.Or(c.Summary, c.Topic)
	if c.Doubt != "" {
		about = c.Topic
	}
	text := c.Name
	if about != "" {
		text += ": " + strings.TrimRight(about, ".")
	}
	text += " (" + p.Label(c)
	if n := len(c.Files); n > 0 {
		text += "; " + strings.Join(c.Files[:min(n, maxConceptFiles)], ", ")
	}
	return text + ")"
}
