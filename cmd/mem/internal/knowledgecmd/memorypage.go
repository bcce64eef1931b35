package knowledgecmd

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/interchange"
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
		Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error {
			return runMemory(ctx, run, budget)
		}),
	}
}

func runMemory(ctx context.Context, run app.Run, budget int) error {
	page, err := interchange.MemoryPage(ctx, run.DB, run.Project, budget)
	if errors.Is(err, interchange.ErrBudget) {
		return app.WithCode(app.ExitBudget, app.WithHint(err, "mem memory --budget 500"))
	}
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("memory", nil, "project", run.Project.Name, "budget", budget, "tokens", page.Tokens,
			"counter", page.Counter, "leftOut", page.Omitted, "text", page.Text)
	}
	run.Page("memory")
	run.Printf("%s", run.Safe(page.Text))
	if page.Omitted > 0 {
		run.Detail("~%s tokens; %d items left out", tokens.Format(page.Tokens), page.Omitted)
	}
	return nil
}
