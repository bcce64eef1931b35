package versioncmd

import (
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/tokens"
)

// thresholdText returns the settings of a pressure and the weight from which markers survive it.
func thresholdText(p keepit.Pressure) string {
	return fmt.Sprintf("at %d:1 %s, %d session%s ago, a marker is kept from %s on: %s", p.Ratio, p.Level, p.Distance,
		term.Plural(p.Distance), keepit.Thousandths(p.Threshold()), p)
}

// fateTable prints the fate of each marker, and how far its weight is above the threshold.
func fateTable(e *app.Env, fates []planning.Fate) error {
	t := e.Table("WEIGHT", "FATE", app.Column{Name: "TO THRESHOLD", Right: true}, "AT", app.Column{Name: "TEXT", Shrinks: true})
	for _, f := range fates {
		fate, margin := "not protected", keepit.Thousandths(f.Margin)
		switch {
		case f.Skipped:
			fate, margin = "skipped", "-"
		case f.Pinned():
			fate, margin = "pinned", "-"
		case f.Kept:
			fate = "kept"
		}
		signed := margin
		if f.Margin > 0 && margin != "-" {
			signed = "+" + margin
		}
		t.Row(f.Mark.Weight, fate, app.Cell{Full: margin, Short: signed}, fmt.Sprintf("#%d", f.Mark.Message),
			tokens.OneLine(f.Mark.Text, 120))
	}
	return t.Flush()
}

// keptLine returns the numbers of kept, unprotected and skipped markers.
func keptLine(kept, summarised, skipped int) string {
	line := fmt.Sprintf("%d of %d kept word for word, %d not protected", kept, kept+summarised+skipped, summarised)
	if skipped > 0 {
		line += fmt.Sprintf(", %d skipped", skipped)
	}
	return line
}
