package view

import (
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
)

// A Blame has the lines of a version or composition with their sources.
type Blame struct {
	Name        string      `json:"name"`
	Hash        string      `json:"hash"`
	Lines       []BlameLine `json:"lines"`
	Content     int         `json:"contentLines"`
	Unsupported int         `json:"unsupportedLines"` // without a message that supports them
}

// A BlameLine is a line with its source.
type BlameLine struct {
	Line       int      `json:"line"`
	Text       string   `json:"text"`
	Frame      bool     `json:"frame,omitempty"` // a heading or a notice of mem
	Session    string   `json:"sessionId,omitempty"`
	Messages   [][2]int `json:"messages"`
	Role       string   `json:"role,omitempty"`
	Time       string   `json:"timestamp,omitempty"`
	Weight     *Weight  `json:"weight,omitempty"` // of the marker that contains the line
	Marker     string   `json:"markerId,omitempty"`
	Confidence int      `json:"confidence"`
	Supported  bool     `json:"supported"`
}

// BlameOf returns the lines of a revision.
func BlameOf(rev state.Rev, lines []provenance.BlameLine) Blame {
	out := Blame{Name: rev.Name(), Hash: rev.Hash.String(), Lines: []BlameLine{}}
	for _, l := range lines {
		x := BlameLine{Line: l.Line, Text: l.Text, Frame: l.Frame, Messages: list(l.Messages), Role: l.Role, Time: l.Time,
			Marker: l.Marker, Confidence: l.Confidence, Supported: l.Supported}
		if w, err := keepit.ParseWeight(l.Keep); err == nil {
			x.Weight = (*Weight)(&w)
		}
		if !l.Frame {
			out.Content++
			if !l.Supported {
				out.Unsupported++
			}
			if l.Session != nil {
				x.Session = l.Session.ID
			}
		}
		out.Lines = append(out.Lines, x)
	}
	return out
}

// A Comparison compares two texts.
type Comparison struct {
	A       ComparisonSide  `json:"a"`
	B       ComparisonSide  `json:"b"`
	Same    bool            `json:"same"`
	Both    int             `json:"messagesInBoth"`
	Anchors []trace.Anchors `json:"anchors"`
	Groups  []Difference    `json:"groups"`
}

// A ComparisonSide is one of the texts.
type ComparisonSide struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Hash     string `json:"hash,omitempty"`
	Tokens   int    `json:"tokens"`
	Segments int    `json:"segments"`
	Messages int    `json:"messages"`
	Kept     int    `json:"keepitsKept"`
	Keepits  int    `json:"keepits"`
}

// ComparisonOf returns a comparison.
func ComparisonOf(c provenance.Comparison) Comparison {
	s := c.Summary
	side := func(i int, x provenance.Operand) ComparisonSide {
		out := ComparisonSide{Name: x.Name, Kind: string(x.Rev.Kind), Tokens: s.Tokens[i], Segments: s.Segments[i],
			Messages: s.Messages[i], Kept: s.Kept[i], Keepits: s.Marks[i]}
		if !x.Rev.Hash.IsZero() {
			out.Hash = x.Rev.Hash.String()
		}
		return out
	}
	groups := []Difference{}
	for _, g := range c.Groups {
		groups = append(groups, differenceOf(c, g))
	}
	return Comparison{side(0, c.A), side(1, c.B), c.Same(), s.Both, list(s.Anchors), groups}
}

// A Difference is a run of messages in which two texts differ.
type Difference struct {
	Session  string       `json:"sessionId"`
	Messages [][2]int     `json:"messages"`
	Segments [2]int       `json:"segments"`
	Tokens   [2]int       `json:"tokens"`
	Changes  []TextChange `json:"changes"`
	Keepits  []FateChange `json:"keepits"`
}

// A TextChange is a text of one side, or of both in different words.
type TextChange = trace.Change

// A FateChange is a marker on both sides; a side is null if its inputs do not contain the marker.
type FateChange struct {
	Message int       `json:"message"`
	Text    string    `json:"content"`
	Changed bool      `json:"changed"`
	A       *SideFate `json:"a"`
	B       *SideFate `json:"b"`
}

// A SideFate is the fate of a marker on one side.
type SideFate struct {
	Weight    Weight       `json:"weight"`
	Kept      bool         `json:"kept"`
	Threshold *Thousandths `json:"threshold,omitempty"`
	Margin    *Thousandths `json:"margin,omitempty"`
}

// differenceOf returns one group of a comparison.
func differenceOf(c provenance.Comparison, g trace.Group) Difference {
	out := Difference{Messages: list(g.Src), Segments: g.Pieces, Tokens: g.Tokens, Changes: list(g.Changes()),
		Keepits: []FateChange{}}
	if s := c.Sessions[g.Source]; s != nil {
		out.Session = s.ID
	}
	for _, k := range g.Keepits {
		out.Keepits = append(out.Keepits, FateChange{k.Message, strings.TrimSpace(k.Text), k.Changed, sideFate(k.Sides[0]), sideFate(k.Sides[1])})
	}
	return out
}

func sideFate(p trace.MarkerState) *SideFate {
	if !p.Known {
		return nil
	}
	f := &SideFate{Weight: Weight(p.Weight), Kept: p.Kept}
	if p.Judged {
		threshold, margin := Thousandths(p.Threshold), Thousandths(p.Margin)
		f.Threshold, f.Margin = &threshold, &margin
	}
	return f
}
