package hookcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/storecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/refs"
)

// HooksCommand returns mem hooks.
func HooksCommand(e *app.Env) *cli.Command {
	var scope, distill string
	scoped := func() []cli.Flag {
		return []cli.Flag{app.ChoiceFlag(&scope, "scope", "whose settings: `WHOSE` is user, project or local",
			hookScopes()...)}
	}
	action := func(run func(context.Context, string) error) func(c *cli.Context) error {
		return e.Action(0, 0, func(c *cli.Context) error {
			e.Lenient = true
			return run(c.Context, scope)
		})
	}
	return &cli.Command{
		Name:  "hooks",
		Usage: "capture Claude Code's sessions automatically",
		Description: "install adds mem's hooks to Claude Code's settings (~/.claude/settings.json, or with\n" +
			"--scope the project's .claude/settings.json or settings.local.json) and prints the\n" +
			"action and cost of each hook. Other hooks, order, white space and comments are\n" +
			"preserved. The hooks use the current memory: MEM_DIR or --mem-dir, if set. No hook\n" +
			"asks a model or the user for anything unless --distill is on: \"session\" tells Claude\n" +
			"which messages have no facts, \"background\" distils a session when it ends.\n" +
			"install asks nothing. uninstall restores the file byte for byte if it has not\n" +
			"changed since. See \"mem help capturing\".",
		Subcommands: []*cli.Command{
			{Name: "install", Usage: "write the hooks into the settings of Claude Code",
				Flags: append(scoped(), app.ChoiceFlag(&distill, "distill",
					"how facts are asked for: `HOW` is off, session or background", distillModes()...)),
				Action: action(func(ctx context.Context, scope string) error { return runHooksInstall(ctx, e, scope, distill) })},
			{Name: "uninstall", Usage: "remove the hooks", Flags: scoped(),
				Action: action(func(ctx context.Context, scope string) error { return runHooksUninstall(ctx, e, scope) })},
			{Name: "status", Usage: "show where hooks are installed and whether they work", Flags: scoped(),
				Action: action(func(ctx context.Context, scope string) error { return runHooksStatus(ctx, e, scope) })},
			{Name: "test", Usage: "run every hook once in a temporary memory", Flags: scoped(),
				Action: action(func(ctx context.Context, scope string) error { return runHooksTest(ctx, e, scope) })},
		},
	}
}

// hooksVerbs returns the names of the subcommands of mem hooks.
func hooksVerbs() []string { return []string{"install", "uninstall", "status", "test"} }

func runHooksInstall(ctx context.Context, e *app.Env, scope, distill string) error {
	f, err := SettingsOf(e, scope)
	if err != nil {
		return err
	}
	p, err := hooksProgram(e)
	if err != nil {
		return err
	}
	if _, err := settings.Install(nil, p); errors.Is(err, settings.ErrProgram) {
		return app.WithHint(err, term.Shell("mv", p.Path, filepath.Join(filepath.Dir(p.Path), "mem")))
	} else if err != nil {
		return err
	}
	if !p.Bare {
		if err := checkClient(ctx, e); err != nil {
			return err
		}
	}
	if !e.Opt.DryRun {
		if err := readyForHooks(ctx, e); err != nil {
			return err
		}
	}
	change, err := f.Install(p, e.Opt.DryRun)
	if err != nil {
		return settingsError(err, f)
	}
	if plugin := enabledPlugin(e); plugin != nil {
		e.Warn("the plugin %s is enabled in %s: with both, each hook runs twice", plugin.ID, plugin.File)
	}
	if scope == "project" && change.Changed() && !e.Opt.DryRun {
		e.Warn("%s is often shared with others, and names %s", f.Path, p.Path)
	}
	if err := setDistillMode(ctx, e, distill); err != nil {
		return err
	}
	s, err := app.HookSettings(e)
	if err != nil {
		return err
	}
	purposes := hooks.Purposes(s)
	if !e.Opt.DryRun && !e.Opt.Quiet {
		measure(ctx, e, purposes)
	}
	return printHooks(e, "install", f.Path, p, purposes, change)
}

// readyForHooks creates the memory that hooks need, and sets defaults.autoRegisterSessions.
func readyForHooks(ctx context.Context, e *app.Env) error {
	m, err := app.OpenMemory(e)
	switch {
	case err == nil:
		err = m.Close()
	case errors.Is(err, refs.ErrNotRepo):
		_, err = storecmd.RunInit(ctx, e, storecmd.InitOptions{})
	}
	if err != nil {
		return err
	}
	return turnOnRegister(ctx, e)
}

func settingsError(err error, f settings.SettingsFile) error {
	var at *settings.TextError
	switch {
	case errors.Is(err, settings.ErrSettings):
		return app.WithHint(err, "replace it by a file, or remove it")
	case errors.As(err, &at), errors.Is(err, settings.ErrShape):
		return app.WithHint(err, "edit "+f.Path+": mem never overwrites a file that it cannot read")
	}
	return err
}

func runHooksUninstall(ctx context.Context, e *app.Env, scope string) error {
	f, err := SettingsOf(e, scope)
	if err != nil {
		return err
	}
	change, err := f.Uninstall(e.Opt.DryRun)
	if err != nil {
		return settingsError(err, f)
	}
	if !e.Opt.DryRun {
		if err := restoreRegister(ctx, e, f); err != nil {
			return err
		}
	}
	return printHooks(e, "uninstall", f.Path, settings.Program{}, nil, change)
}

