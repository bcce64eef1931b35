package knowledgecmd

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/layers/export"
	"github.com/memvcs/mem/layers/tokens"
)

// memoryBudget is the default budget of memory.md in tokens.
const memoryBudget = 2000

// MemoryPage returns mem memory.
func MemoryPage(e *app.Env) *cli.Command {
	budget := memoryBudget
	return &cli.Command{
		Name:  "memory",
		Usage: "print memory.md, the project summary",
		Description: "Core decisions, current state, recent context and known issues, computed from facts,\n" +
			"concepts, rules and sessions. The page never exceeds the budget: the least important\n" +
			"items are left out, and counted. Text that comes only from tools, files, the web or\n" +
			"scripts is not included.",
		Flags: []cli.Flag{
			app.ParsedFlag(&budget, "budget", "use at most `T` tokens, such as 2k (the default)", app.ParseTokens),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			return runMemory(c.Context, e, budget)
		}),
	}
}

func runMemory(ctx context.Context, e *app.Env, budget int) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		page, err := export.MemoryPage(ctx, run.DB, run.Project, budget)
		if errors.Is(err, export.ErrBudget) {
			return app.WithCode(app.ExitBudget, app.WithHint(err, "mem memory --budget 500"))
		}
		if err != nil {
			return err
		}
		if e.Opt.JSON {
			return e.PrintJSON("memory", nil, "project", run.Project.Name, "budget", budget, "tokens", page.Tokens,
				"counter", page.Counter, "leftOut", page.Omitted, "text", page.Text)
		}
		if err := e.Page("memory"); err != nil {
			return err
		}
		e.Printf("%s", e.Safe(page.Text))
		if page.Omitted > 0 {
			e.Detail("~%s tokens; %d items left out", tokens.Format(page.Tokens), page.Omitted)
		}
		return nil
	})
}
