package hookcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookset"
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
			hookset.HookScopes()...)}
	}
	action := func(run func(context.Context, string) error) func(c *cli.Context) error {
		return e.Action(0, 0, func(c *cli.Context) error {
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

// scopesOf returns the named scope, or all scopes.
func scopesOf(e *app.Env, scope string) []string {
	if scope != "" {
		return []string{scope}
	}
	return hookset.DistinctScopes(e)
}

// A hooksChange is the JSON form of mem hooks install and uninstall.
type hooksChange struct {
	File    string          `json:"file"`
	Command string          `json:"command,omitempty"`
	Store   string          `json:"store,omitempty"` // the memory that the hooks name
	Events  []string        `json:"events"`
	Hooks   []hooks.Purpose `json:"hooks,omitempty"` // what they do and cost
	Changed bool            `json:"changed"`
	DryRun  bool            `json:"dryRun"`
	Diff    string          `json:"diff,omitempty"` // of the file, in a dry run
}

func runHooksInstall(ctx context.Context, e *app.Env, scope, distill string) error {
	f, err := hookset.SettingsOf(e, scope)
	if err != nil {
		return err
	}
	p, err := hookset.HooksProgram(e)
	if err != nil {
		return err
	}
	if _, err := settings.Install(nil, p); errors.Is(err, settings.ErrProgram) {
		return app.WithHint(err, term.Shell("mv", p.Path, filepath.Join(filepath.Dir(p.Path), "mem")))
	} else if err != nil {
		return err
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
	if plugin := hookset.Plugin(e); plugin != nil {
		e.Warn("the plugin %s is enabled in %s: with both, each hook runs twice", plugin.ID, plugin.File)
	}
	if scope == "project" && change.Changed() && !e.Opt.DryRun {
		e.Warn("%s is often shared with others, and names %s", f.Path, p.Path)
	}
	if err := setDistillMode(ctx, e, distill); err != nil {
		return err
	}
	s, err := hookset.HookSettings(e)
	if err != nil {
		return err
	}
	purposes := hooks.Purposes(s)
	if !e.Opt.DryRun && !e.Opt.Quiet {
		measure(ctx, e, purposes)
	}
	return printHooks(e, "install", hooksChange{File: f.Path, Command: p.Path, Store: p.Store, Hooks: purposes}, change)
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
	f, err := hookset.SettingsOf(e, scope)
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
	return printHooks(e, "uninstall", hooksChange{File: f.Path}, change)
}

func printHooks(e *app.Env, op string, c hooksChange, change settings.Change) error {
	c.DryRun, c.Events, c.Changed = e.Opt.DryRun, []string{}, change.Changed()
	if c.DryRun {
		c.Diff = unifiedDiff(c.File, change)
	}
	for _, ev := range settings.Events() {
		c.Events = append(c.Events, string(ev))
	}
	if e.Opt.JSON {
		return e.PrintJSON("hooks."+op, c)
	}
	what, direction := "add", "to"
	if op == "uninstall" {
		what, direction = "remove", "from"
	}
	switch {
	case !c.Changed && op == "install":
		e.Note("the hooks are in %s already", c.File)
	case !c.Changed:
		e.Note("there are no hooks of mem in %s", c.File)
	case c.DryRun:
		e.Note("would %s %d hooks %s %s", what, len(c.Events), direction, c.File)
	case op == "install":
		e.Note("added the hooks to %s; new sessions are captured from now on", c.File)
	default:
		e.Note("removed the hooks from %s; captured sessions stay", c.File)
	}
	if !e.Opt.Quiet {
		if err := printPurposes(e, c.Hooks); err != nil {
			return err
		}
	}
	if c.Diff != "" && !e.Opt.Verbose {
		added, removed := changedLines(c.Diff)
		e.Note("%s added, %d removed; -v prints the diff", term.Count(added, "line"), removed)
		return nil
	}
	for line := range strings.Lines(c.Diff) {
		e.Printf("%s\n", e.Safe(strings.TrimSuffix(line, "\n")))
	}
	if op == "install" && c.Changed && !c.DryRun {
		e.Hint("mem next shows the text that the next session receives")
	}
	return nil
}

// printPurposes prints what each hook does and costs.
func printPurposes(e *app.Env, list []hooks.Purpose) error {
	if len(list) == 0 {
		return nil
	}
	t := e.Table(app.Column{Name: "event"}, app.Column{Name: "does", Shrinks: true}, app.Column{Name: "costs at most"},
		app.Column{Name: "time at most"})
	for _, h := range list {
		took := fmt.Sprintf("%g s", float64(h.LimitMS)/1000)
		if h.MS > 0 {
			took += fmt.Sprintf(", took %.0f ms", h.MS)
		}
		t.Row(app.Cell{Full: string(h.Event)}, app.Cell{Full: h.Does},
			app.Cell{Full: strings.TrimPrefix(h.Costs, "up to ")}, app.Cell{Full: took})
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

// A hooksReport is the JSON form of mem hooks status.
type hooksReport struct {
	Program  string                `json:"program"`
	Capture  bool                  `json:"capture"`
	Blocking string                `json:"blocking"`
	Every    int                   `json:"every"`
	Distill  string                `json:"distill"`
	Spool    int                   `json:"spool"`
	Behind   int                   `json:"behind"` // directories that a worker catches up in
	Runs     []hooksTiming         `json:"runs"`
	Files    []hookset.HooksInFile `json:"files"`
	Plugin   *hookset.HooksPlugin  `json:"plugin,omitempty"`
	Log      []string              `json:"log"` // its last lines
	LogFile  string                `json:"logFile"`
}

// hooksTiming is the timing of one event in milliseconds, measured inside the program.
type hooksTiming struct {
	hooks.Timing
	Last string  `json:"last"`
	P50  float64 `json:"p50Ms"`
	P95  float64 `json:"p95Ms"`
}

func hooksTimings(store string) []hooksTiming {
	out := []hooksTiming{}
	for _, p := range hooks.Timings(store) {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		out = append(out, hooksTiming{p, term.TimeText(p.Last), ms(p.P50), ms(p.P95)})
	}
	return out
}

// HooksReport returns the state of the hooks of a scope, or with "" of all scopes; installed are the scopes with
// correct hooks.
func HooksReport(e *app.Env, only string) (r hooksReport, installed []string, err error) {
	store, err := e.MemoryDir()
	if err != nil {
		return r, nil, err
	}
	s, err := hookset.HookSettings(e)
	if err != nil {
		return r, nil, err
	}
	self, err := e.Executable()
	if err != nil {
		return r, nil, err
	}
	r = hooksReport{Program: self, Capture: s.Capture, Blocking: s.Blocking, Every: s.Every, Spool: hooks.Spooled(store),
		Behind: hooks.Backlogs(store), Runs: hooksTimings(store), LogFile: hooks.LogFile(store),
		Log: hookset.LastLines(hooks.LogFile(store), 5)}
	if conf, err := e.Settings(); err == nil {
		r.Distill = hookset.HookValue(conf.String, "distill.engine", "")
	}
	for _, scope := range scopesOf(e, only) {
		f, err := hookset.SettingsOf(e, scope)
		if err != nil {
			return r, nil, err
		}
		in := hookset.HooksIn(scope, f, self)
		if in.State == "installed" {
			installed = append(installed, scope)
		}
		r.Files = append(r.Files, in)
	}
	if only == "" {
		r.Plugin = hookset.RunningPlugin(e)
	}
	return r, installed, nil
}

func runHooksStatus(_ context.Context, e *app.Env, only string) error {
	r, installed, err := HooksReport(e, only)
	if err != nil {
		return err
	}
	if e.Opt.JSON {
		err = e.PrintJSON("hooks.status", r)
	} else {
		printHooksStatus(e, r, installed)
	}
	if err == nil && len(installed) == 0 && (r.Plugin == nil || r.Plugin.Off != "") {
		if only == "" && !e.Opt.JSON && !slices.ContainsFunc(r.Files, func(f hookset.HooksInFile) bool { return f.State != "none" }) {
			e.Hint("mem hooks install (-n shows what it would do; --scope project or local for this project alone)")
		}
		return app.Exit(app.ExitNo)
	}
	return err
}

func printHooksStatus(e *app.Env, r hooksReport, installed []string) {
	for _, f := range r.Files {
		e.Printf("%-8s %-15s %s\n", f.Scope, f.State, e.Safe(f.File))
		for _, line := range HooksAdvice(f, r.Program) {
			e.Printf("         %s\n", e.Safe(line))
		}
	}
	if r.Plugin != nil {
		hookset.PrintPlugin(e, r.Plugin, installed)
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
func printTimings(e *app.Env, list []hooksTiming) {
	if len(list) == 0 {
		e.Printf("runs     none yet\n")
		return
	}
	e.Printf("runs     %-19s %6s %7s %9s %9s  last\n", "event", "runs", "failed", "p50 ms", "p95 ms")
	for _, p := range list {
		e.Printf("         %-19s %6d %7d %9.1f %9.1f  %s\n", e.Safe(string(p.Event)), p.Runs, p.Failed, p.P50, p.P95,
			app.Ago(e.Now(), p.Timing.Last))
	}
}

// HooksAdvice returns the problem with the hooks in a file and the commands that fix it.
func HooksAdvice(f hookset.HooksInFile, self string) []string {
	again := "mem hooks install --scope " + f.Scope
	switch f.State {
	case "disabled":
		return []string{"\"disableAllHooks\" is true there: remove it"}
	case "incomplete":
		return []string{"missing: " + strings.Join(f.Missing, ", "), again}
	case "another program":
		return []string{"they run " + strings.Join(f.Commands, ", "), "this is " + self, again}
	case "another memory":
		return []string{"they write " + strings.Join(f.Stores, ", "), again}
	case "outdated":
		return []string{"another version of mem wrote them", again}
	case "unreadable":
		return []string{f.Error}
	}
	return nil
}
