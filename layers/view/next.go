package view

import (
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/knowledge"
)

// A Next is the context for the next session.
type Next struct {
	Text  string     `json:"text"`
	Units int        `json:"units"` // UTF-16 units of the text
	Hash  string     `json:"hash"`  // as mem log --handed shows it
	Lines []NextLine `json:"lines"`
}

// A NextLine is a line of a context with its source.
type NextLine struct {
	Section string   `json:"section"`
	Text    string   `json:"text"`
	Said    string   `json:"said,omitempty"`
	Source  string   `json:"source,omitempty"`
	Files   []string `json:"files,omitempty"`
	Why     string   `json:"why,omitempty"`
	Hash    string   `json:"hash"`
}

// NextOf returns a context.
func NextOf(g handover.Given) Next {
	out := Next{Text: g.Text, Units: g.Units, Hash: g.Hash, Lines: []NextLine{}}
	for i, t := range g.Told {
		l := g.Lines[i]
		out.Lines = append(out.Lines, NextLine{l.Section, t.Line, l.Said, l.Source, t.Keys, t.Why, l.Hash})
	}
	return out
}

// A Progress counts what the layers of a project lack.
type Progress struct {
	L1        int      `json:"sessionsWithoutL1"`
	L2        []string `json:"sessionsWithoutFacts"`
	L3        int      `json:"exchangesWithoutConcept"`
	L4        bool     `json:"reflectionDue"` // facts are newer than the last reflection
	Facts     int      `json:"facts"`
	Exchanges int      `json:"exchanges"`
	Rules     int      `json:"rules"`
	Reflected Time     `json:"reflectedAt,omitzero"`
}

// ProgressOf returns the progress of a project.
func ProgressOf(p knowledge.Progress) Progress {
	return Progress{p.L1, list(p.L2), p.L3, p.L4, p.Facts, p.Exchanges, p.Rules, Time{p.Reflected}}
}
