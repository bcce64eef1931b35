package versioncmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// runDrop drops the line with the hash from the texts for sessions.
func runDrop(ctx context.Context, run app.Run, given handover.Given, hash string) error {
	at := -1
	for i, l := range given.Lines {
		if len(hash) < 4 || !strings.HasPrefix(l.Hash, hash) {
			continue
		}
		if at >= 0 {
			return app.WithHint(&state.AmbiguousError{What: "line", Name: hash,
				Candidates: []string{given.Lines[at].Hash[:16], l.Hash[:16]}}, "write more of the hash")
		}
		at = i
	}
	if at < 0 {
		return app.WithHint(&state.NotFoundError{What: "line of the next session's text", Name: hash}, "mem next --why")
	}
	lines, err := handover.DropLines(ctx, run.DB, run.Project, given, at, run.Opt.DryRun)
	if err != nil {
		return app.WithHint(err, "mem next --why")
	}
	if run.Opt.JSON {
		return run.PrintJSON("next.drop", nil, "lines", lines, "dryRun", run.Opt.DryRun)
	}
	run.Note("%s:", run.Verb("sessions are no longer told", "sessions would no longer be told"))
	for _, l := range lines {
		run.Printf("%s\n", run.Safe(strings.TrimSpace(l)))
	}
	run.Hint("%s reverses this, %s lists it", run.Typed("mem", "undo"), run.Typed("mem", "next", "--dropped"))
	return nil
}

// printDropped lists what the user dropped, with the lines that it would have now.
func printDropped(ctx context.Context, run app.Run, o handover.ContextOptions) error {
	st, err := trust.Outline(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	o.Dropped, o.Limit = true, 1<<20
	whole, err := handover.Context(ctx, run.DB, run.Project, o)
	if err != nil {
		return fmt.Errorf("next session's context: %w", err)
	}
	lines := whole.Dropped(st)
	l := run.List("next.dropped", "dropped", "source", "dropped", app.Column{Name: "line now", Shrinks: true})
	l.None, l.Hint = "nothing was left out of the next session's text", "mem next --why, then mem next --drop HASH"
	for _, d := range handover.Dropped(st) {
		now := []string{} // the lines that it would have
		if lines[d.Key] != "" {
			now = strings.Split(lines[d.Key], "\n")
		}
		source := app.Cell{Full: d.Key}
		if !strings.Contains(d.Key, "#") {
			source.Short = d.Key[:8]
		}
		l.Add(app.Object{"source", d.Key, "time", term.TimeText(d.Time), "device", d.Device, "lines", now}, source,
			d.Time, strings.Join(now, " "))
	}
	return l.Print()
}

// runUndrop hands over again what was dropped.
func runUndrop(ctx context.Context, run app.Run, name string, o handover.ContextOptions) error {
	d, err := handover.Undrop(ctx, run.DB, run.Project, name, o, run.Opt.DryRun)
	if errors.Is(err, handover.ErrNotDropped) {
		return app.WithCode(app.ExitNo, app.WithHint(err, "mem next --dropped"))
	}
	if err != nil {
		return err
	}
	return run.Did("next.undrop", app.Object{"source", d.Key}, "sessions %s again what is from %s",
		run.Verb("are told", "would be told"), d.Key)
}
