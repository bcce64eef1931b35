package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	capturing "github.com/memvcs/mem/layers/capture"
)

type importOptions struct{ noL1 bool }

// importCommand is the command that captures everything Claude Code has.
func (e *Env) importCommand() *cli.Command {
	var o importOptions
	return &cli.Command{
		Name:      "import",
		Usage:     "capture all sessions that Claude Code has, or those under a directory",
		ArgsUsage: "[<dir>]",
		Description: "Without a directory it is ~/.claude, or CLAUDE_CONFIG_DIR. Subagents and overflow files of tool results come\n" +
			"along, linked to their sessions. Importing again adds only what is new.",
		Flags: []*cli.Flag{cli.Bool(&o.noL1, "no-l1", "capture only; derive L1 and count tokens when they are needed")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			return e.runImport(ctx, o, e.operand(0))
		},
	}
}

func (e *Env) runImport(ctx context.Context, o importOptions, dir string) error {
	if dir == "" {
		var err error
		if dir, err = e.claudeDir(); err != nil {
			return err
		}
	}
	dir = e.path(dir)
	return e.withStore(func(m *layers.Memory) error {
		sources, err := capturing.Sources(dir)
		if errors.Is(err, os.ErrNotExist) {
			return withHint(fmt.Errorf("import: %w", err), "name the directory that holds session files (*.jsonl)")
		}
		failed, fatal := splitErrors(err)
		if fatal != nil {
			return fmt.Errorf("import %s: %w", dir, fatal)
		}
		if len(sources) == 0 && len(failed) == 0 {
			return withHint(fatalf("there are no session files (*.jsonl) under %s", dir), "name the directory that holds them")
		}
		return e.addAll(ctx, m, "import", sources, failed, func(added []capturing.Added) error {
			if o.noL1 {
				return nil
			}
			bar := e.progressBytes("refining", totalAdded(added))
			defer bar.end()
			return errors.Join(m.Derive().Derive(ctx, added, bar.add), m.Capture().CountAdded(ctx, added))
		})
	})
}

func totalAdded(added []capturing.Added) (n int64) {
	for _, a := range added {
		n += a.Now.Size
	}
	return n
}
