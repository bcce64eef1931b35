package planning

import (
	"fmt"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// Mark is a marker of a session, with its message.
type Mark struct {
	Message int
	keepit.Marker
}

// Marks returns the markers in the text that the user typed in message n.
func Marks(n int, typed string) []Mark {
	var out []Mark
	for _, m := range keepit.Scan(typed) {
		m.Text = strings.Clone(m.Text) // not all that was typed
		out = append(out, Mark{n, m})
	}
	return out
}

func (m Mark) Span() Span { return Span{m.Message, m.TextStart, m.TextEnd, m.Weight} }

// A Fate is the decision about a marker.
type Fate struct {
	Mark      Mark
	Pressure  keepit.Pressure // of its tier
	Threshold int             // thousandths
	Margin    int             // thousandths, below zero when it is summarised
	Kept      bool            // with [PreserveAll] always, with [Ignore] never
	Skipped   bool            // it stands in a message that is left out
}

// Pinned reports whether the marker is kept because its weight is that of a pin.
func (f Fate) Pinned() bool { return f.Kept && f.Pressure.Pins(f.Mark.Weight) }

// fates compares each marker with the pressure of its tier.
func (s Settings) fates(tiers []Tier, parts []Part, marks []Mark) []Fate {
	marks = append([]Mark(nil), marks...)
	sort.SliceStable(marks, func(a, b int) bool {
		return marks[a].Message < marks[b].Message || marks[a].Message == marks[b].Message && marks[a].Start < marks[b].Start
	})
	var out []Fate
	for _, m := range marks {
		i := sort.Search(len(parts), func(i int) bool { return parts[i].To >= m.Message })
		if m.Message < parts[0].From || i == len(parts) {
			if m.Message < parts[0].From {
				if s.Skip == 0 || m.Message <= s.Since {
					continue
				}
				if m.Weight < keepit.Pinned {
					out = append(out, Fate{Mark: m, Skipped: true})
					continue
				}
				i = 0 // a pin is kept also of a skipped message
			} else {
				i = len(parts) - 1
			}
		}
		p := keepit.Pressure{Level: tiers[i].Level, Ratio: tiers[i].Ratio, Distance: max(s.Distance, 1), Decay: s.Decay}
		f := Fate{Mark: m, Pressure: p, Threshold: p.Threshold(), Margin: p.Margin(m.Weight), Kept: p.Keeps(m.Weight)}
		switch s.Keepit {
		case PreserveAll:
			f.Kept = true
		case Ignore:
			f.Kept = false
		}
		out = append(out, f)
	}
	return out
}

// A PinError reports that the pinned texts alone exceed the budget.
type PinError struct {
	Need, Budget int    // tokens
	Pins         []Span // what is kept, in order
	Texts        []string
}

// Error names the pinned texts.
func (e *PinError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the pinned texts alone have %d tokens, the budget is %d:", e.Need, e.Budget)
	for i, p := range e.Pins {
		if i == 5 {
			fmt.Fprintf(&b, " and %d more", len(e.Pins)-i)
			break
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " %s in message %d (%q)", p.Weight, p.Message, tokens.Clip(e.Texts[i], 40))
	}
	return b.String()
}
