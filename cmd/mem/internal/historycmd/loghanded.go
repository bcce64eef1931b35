package historycmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
)

// runHanded lists the hand-overs of hooks, the newest first, by hash, never by text.
func runHanded(ctx context.Context, e *app.Env, o LogOptions, session string) error {
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		all, err := hooks.ReadHandovers(dir)
		if err != nil {
			return err
		}
		list := []hooks.Handover{}
		for i := len(all) - 1; i >= 0; i-- {
			h := all[i]
			if (e.Opt.AllProjects || h.Project == string(run.Project.ID)) && strings.HasPrefix(h.Session, session) &&
				(o.Number == 0 || len(list) < o.Number) {
				list = append(list, h)
			}
		}
		if e.Opt.JSON {
			return e.PrintJSON("log", map[string]any{"handed": list})
		}
		if len(list) == 0 {
			e.Note("nothing was handed over")
			return nil
		}
		for _, h := range list {
			printHanded(e, h, fmt.Sprintf("  %d characters in %d lines", h.Units, len(h.Lines)), h.Lines)
		}
		return nil
	})
}
