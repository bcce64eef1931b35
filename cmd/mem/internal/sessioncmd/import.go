package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
)

type importOptions struct{ noL1 bool }

// ImportCommand is the command that captures everything Claude Code has.
func ImportCommand(e *app.Env) *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "capture all sessions that Claude Code has, or those under a directory",
		ArgsUsage: "[<dir>]",
		Description: "Without a directory it is ~/.claude, or CLAUDE_CONFIG_DIR. Subagents and overflow files of tool results come\n" +
			"along, linked to their sessions. Importing again adds only what is new.",
		Flags: []cli.Flag{flags.Bool(&o.noL1, "no-l1", "capture only; derive L1 and count tokens when they are needed")},
		Action: func(c *cli.Context) error {
			if err := e.WantOperands(c, 0, 1); err != nil {
				return err
			}
			return runImport(c.Context, e, o, e.Operand(0))
		},
	}
}

func runImport(ctx context.Context, e *app.Env, o importOptions, dir string) error {
	if dir == "" {
		var err error
		if dir, err = e.ClaudeDir(); err != nil {
			return err
		}
	}
	dir = e.Path(dir)
	return names.WithStore(e, func(m *layers.Memory) error {
		sources, err := capturing.Sources(dir)
		if errors.Is(err, os.ErrNotExist) {
			return app.WithHint(fmt.Errorf("import: %w", err), "name the directory that holds session files (*.jsonl)")
		}
		failed, fatal := splitErrors(err)
		if fatal != nil {
			return fmt.Errorf("import %s: %w", dir, fatal)
		}
		if len(sources) == 0 && len(failed) == 0 {
			return app.WithHint(app.Fatalf("there are no session files (*.jsonl) under %s", dir), "name the directory that holds them")
		}
		return addAll(ctx, e, m, "import", sources, failed, func(added []capturing.Added) error {
			if o.noL1 {
				return nil
			}
			bar := e.ProgressBytes("refining", totalAdded(added))
			defer bar.End()
			return errors.Join(m.Derive().Derive(ctx, added, bar.Add), m.Capture().CountAdded(ctx, added))
		})
	})
}

func totalAdded(added []capturing.Added) (n int64) {
	for _, a := range added {
		n += a.Now.Size
	}
	return n
}
