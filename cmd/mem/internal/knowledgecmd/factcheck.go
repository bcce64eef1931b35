package knowledgecmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
)

// factsCheck returns mem facts check.
func factsCheck(e *app.Env) *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "measure the integrity and coverage of facts", ArgsUsage: "[<session>]",
		Description: "Integrity is the share of facts that their quotes still prove. Coverage is the share of\n" +
			"turns that a fact quotes; a turn is a prompt, or the last words of the model before the\n" +
			"next prompt. No model is asked.",
		Action: e.Action(0, 1, func(c *cli.Context) error {
			return runFactsCheck(c.Context, e, e.Operand(0))
		}),
	}
}

// A figuresAnswer is the JSON form of mem facts check.
type figuresAnswer struct {
	Session string `json:"sessionId,omitempty"`
	Through int    `json:"through,omitempty"`
	knowledge.Figures
	Integrity *float64 `json:"integrity"` // null: there are no facts
	Coverage  *float64 `json:"coverage"`  // null: there is nothing to cover
}

func figuresOf(f knowledge.Figures) figuresAnswer {
	return figuresAnswer{Figures: f, Integrity: ratioOf(f.Integrity()), Coverage: ratioOf(f.Coverage())}
}

func ratioOf(n int) *float64 {
	if n < 0 {
		return nil
	}
	r := float64(n) / 100
	return &r
}

func ratioCell(n int) app.Cell {
	if n < 0 {
		return app.Cell{Full: "-"}
	}
	return app.Cell{Full: term.Hundredths(n)}
}

func runFactsCheck(ctx context.Context, e *app.Env, name string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		p, id := run.Project, ""
		if name != "" {
			rev, err := run.ResolveSession(ctx, name)
			if err != nil {
				return err
			}
			p, id = rev.Project, rev.Session.ID
		}
		list, none, err := knowledge.MeasureFacts(ctx, run.DB, p, id)
		if err != nil {
			return err
		}
		sessions := []figuresAnswer{}
		total := knowledge.Figures{Missed: []int{}}
		t := e.Table(app.Column{Name: "session"}, app.Column{Name: "facts", Right: true},
			app.Column{Name: "verified", Right: true}, app.Column{Name: "integrity", Right: true},
			app.Column{Name: "turns", Right: true}, app.Column{Name: "covered", Right: true}, app.Column{Name: "coverage", Right: true})
		row := func(name app.Cell, f knowledge.Figures) {
			number := func(n int) app.Cell { return app.Cell{Full: fmt.Sprint(n)} }
			t.Row(name, number(f.Facts), number(f.Verified), ratioCell(f.Integrity()), number(f.Turns), number(f.Covered),
				ratioCell(f.Coverage()))
		}
		for _, x := range list {
			a := figuresOf(x.Figures)
			a.Session, a.Through = x.Session.ID, x.DistilledTo
			sessions, total = append(sessions, a), total.Add(x.Figures)
			row(app.Cell{Full: x.Session.ID, Short: term.ShortID(x.Session.ID), Paint: e.Style().Yellow}, x.Figures)
		}
		if e.Opt.JSON {
			return e.PrintJSON("facts.check", nil, "sessions", sessions, "sessionsWithoutFacts", none,
				"total", figuresOf(total))
		}
		if len(list) > 1 {
			row(app.Cell{Full: "total"}, total)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		switch {
		case len(list) == 0:
			e.Note("no session of %s has facts", p.Name)
			e.Hint("mem facts draft")
		case len(list) == 1 && len(list[0].Missed) > 0:
			e.Note("not covered: %s", messageList(list[0].Missed, 20))
		}
		if none > 0 && len(list) > 0 {
			e.Note("%s without facts", term.Count(none, "session"))
		}
		return nil
	})
}

// messageList lists the numbers of messages up to a maximum.
func messageList(numbers []int, most int) string {
	var b strings.Builder
	for i, n := range numbers {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(numbers)-most)
			break
		}
		fmt.Fprintf(&b, " #%d", n)
	}
	return strings.TrimSpace(b.String())
}