// printHooks prints the change of the hooks in a file: with op install, of the program p with what the hooks do and cost.
func printHooks(e *app.Env, op, file string, p settings.Program, purposes []hooks.Purpose, change settings.Change) error {
	diff, events := "", settings.Events()
	if e.Opt.DryRun {
		diff = unifiedDiff(file, change)
	}
	if e.Opt.JSON {
		return e.PrintJSON("hooks."+op, nil, "file", file, "command,omitempty", p.Path, "store,omitempty", p.Store,
			"events", events, "hooks,omitempty", purposes, "changed", change.Changed(), "dryRun", e.Opt.DryRun, "diff,omitempty", diff)
	}
	what, direction := "add", "to"
	if op == "uninstall" {
		what, direction = "remove", "from"
	}
	switch {
	case !change.Changed() && op == "install":
		e.Note("the hooks are in %s already", file)
	case !change.Changed():
		e.Note("there are no hooks of mem in %s", file)
	case e.Opt.DryRun:
		e.Note("would %s %d hooks %s %s", what, len(events), direction, file)
	case op == "install":
		e.Note("added the hooks to %s; new sessions are captured from now on", file)
	default:
		e.Note("removed the hooks from %s; captured sessions stay", file)
	}
	if !e.Opt.Quiet {
		if err := printPurposes(e, purposes); err != nil {
			return err
		}
	}
	if diff != "" && !e.Opt.Verbose {
		added, removed := changedLines(diff)
		e.Note("%s added, %d removed; -v prints the diff", term.Count(added, "line"), removed)
		return nil
	}
	for line := range strings.Lines(diff) {
		e.Diff(strings.TrimSuffix(line, "\n"))
	}
	if op == "install" && change.Changed() && !e.Opt.DryRun {
		e.Hint("mem next shows the text that the next session receives")
	}
	return nil
}

// printPurposes prints what each hook does and costs.
func printPurposes(e *app.Env, list []hooks.Purpose) error {
	if len(list) == 0 {
		return nil
	}
	t := e.Table("event", app.Column{Name: "does", Shrinks: true}, "costs at most", "time at most")
	for _, h := range list {
		took := fmt.Sprintf("%g s", float64(h.LimitMS)/1000)
		if h.MS > 0 {
			took += fmt.Sprintf(", took %.0f ms", h.MS)
		}
		t.Row(string(h.Event), h.Does, strings.TrimPrefix(h.Costs, "up to "), took)
	}
	return t.Flush()
}

// changedLines counts the lines that a unified diff adds and removes.
func changedLines(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return added, removed
}

func runHooksStatus(_ context.Context, e *app.Env, only string) error {
	r, err := ReportOf(e, only)
	if err != nil {
		return err
	}
	installed := r.Scopes()
	if e.Opt.JSON {
		err = e.PrintJSON("hooks.status", r)
	} else {
		printHooksStatus(e, r, installed)
	}
	if err == nil && len(installed) == 0 && (r.Plugin == nil || r.Plugin.Off != "") {
		if only == "" && !e.Opt.JSON && !r.Any() {
			e.Hint("mem hooks install (-n shows what it would do; --scope project or local for this project alone)")
		}
		return app.Exit(app.ExitNo)
	}
	return err
}

func printHooksStatus(e *app.Env, r Report, installed []string) {
	for _, f := range r.Files {
		e.Printf("%-8s %-15s %s\n", f.Scope, f.State, e.Safe(f.File))
		if f.Problem != "" {
			e.Printf("         %s\n         %s\n", e.Safe(f.Problem), e.Safe(f.Fix))
		}
	}
	if r.Plugin != nil {
		printPlugin(e, r.Plugin, installed)
	}
	capture := fmt.Sprintf("every %d uses of a tool", r.Every)
	if !r.Capture {
		capture = "off (hooks.capture)"
	}
	e.Printf("capture  %s\n", capture)
	if r.Blocking != "off" {
		e.Printf("blocking %s: Stop asks for missing facts\n", r.Blocking)
	}
	if r.Distill != "" {
		e.Printf("distill  by %s, when a session ends\n", r.Distill)
	}
	printTimings(e, r.Runs)
	if r.Spool > 0 {
		e.Printf("pending  %d note%s to capture; the next hook does it\n", r.Spool, term.Plural(r.Spool))
	}
	if r.Behind > 0 {
		e.Printf("behind   sessions in %d place%s; a worker captures them, or the next start there\n", r.Behind,
			term.Plural(r.Behind))
	}
	for i, line := range r.Log {
		if i == 0 {
			e.Printf("log      %s\n", e.Safe(r.LogFile))
		}
		e.Printf("         %s\n", e.Safe(line))
	}
}

// printTimings prints the last runs, durations and failures of hooks.
func printTimings(e *app.Env, list []hooks.Timing) {
	if len(list) == 0 {
		e.Printf("runs     none yet\n")
		return
	}
	e.Printf("runs     %-19s %6s %7s %9s %9s  last\n", "event", "runs", "failed", "p50 ms", "p95 ms")
	for _, p := range list {
		e.Printf("         %-19s %6d %7d %9.1f %9.1f  %s\n", e.Safe(string(p.Event)), p.Runs, p.Failed, p.P50, p.P95,
			app.Ago(e.Now(), p.Last))
	}
}
