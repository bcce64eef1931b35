package remotecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

type revokeOptions struct {
	source string
	reason string
	off    bool

	src      records.Origin // that source names
	projects []state.Project
	effects  []trust.Effect // in the projects
}

// body is what is recorded.
func (o revokeOptions) body() records.RevokeBody {
	return records.RevokeBody{Origin: o.src, Revoked: !o.off, Reason: o.reason}
}

// Revoke returns mem revoke.
func Revoke(e *app.Env) *cli.Command {
	var o revokeOptions
	return &cli.Command{
		Name:      "revoke",
		Usage:     "hide the data of a session, tool or host on all machines",
		ArgsUsage: "[<source>]",
		Description: "A source is a session, a tool, an MCP server, or a host that a tool contacted or that\n" +
			"occurs in a tool result; the prefix session:, tool: or host: selects one kind. Facts\n" +
			"with evidence from the source, and concepts, rules, versions and compositions that\n" +
			"depend on them, disappear from lists and contexts, here and wherever the project is\n" +
			"pulled. Later data of the source is hidden too. Nothing is deleted: --all lists hidden\n" +
			"data, --undo or \"mem undo\" restores it. New compressions leave it out. Without a\n" +
			"source, lists the revoked ones.",
		Flags: []cli.Flag{
			app.StringFlag(&o.source, "source", "revoke `SOURCE`: a session, tool:NAME or host:NAME"),
			app.StringFlag(&o.reason, "reason", "give the reason `TEXT`, which lists show"),
			app.BoolFlag(&o.off, "undo", "show the data of the source again"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			switch {
			case len(e.Operands) > 0 && o.source != "":
				return app.Usagef("name the source once: %s or %s", e.Operand(0), o.source)
			case len(e.Operands) > 0:
				o.source = e.Operand(0)
			}
			if o.source == "" {
				if o.off || o.reason != "" {
					return app.WithHint(app.Usagef("name the source"), "mem revoke lists those that are revoked")
				}
				return app.WithMemory(c.Context, e, func(run app.Run) error { return runRevocations(c.Context, run) })
			}
			return app.WithMemory(c.Context, e, func(run app.Run) error { return runRevoke(c.Context, run, o) })
		}),
	}
}

func runRevoke(ctx context.Context, run app.Run, o revokeOptions) error {
	src, home, err := revision.FindOrigin(ctx, run.DB, run.Scope, o.source)
	if err != nil {
		return originError(err, o.source)
	}
	o.src, o.projects = src, []state.Project{home}
	if run.Opt.AllProjects && src.Kind != records.SessionSource {
		if o.projects, err = app.Projects(ctx, run.Memory); err != nil {
			return err
		}
	}
	for _, p := range o.projects {
		eff, err := trust.Revoke(ctx, run.DB, p, o.body(), true)
		if err != nil {
			return fmt.Errorf("revoke %s: %w", src, err)
		}
		o.effects = append(o.effects, eff)
	}
	if !run.Opt.DryRun {
		done, err := applyRevoke(ctx, run, o)
		if err != nil || !done {
			return err
		}
	}
	return printRevoked(run.Env, o)
}

// originError adds hints to the error of an unknown source.
func originError(err error, name string) error {
	var missing *state.NotFoundError
	var many *state.AmbiguousError
	switch {
	case errors.As(err, &missing) && missing.What == "source":
		hints := []string{fmt.Sprintf("revoke it before anything came from it: mem revoke --source tool:%s, or host:%s",
			name, name)}
		if near := term.Suggest(strings.ToLower(name), missing.Candidates); len(near) > 0 {
			hints = append([]string{app.DidYouMean("", near)}, hints...)
		}
		return app.WithCode(app.ExitNo, app.WithHint(err, hints...))
	case errors.As(err, &many) && many.What == "source":
		return app.WithHint(err, term.Shell("mem", "revoke", "--source", many.Candidates[0]))
	case errors.As(err, &missing), errors.As(err, &many):
		return err
	}
	return app.Usagef("%v", err)
}

// applyRevoke asks for confirmation and stores the revocation.
func applyRevoke(ctx context.Context, run app.Run, o revokeOptions) (bool, error) {
	n, news := 0, false
	for _, eff := range o.effects {
		n, news = n+len(eff.Changed), news || !eff.Already
	}
	if news && !o.off && n > 0 {
		if ok, err := run.Confirm("hide %s derived from %s?", term.Count(n, "item"), o.src); err != nil || !ok {
			return false, err
		}
	}
	for _, p := range o.projects {
		if _, err := trust.Revoke(ctx, run.DB, p, o.body(), false); err != nil {
			return false, fmt.Errorf("revoke %s in %s: %w", o.src, p.Name, err)
		}
	}
	return true, nil
}

func printRevoked(e *app.Env, o revokeOptions) error {
	if e.Opt.JSON {
		all := []app.Object{}
		for i, eff := range o.effects {
			all = append(all, app.Object{"project", o.projects[i].Name, "source", o.src.Kind, "name", o.src.Name,
				"revoked", !o.off, "already", eff.Already, "messages", eff.Places,
				"changed", append([]state.Hidden{}, eff.Changed...), "sessionsWithItsText", append([]string{}, eff.Copies...)})
		}
		return e.PrintJSON("revoke", nil, "dryRun", e.Opt.DryRun, "projects", all)
	}
	verb := e.Verb("", "would be ") + map[bool]string{false: "hidden", true: "shown again"}[o.off]
	for i, eff := range o.effects {
		for _, h := range eff.Changed {
			of := app.If(h.Project != "", " of project "+h.Project)
			e.Printf("%s  %s  %s%s\n", verb, h.Kind, e.Style().Yellow(e.Safe(h.Name)), e.Safe(of+because(app.OneLine(h.What))))
		}
		noteRevoked(e, o, o.projects[i], eff)
	}
	return nil
}

func noteRevoked(e *app.Env, o revokeOptions, p state.Project, a trust.Effect) {
	state := map[bool]string{false: "revoked", true: "not revoked"}[o.off]
	if a.Already {
		e.Note("%s is %s already in project %s", o.src.String(), state, p.Name)
		return
	}
	e.Note("%s %s %s in project %s: %s, %s", o.src.String(), e.Verb("is", "would be"), state, p.Name,
		term.Count(a.Places, "message"), term.Count(len(a.Changed), "item"))
	if e.Opt.DryRun {
		return
	}
	if o.off {
		return
	}
	if a.Places == 0 {
		e.Note("no data of it yet; later data will be hidden")
	}
	for _, id := range a.Copies {
		e.Warn("session %s was given text that is hidden now: mem revoke --source session:%s, if it acted on it",
			term.ShortID(id), term.ShortID(id))
	}
	e.Hint("%s removes the revocation; mem push sends it to other machines",
		term.Shell("mem", "revoke", "--undo", "--source", o.src.String()))
}

// runRevocations lists the revoked sources.
func runRevocations(ctx context.Context, run app.Run) error {
	list, err := trust.RevocationsOf(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	l := run.List("revoke.list", "revoked", "source", "when", "device", app.Column{Name: "reason", Shrinks: true})
	l.None, l.Hint = "nothing is revoked in project "+run.Project.Name, "mem revoke --source SESSION, tool:NAME or host:NAME"
	for _, r := range list {
		by, err := trust.DeviceName(ctx, run.DB, r.Device)
		if err != nil {
			return err
		}
		l.Add(r, app.Cell{Full: r.Origin.String(), Paint: run.Style().Yellow}, r.Time, by, r.Reason)
	}
	return l.Print("project", run.Project.Name)
}
