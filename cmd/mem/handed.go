package main

import (
	"context"
	"strings"

	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
)

// runHanded lists what hooks handed over, the newest first: hashes, never text.
func (e *Env) runHanded(ctx context.Context, o logOptions, session string) error {
	dir, err := e.memoryDir()
	if err != nil {
		return err
	}
	return e.withMemory(ctx, func(_ *layers.Memory, sc state.Scope) error {
		all, err := hooks.ReadHanded(dir)
		if err != nil {
			return err
		}
		list := []hooks.Handed{}
		for i := len(all) - 1; i >= 0; i-- {
			h := all[i]
			if (e.opt.allProjects || h.Project == string(sc.Project.ID)) && strings.HasPrefix(h.Session, session) && (o.number == 0 || len(list) < o.number) {
				list = append(list, h)
			}
		}
		if e.opt.json {
			return e.printJSON("log", map[string]any{"handed": list})
		}
		if len(list) == 0 {
			e.note("nothing was handed over")
			return nil
		}
		for _, h := range list {
			e.printf("%s  %s  %s  %d characters in %d lines to %s\n", h.Hash, h.Time.UTC().Format("2006-01-02 15:04:05"), h.Event, h.Units, len(h.Lines), e.safe(shortID(h.Session)))
			for _, l := range h.Lines {
				if l.Source != "" {
					e.printf("  %s  %s: %s %s\n", l.Hash[:min(8, len(l.Hash))], e.safe(l.Section), e.safe(l.Said), e.safe(l.Source))
				}
			}
		}
		return nil
	})
}
