package exchange

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/tokens"
)

// Closings returns the messages with the last words of the assistant before the user speaks again.
func (x *Exchange) Closings() map[int]bool {
	last := map[int]bool{}
	mark := func(before int) {
		for _, s := range slices.Backward(x.Texts) {
			if s.N < before {
				last[s.N] = true
				return
			}
		}
	}
	for _, d := range x.Dialogs {
		mark(d.N)
	}
	for _, r := range x.Refusals {
		mark(r.N)
	}
	mark(x.To + 1)
	return last
}

// Interrupts reports whether a note says that the user interrupted.
func (n Note) Interrupts() bool { return strings.Contains(n.Text, "[Request interrupted") }

// Unanswered says what is known of an exchange in which the assistant said nothing.
func (x *Exchange) Unanswered() string {
	switch {
	case slices.ContainsFunc(x.Notes, Note.Interrupts):
		return "the user interrupted"
	case len(x.Edits)+len(x.Commands)+len(x.Calls) > 0:
		return "only calls of tools followed"
	}
	return "nothing followed"
}

// Says says what the user refused, and what is known of the reason if he typed none; stopped: nothing followed.
func (r Refusal) Says(stopped bool) string {
	text := tokens.Clip(shell.Short(CallName(r.Of)), 100)
	switch {
	case strings.HasPrefix(r.Of, "ExitPlanMode"):
		text = "the plan"
		if r.What != "" {
			text += ` "` + tokens.Clip(r.What, 80) + `"`
		}
	case r.What != "":
		text += " (" + tokens.Clip(r.What, 120) + ")"
	}
	switch {
	case r.Reason == "" && r.Told != "":
		text += "; its result gives the reason: " + tokens.Clip(r.Told, 400)
	case r.Reason == "" && !stopped:
		text += "; no reason given"
	}
	return text
}
