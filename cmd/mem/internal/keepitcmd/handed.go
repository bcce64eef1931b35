package keepitcmd

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookset"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
)

// A handedMarker is a marker with whether the next session gets it.
type handedMarker struct {
	view.Marker
	Handed bool   `json:"handed"`
	Why    string `json:"why"`
}

// runHanded prints which markers of the project the next session gets, and why it does not get the others.
func runHanded(ctx context.Context, e *app.Env) error {
	s, err := hookset.HookSettings(e)
	if err != nil {
		return err
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		given, err := handover.Context(ctx, run.DB, run.Project, handover.ContextOptions{Dir: e.Dir,
			Program: hookset.CalledAs(e), Limit: s.ContextSize, Decay: s.Decay})
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
		pins := handedPins(given)
		markers := []handedMarker{}
		for _, in := range all {
			for _, k := range in.marks {
				ok, why := pins.judge(in.rev.Session, k, handover.PinPressure(st.Distance(in.rev.Session), s.Decay))
				markers = append(markers, handedMarker{view.MarkerOf(in.rev.Session, k), ok, why})
			}
		}
		switch {
		case e.Opt.JSON:
			return e.PrintJSON("keepit.handed", nil, "markers", markers)
		case len(markers) == 0:
			noteNoMarkers(e)
			return nil
		}
		if err := e.Page("keepit"); err != nil {
			return err
		}
		return handedTable(e, markers)
	})
}

func handedTable(e *app.Env, list []handedMarker) error {
	t := e.Table(app.Column{Name: "next session"}, app.Column{Name: "session"}, app.Column{Name: "marker"},
		app.Column{Name: "weight"}, app.Column{Name: "why"}, app.Column{Name: "text", Shrinks: true})
	for _, a := range list {
		gets := "no"
		if a.Handed {
			gets = "yes"
		}
		t.Row(app.Cell{Full: gets}, app.Cell{Full: a.Session, Short: term.ShortID(a.Session)}, app.Cell{Full: a.ID},
			app.Cell{Full: keepit.Weight(a.Weight).String()}, app.Cell{Full: a.Why}, app.Cell{Full: tokens.OneLine(a.Content, 120)})
	}
	return t.Flush()
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
