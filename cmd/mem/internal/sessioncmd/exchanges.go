package sessioncmd

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/state"
)

// shownExchanges is how many exchanges show prints of the start and of the end of a session.
const shownExchanges = 2

// showExchanges prints the first and the last exchanges of a session.
func showExchanges(ctx context.Context, run names.Run, rev state.Rev) error {
	all, err := run.Checkout().Exchanges(ctx, rev)
	if err != nil || len(all) == 0 {
		return err
	}
	for i, x := range all {
		if i >= shownExchanges && i < len(all)-shownExchanges {
			if i == shownExchanges {
				n := len(all) - 2*shownExchanges
				run.Printf("\n... %s: mem show %s\n", term.Count(n, "more exchange"),
					term.Shell(fmt.Sprintf("%s#%d..%d", term.ShortID(rev.Session.ID), x.Asked.Message,
						all[len(all)-shownExchanges].Asked.Message-1)))
			}
			continue
		}
		run.Printf("\n")
		turnLine(run.Env, x.Asked)
		if x.Answered.Role != "" {
			turnLine(run.Env, x.Answered)
		}
	}
	return nil
}

// turnLine prints the number, role and first words of a turn.
func turnLine(e *app.Env, t checkout.Turn) {
	e.Printf("%s  %s\n", e.Style().Cyan(fmt.Sprintf("#%d %s", t.Message, t.Role)), e.Safe(term.FirstWords(t.Text, 300)))
}

// WriteTurns writes the messages of a range.
func WriteTurns(ctx context.Context, m *layers.Memory, rev state.Rev, w io.Writer) error {
	return m.Checkout().Turns(ctx, rev, rev.From, rev.To, TurnWriter(w))
}

// TurnWriter returns a function that writes turns to w, each text under its number and role.
func TurnWriter(w io.Writer) func(checkout.Turn) error {
	between, last := "", checkout.Turn{}
	return func(t checkout.Turn) error {
		head := ""
		if t.Message != last.Message || t.Role != last.Role {
			head = fmt.Sprintf("%s#%d %s\n", between, t.Message, t.Role)
		}
		between, last = "\n", t
		_, err := io.WriteString(w, head+strings.TrimRight(t.Text, "\n")+"\n")
		return err
	}
}
