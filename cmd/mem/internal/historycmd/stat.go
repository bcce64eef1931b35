package historycmd

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
)

// diffStat prints a line for each group of messages that differs, with a bar as git diff --stat does, and a summary.
func diffStat(e *app.Env, c provenance.Comparison) {
	const bar, widest = 40, 32
	wide, most := 0, 1
	places := make([]string, len(c.Groups))
	for i, g := range c.Groups {
		places[i] = strings.ReplaceAll(tokens.Shorten(place(c, g.Source, g.Src), widest), "……", "…")
		wide, most = max(wide, app.Columns(places[i])), max(most, g.Tokens[0], g.Tokens[1])
	}
	for i, g := range c.Groups {
		change := g.Tokens[1] - g.Tokens[0]
		sign, paint := "+", e.Style().Green
		if change < 0 {
			sign, paint = "-", e.Style().Red
		}
		marks := ""
		if n := (bar*max(change, -change) + most - 1) / most; n > 0 {
			marks = " " + strings.Repeat(sign, n)
		}
		e.Printf(" %s%s | %6s -> %6s%s\n", e.Safe(places[i]), strings.Repeat(" ", wide-app.Columns(places[i])),
			tokens.Commas(g.Tokens[0]), tokens.Commas(g.Tokens[1]), paint(marks))
	}
	s := c.Summary
	lost, gained := tally(s.Anchors)
	e.Printf(" %s changed, %s %s tokens -> %s %s tokens%s, pinned texts kept %d -> %d\n", term.Count(len(c.Groups), "part"),
		e.Safe(c.A.Name), tokens.Commas(s.Tokens[0]), e.Safe(c.B.Name), tokens.Commas(s.Tokens[1]), percent(s.Tokens),
		s.Kept[0], s.Kept[1])
	e.Printf(" lost %s; gained %s\n", lost, gained)
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
	t := e.Table("weight", "before", "after", "at", app.Column{Name: "text", Shrinks: true})
	for _, g := range c.Groups {
		for _, k := range g.Keepits {
			if k.Changed {
				t.Row(weightsText(k), placeText(k.Sides[0]), placeText(k.Sides[1]),
					place(c, k.Source, [][2]int{{k.Message, k.Message}}), tokens.OneLine(k.Text, 120))
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
