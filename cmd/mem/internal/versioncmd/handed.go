package versioncmd

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// runHanded prints which markers of the project the next session gets, and why it does not get the others.
func runHanded(ctx context.Context, run app.Run) error {
	o, err := app.ContextOptions(run.Env)
	if err != nil {
		return err
	}
	given, err := handover.Context(ctx, run.DB, run.Project, o)
	if err != nil {
		return fmt.Errorf("next session's context: %w", err)
	}
	st, err := trust.State(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	all, err := allMarks(ctx, run)
	if err != nil {
		return err
	}
	pins, distances := handedPins(given), st.Distances()
	l := markerList(run, "keepit.handed", "next session", "session", "marker", "weight", "why",
		app.Column{Name: "text", Shrinks: true})
	for _, in := range all {
		for _, k := range in.marks {
			s, gets := in.rev.Session, "no"
			ok, why := pins.judge(s, k, handover.PinPressure(distances[s.ID], o.Decay))
			if ok {
				gets = "yes"
			}
			l.Add(app.Object{"", view.MarkerOf(s, k), "handed", ok, "why", why}, gets,
				app.Cell{Full: s.ID, Short: term.ShortID(s.ID)}, k.ID, k.Mark.Weight, why, tokens.OneLine(k.Mark.Text, 120))
		}
	}
	return l.Print()
}

// handed are the pinned texts of a context, with their sources.
type handed map[string]string

func handedPins(given handover.Given) handed {
	pins := handed{}
	for _, t := range given.Told {
		if t.Verbatim {
			pins[t.Text] = t.Source
		}
	}
	return pins
}

// judge reports whether the next session gets the marker k of s, and why.
func (h handed) judge(s *state.Session, k state.Keepit, p keepit.Pressure) (ok bool, why string) {
	source, given := h[k.Mark.Text]
	here := fmt.Sprintf("%s#%d, %s", records.ShortID(s.ID), k.Mark.Message, k.Mark.Weight)
	ago := fmt.Sprintf("%s ago", term.Count(p.Distance, "session"))
	switch {
	case k.Removed:
		return false, "its marker was removed"
	case given && source == here:
		return true, ago
	case given:
		return true, "once, as " + source
	case !p.Keeps(k.Mark.Weight):
		return false, fmt.Sprintf("its weight is below %s, the least for %s", keepit.Thousandths(p.Threshold()), ago)
	}
	return false, "no room in the text (hooks.contextSize)"
}
