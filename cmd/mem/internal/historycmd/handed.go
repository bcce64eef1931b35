package historycmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers/handover"
)

// shortestHanded is the minimum length of a hash prefix of a hand-over.
const shortestHanded = 8

// isHanded reports whether a name may be the hash of a hand-over or of a line of one.
func isHanded(name string) bool {
	return len(name) >= shortestHanded && strings.Trim(name, "0123456789abcdef") == ""
}

// handedLines returns the lines for a hash of "mem log --handed", of a text or a line, and their event.
func handedLines(e *app.Env, name string) (at hooks.Handover, lines []handover.Line, err error) {
	if !isHanded(name) {
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

// nextLines returns the lines for a hash of "mem next --why", which no session has got yet.
func nextLines(ctx context.Context, run app.Run, name string) (lines []handover.Line, err error) {
	if !isHanded(name) {
		return nil, nil
	}
	o, err := app.ContextOptions(run.Env)
	if err != nil {
		return nil, err
	}
	given, err := handover.Context(ctx, run.DB, run.Project, o)
	for _, l := range given.Lines {
		switch {
		case l.Source != "" && (strings.HasPrefix(l.Hash, name) || strings.HasPrefix(given.Hash, name)):
			lines = append(lines, l)
		case l.Source == "" && strings.HasPrefix(l.Hash, name):
			return nil, fmt.Errorf("%s: the line is about the memory itself and has no source", name)
		}
	}
	return lines, err
}

// sourceRev returns the revision in the source of a line, without the weight, confidence or session that may follow.
func sourceRev(source string) string {
	source, _, _ = strings.Cut(source, ",")
	source, _, _ = strings.Cut(source, " of ")
	return source
}

// printHanded prints the event and session of a hand-over, and lines of it with their sources.
func printHanded(e *app.Env, h hooks.Handover, about string, lines []handover.Line) {
	e.Printf("%s  %s  %s%s to %s\n", h.Hash, h.Time.UTC().Format("2006-01-02 15:04:05"), h.Event, about,
		e.Safe(app.SessionID(e, h.Session)))
	for _, l := range lines {
		if l.Source != "" {
			e.Printf("  %s  %s: %s %s\n", l.Hash[:min(8, len(l.Hash))], e.Safe(l.Section), e.Safe(l.Said), e.Safe(l.Source))
		}
	}
}

// blameHanded prints the source of each handed-over line.
func blameHanded(e *app.Env, h hooks.Handover, lines []handover.Line) error {
	if e.Opt.JSON {
		return e.PrintJSON("blame", map[string]any{"handed": h.Hash, "sessionId": h.Session, "time": h.Time, "lines": lines})
	}
	printHanded(e, h, "", lines)
	return nil
}
