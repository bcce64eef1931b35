package tracecmd

import (
	"context"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/handover"
)

// RunHanded lists the hand-overs of hooks, the newest first, by hash, never by text.
func RunHanded(ctx context.Context, e *app.Env, o LogOptions, session string) error {
	dir, err := e.MemoryDir()
	if err != nil {
		return err
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
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
			e.Printf("%s  %s  %s  %d characters in %d lines to %s\n", h.Hash, h.Time.UTC().Format("2006-01-02 15:04:05"),
				h.Event, h.Units, len(h.Lines), e.Safe(term.ShortID(h.Session)))
			for _, l := range h.Lines {
				if l.Source != "" {
					e.Printf("  %s  %s: %s %s\n", l.Hash[:min(8, len(l.Hash))], e.Safe(l.Section), e.Safe(l.Said), e.Safe(l.Source))
				}
			}
		}
		return nil
	})
}

// shortestHanded is the minimum length of a hash prefix of a hand-over.
const shortestHanded = 8

// handedLines returns the lines for a hash of "mem log --handed", of a text or a line, and their event.
func handedLines(e *app.Env, name string) (at hooks.Handover, lines []handover.Line, err error) {
	if len(name) < shortestHanded || strings.Trim(name, "0123456789abcdef") != "" {
		return at, nil, nil
	}
	dir, err := e.MemoryDir()
	if err != nil {
		return at, nil, err
	}
	all, err := hooks.ReadHandovers(dir)
	if err != nil {
		return at, nil, err
	}
	for _, h := range slices.Backward(all) {
		for _, l := range h.Lines {
			if l.Source != "" && (strings.HasPrefix(l.Hash, name) || strings.HasPrefix(h.Hash, name)) {
				lines = append(lines, l)
			}
		}
		if len(lines) > 0 {
			return h, lines, nil
		}
	}
	return at, nil, nil
}

// sourceRev returns the revision in the source of a line, without the weight, confidence or session that may follow.
func sourceRev(source string) string {
	source, _, _ = strings.Cut(source, ",")
	source, _, _ = strings.Cut(source, " of ")
	return source
}

// printHandedTo prints the event and session of a hand-over.
func printHandedTo(e *app.Env, h hooks.Handover) {
	e.Printf("%s  %s  %s to %s\n", h.Hash, h.Time.UTC().Format("2006-01-02 15:04:05"), h.Event,
		e.Safe(term.ShortID(h.Session)))
}

// blameHanded prints the source of each handed-over line.
func blameHanded(e *app.Env, h hooks.Handover, lines []handover.Line) error {
	if e.Opt.JSON {
		return e.PrintJSON("blame", map[string]any{"handed": h.Hash, "session": h.Session, "time": h.Time, "lines": lines})
	}
	printHandedTo(e, h)
	for _, l := range lines {
		e.Printf("  %s  %s: %s %s\n", l.Hash[:min(8, len(l.Hash))], e.Safe(l.Section), e.Safe(l.Said), e.Safe(l.Source))
	}
	return nil
}
