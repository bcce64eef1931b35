package main

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/trace"
)

// diffStat prints what each side holds, the names of what was lost and gained, and where the sides differ.
func (e *Env) diffStat(c provenance.Comparison) error {
	e.printf("\n")
	t := e.table(column{name: "kind"}, column{name: "before", right: true}, column{name: "after", right: true}, column{name: "lost", right: true},
		column{name: "gained", right: true}, column{name: "which", shrinks: true})
	for _, a := range c.Summary.Anchors {
		t.row(cell{full: a.Kind}, cell{full: fmt.Sprint(a.A)}, cell{full: fmt.Sprint(a.B)}, cell{full: fmt.Sprint(len(a.Lost))}, cell{full: fmt.Sprint(len(a.Gained))},
			cell{full: names(a, len(a.Lost)+len(a.Gained)), short: names(a, 12)})
	}
	if err := t.flush(); err != nil {
		return err
	}
	e.printf("\n")
	where := e.table(column{name: "messages"}, column{name: "before", right: true}, column{name: "after", right: true})
	for _, g := range c.Groups {
		where.row(cell{full: e.place(c, g.Source, g.Src)}, cell{full: fmt.Sprint(g.Tokens[0])}, cell{full: fmt.Sprint(g.Tokens[1])})
	}
	return where.flush()
}

// names writes anchors, lost ones behind "-" and gained ones behind "+".
func names(a trace.Anchors, most int) string {
	var out []string
	for _, n := range a.Lost {
		out = append(out, "-"+n)
	}
	for _, n := range a.Gained {
		out = append(out, "+"+n)
	}
	return strings.Join(out[:min(most, len(out))], " ")
}

// place writes messages: "#12", "#12-18 #77"; the session stands in front where there are several.
func (e *Env) place(c provenance.Comparison, source string, src [][2]int) string {
	text := runsText(src)
	if s := c.Sessions[source]; s != nil && len(c.Sessions) > 1 {
		text = shortID(s.ID) + " " + text
	}
	return text
}

// runsText writes runs of messages.
func runsText(src [][2]int) string {
	const most = 6
	var words []string
	for i, r := range src {
		if i == most {
			words = append(words, "…")
			r = src[len(src)-1]
		}
		if r[0] == r[1] {
			words = append(words, fmt.Sprintf("#%d", r[0]))
		} else {
			words = append(words, fmt.Sprintf("#%d-%d", r[0], r[1]))
		}
		if i == most {
			break
		}
	}
	return strings.Join(words, " ")
}

// diffKeepits prints the markers whose fate changed.
func (e *Env) diffKeepits(c provenance.Comparison) error {
	t := e.table(column{name: "weight"}, column{name: "before"}, column{name: "after"}, column{name: "at"}, column{name: "text", shrinks: true})
	for _, g := range c.Groups {
		for _, k := range g.Keepits {
			if k.Changed {
				t.row(cell{full: weightsText(k)}, cell{full: placeText(k.Sides[0])}, cell{full: placeText(k.Sides[1])},
					cell{full: e.place(c, k.Source, [][2]int{{k.Message, k.Message}})}, cell{full: firstWords(k.Text, 120)})
			}
		}
	}
	return t.flush()
}

// weightsText writes the weight of a marker, or both if the sides differ in it.
func weightsText(k trace.KeepitChange) string {
	a, b := k.Sides[0], k.Sides[1]
	if a.Known && b.Known && a.Weight != b.Weight {
		return a.Weight.String() + " -> " + b.Weight.String()
	}
	if a.Known {
		return a.Weight.String()
	}
	return b.Weight.String()
}

// placeText writes what became of a marker on one side: "kept", "summarised, 0.50 < 0.65".
func placeText(p trace.Place) string {
	switch {
	case !p.Known:
		return "-"
	case p.Kept && p.Judged && p.Weight < keepit.Pinned && p.Margin >= 0:
		return fmt.Sprintf("kept, %s >= %s", p.Weight, keepit.Thousandths(p.Threshold))
	case p.Kept:
		return "kept"
	case p.Judged && p.Margin < 0:
		return fmt.Sprintf("summarised, %s < %s", p.Weight, keepit.Thousandths(p.Threshold))
	}
	return "summarised"
}
