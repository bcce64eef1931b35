package diffcmd

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/trace"
)

// diffStat prints the figures of each side, the lost and gained anchors, and the messages that differ.
func diffStat(e *app.Env, c provenance.Comparison) error {
	e.Printf("\n")
	t := e.Table(app.Column{Name: "kind"}, app.Column{Name: "before", Right: true}, app.Column{Name: "after", Right: true},
		app.Column{Name: "lost", Right: true},
		app.Column{Name: "gained", Right: true}, app.Column{Name: "which", Shrinks: true})
	for _, a := range c.Summary.Anchors {
		t.Row(app.Cell{Full: a.Kind}, app.Cell{Full: fmt.Sprint(a.A)}, app.Cell{Full: fmt.Sprint(a.B)},
			app.Cell{Full: fmt.Sprint(len(a.Lost))}, app.Cell{Full: fmt.Sprint(len(a.Gained))},
			app.Cell{Full: anchorNames(a, len(a.Lost)+len(a.Gained)), Short: anchorNames(a, 12)})
	}
	if err := t.Flush(); err != nil {
		return err
	}
	e.Printf("\n")
	where := e.Table(app.Column{Name: "messages"}, app.Column{Name: "before", Right: true},
		app.Column{Name: "after", Right: true})
	for _, g := range c.Groups {
		where.Row(app.Cell{Full: place(c, g.Source, g.Src)}, app.Cell{Full: fmt.Sprint(g.Tokens[0])},
			app.Cell{Full: fmt.Sprint(g.Tokens[1])})
	}
	return where.Flush()
}

// anchorNames lists anchors: lost ones with the prefix "-", gained ones with "+".
func anchorNames(a trace.Anchors, most int) string {
	var out []string
	for _, n := range a.Lost {
		out = append(out, "-"+n)
	}
	for _, n := range a.Gained {
		out = append(out, "+"+n)
	}
	return strings.Join(out[:min(most, len(out))], " ")
}

// place returns messages: "#12", "#12-18 #77"; with the session first if there are several.
func place(c provenance.Comparison, source string, src [][2]int) string {
	text := term.Ranges(src)
	if s := c.Sessions[source]; s != nil && len(c.Sessions) > 1 {
		text = term.ShortID(s.ID) + " " + text
	}
	return text
}

// diffKeepits prints the markers whose fate changed.
func diffKeepits(e *app.Env, c provenance.Comparison) error {
	t := e.Table(app.Column{Name: "weight"}, app.Column{Name: "before"}, app.Column{Name: "after"}, app.Column{Name: "at"},
		app.Column{Name: "text", Shrinks: true})
	for _, g := range c.Groups {
		for _, k := range g.Keepits {
			if k.Changed {
				t.Row(app.Cell{Full: weightsText(k)}, app.Cell{Full: placeText(k.Sides[0])}, app.Cell{Full: placeText(k.Sides[1])},
					app.Cell{Full: place(c, k.Source, [][2]int{{k.Message, k.Message}})},
					app.Cell{Full: term.FirstWords(k.Text, 120)})
			}
		}
	}
	return t.Flush()
}

// weightsText returns the weight of a marker, or both weights if the sides differ.
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

// placeText returns the fate of a marker on one side: "kept", "not protected, 0.50 < 0.65".
func placeText(p trace.MarkerState) string {
	switch {
	case !p.Known:
		return "-"
	case p.Kept && p.Judged && p.Weight < keepit.Pinned && p.Margin >= 0:
		return fmt.Sprintf("kept, %s >= %s", p.Weight, keepit.Thousandths(p.Threshold))
	case p.Kept:
		return "kept"
	case p.Judged && p.Margin < 0:
		return fmt.Sprintf("not protected, %s < %s", p.Weight, keepit.Thousandths(p.Threshold))
	}
	return "not protected"
}
