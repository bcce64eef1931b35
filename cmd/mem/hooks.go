package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

// hooksCommand is the command about the hooks in Claude Code's settings.
func (e *Env) hooksCommand() *cli.Command {
	var scope, distill string
	flags := func() []*cli.Flag {
		return []*cli.Flag{cli.Choice(&scope, "scope", "whose settings: `WHOSE` is user, project or local", hookScopes()...)}
	}
	action := func(run func(context.Context, string) error) func(context.Context, *cli.Command) error {
		return func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return run(ctx, scope)
		}
	}
	return &cli.Command{
		Name:  "hooks",
		Usage: "capture Claude Code's sessions automatically",
		Description: "install writes mem's hooks into Claude Code's settings (~/.claude/settings.json, or with --scope the project's\n" +
			".claude/settings.json or settings.local.json) and prints what each of them does and costs. Other hooks, order, spaces and\n" +
			"comments stay. The hooks write the memory that is in use: MEM_DIR or --mem-dir, if given. No hook asks a model or the user\n" +
			"for anything unless --distill turns that on: session tells Claude which messages have no facts, background distils a\n" +
			"session when it ends. A terminal is asked once. uninstall restores the file byte for byte if it was not changed since.\n" +
			"See \"mem help capturing\".",
		Commands: []*cli.Command{
			{Name: "install", Usage: "write the hooks into the settings of Claude Code",
				Flags:  append(flags(), cli.Choice(&distill, "distill", "how facts are asked for: `HOW` is off, session or background", distillWays()...)),
				Action: action(func(ctx context.Context, scope string) error { return e.runHooksInstall(ctx, scope, distill) })},
			{Name: "uninstall", Usage: "remove the hooks", Flags: flags(), Action: action(func(ctx context.Context, scope string) error { return e.runHooksUninstall(ctx, scope) })},
			{Name: "status", Usage: "show where hooks are installed and whether they work", Flags: flags(), Action: action(func(ctx context.Context, scope string) error { return e.runHooksStatus(ctx, scope) })},
			{Name: "test", Usage: "run every hook once in a temporary memory", Flags: flags(), Action: action(func(ctx context.Context, scope string) error { return e.runHooksTest(ctx, scope) })},
		},
	}
}

func hookScopes() []string { return []string{"user", "project", "local"} }

// scopesOf returns the scopes to look at: the one that was named, or all.
func scopesOf(scope string) []string {
	if scope != "" {
		return []string{scope}
	}
	return hookScopes()
}

// settingsOf returns the settings file of a scope.
func (e *Env) settingsOf(scope string) (settings.SettingsFile, error) {
	store, err := e.memoryDir()
	if err != nil {
		return settings.SettingsFile{}, err
	}
	dir, name := filepath.Join(e.projectRoot(), ".claude"), "settings.json"
	switch scope {
	case "", "user":
		dir, err = e.claudeDir()
	case "local":
		name = "settings.local.json"
	}
	return settings.SettingsFile{Path: filepath.Join(dir, name), Store: store}, err
}

// projectRoot returns the directory of the git repository around the working directory, or else that itself.
func (e *Env) projectRoot() string {
	for d := filepath.Clean(e.Dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if filepath.Dir(d) == d {
			return e.Dir
		}
	}
}

// A hooksChange is what install or uninstall did, as --json prints it.
type hooksChange struct {
	File    string          `json:"file"`
	Command string          `json:"command,omitempty"`
	Store   string          `json:"store,omitempty"` // the memory that the hooks name
	Events  []string        `json:"events"`
	Hooks   []hooks.Purpose `json:"hooks,omitempty"` // what they do and cost
	Changed bool            `json:"changed"`
	DryRun  bool            `json:"dry_run"`
}

func (e *Env) runHooksInstall(ctx context.Context, scope, distill string) error {
	f, err := e.settingsOf(scope)
	if err != nil {
		return err
	}
	p, err := e.hooksProgram()
	if err != nil {
		return err
	}
	if _, err := settings.Install(nil, p); errors.Is(err, settings.ErrProgram) {
		return withHint(err, shell("mv", p.Path, filepath.Join(filepath.Dir(p.Path), "mem")))
	} else if err != nil {
		return err
	}
	if !e.opt.dryRun {
		if err := e.readyForHooks(ctx); err != nil {
			return err
		}
	}
	changed, err := f.Install(p, e.opt.dryRun)
	if err != nil {
		return e.settingsError(err, f)
	}
	if plugin := e.plugin(); plugin != nil {
		e.warn("the plugin %s is enabled in %s: with both, each hook runs twice", plugin.ID, plugin.File)
	}
	if scope == "project" && changed && !e.opt.dryRun {
		e.warn("%s is often shared with others, and names %s", f.Path, p.Path)
	}
	if err := e.askDistill(ctx, distill); err != nil {
		return err
	}
	s, err := e.hookSettings()
	if err != nil {
		return err
	}
	return e.sayHooks("install", hooksChange{File: f.Path, Command: p.Path, Store: p.Store, Changed: changed, Hooks: hooks.Purposes(s)})
}

// hooksProgram returns what hooks are to run: this program, on the memory that is in use here unless that is the default one.
func (e *Env) hooksProgram() (p settings.Program, err error) {
	p.Bare = runtime.GOOS == "windows"
	if p.Path, err = e.ownPath(); err != nil {
		return p, err
	}
	dir, err := e.memoryDir()
	if err != nil {
		return p, err
	}
	if usual, err := e.underHome(".claude-memory", "MEM_DIR"); err != nil || dir != usual {
		p.Store = dir
	}
	return p, nil
}

// ownPath returns the path of this program as settings can name it.
func (e *Env) ownPath() (string, error) {
	self, err := e.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", withHint(fatalf("%s is there only while \"go run\" runs", self), "go install ./cmd/mem")
	}
	return self, nil
}

// readyForHooks makes what hooks need: a memory, and the user's word that sessions are captured without being asked.
func (e *Env) readyForHooks(ctx context.Context) error {
	m, err := e.memory()
	switch {
	case err == nil:
		err = m.Close()
	case errors.Is(err, refs.ErrNotRepo):
		err = e.runInit(ctx, initOptions{})
	}
	if err != nil {
		return err
	}
	const register = "defaults.autoRegisterSessions"
	return e.changeSettings(ctx, func(c *config.Config) error {
		if _, from, err := c.Get(register); err != nil || from == config.File {
			if on, err := c.Bool(register); err == nil && !on {
				e.note("%s is false: only sessions that you add by hand are captured", register)
			}
			return err
		}
		return c.Set(register, "true")
	})
}

func (e *Env) settingsError(err error, f settings.SettingsFile) error {
	var at *settings.TextError
	switch {
	case errors.Is(err, settings.ErrSettings):
		return withHint(err, "make it a file, or take it away")
	case errors.As(err, &at), errors.Is(err, settings.ErrShape):
		return withHint(err, "mend "+f.Path+": mem never overwrites what it cannot read")
	}
	return err
}

func (e *Env) runHooksUninstall(_ context.Context, scope string) error {
	f, err := e.settingsOf(scope)
	if err != nil {
		return err
	}
	changed, err := f.Uninstall(e.opt.dryRun)
	if err != nil {
		return e.settingsError(err, f)
	}
	return e.sayHooks("uninstall", hooksChange{File: f.Path, Changed: changed})
}

func (e *Env) sayHooks(op string, c hooksChange) error {
	c.DryRun, c.Events = e.opt.dryRun, []string{}
	for _, ev := range settings.Events() {
		c.Events = append(c.Events, string(ev))
	}
	if e.opt.json {
		return e.printJSON("hooks."+op, c)
	}
	what, direction := "add", "to"
	if op == "uninstall" {
		what, direction = "remove", "from"
	}
	switch {
	case !c.Changed && op == "install":
		e.note("the hooks are in %s already", c.File)
	case !c.Changed:
		e.note("there are no hooks of mem in %s", c.File)
	case c.DryRun:
		e.note("would %s the hooks %s %s: %s", what, direction, c.File, strings.Join(c.Events, ", "))
	case op == "install":
		e.note("added the hooks to %s; new sessions are captured from now on", c.File)
	default:
		e.note("removed the hooks from %s; what was captured stays", c.File)
	}
	if len(c.Hooks) == 0 || e.opt.quiet {
		return nil
	}
	t := e.table(column{name: "event"}, column{name: "does", shrinks: true}, column{name: "costs"})
	for _, h := range c.Hooks {
		t.row(cell{full: string(h.Event)}, cell{full: h.Does}, cell{full: h.Costs})
	}
	return t.flush()
}

// A hooksReport is what status found, as --json prints it.
type hooksReport struct {
	Program  string        `json:"program"`
	Capture  bool          `json:"capture"`
	Blocking string        `json:"blocking"`
	Every    int           `json:"every"`
	Distill  string        `json:"distill"`
	Spool    int           `json:"spool"`
	Behind   int           `json:"behind"` // directories that a worker catches up in
	Runs     []hooksPace   `json:"runs"`   // how the last ones did
	Files    []hooksInFile `json:"files"`
	Plugin   *hooksPlugin  `json:"plugin,omitempty"`
	Log      []string      `json:"log"` // its last lines
	LogFile  string        `json:"log_file"`
}

// hooksPace is how the last runs of the hooks of an event did, in milliseconds inside the program.
type hooksPace struct {
	hooks.Pace
	Last string  `json:"last"`
	P50  float64 `json:"p50_ms"`
	P95  float64 `json:"p95_ms"`
}

func hooksPaces(store string) []hooksPace {
	out := []hooksPace{}
	for _, p := range hooks.Paces(store) {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		out = append(out, hooksPace{p, timeText(p.Last), ms(p.P50), ms(p.P95)})
	}
	return out
}

type hooksInFile struct {
	Scope    string   `json:"scope"`
	File     string   `json:"file"`
	State    string   `json:"state"` // installed, none, incomplete, outdated, "another program", "another memory", disabled, unreadable
	Commands []string `json:"commands"`
	Stores   []string `json:"stores,omitempty"` // the memories that the hooks name
	Missing  []string `json:"missing"`
	Error    string   `json:"error,omitempty"`
}

// hooksReport looks at the hooks of a scope, or with "" of all; installed are the scopes whose hooks are as they must be.
func (e *Env) hooksReport(only string) (r hooksReport, installed []string, err error) {
	store, err := e.memoryDir()
	if err != nil {
		return r, nil, err
	}
	s, err := e.hookSettings()
	if err != nil {
		return r, nil, err
	}
	self, err := e.Executable()
	if err != nil {
		return r, nil, err
	}
	r = hooksReport{Program: self, Capture: s.Capture, Blocking: s.Blocking, Every: s.Every, Spool: hooks.Spooled(store), Behind: hooks.Behind(store), Runs: hooksPaces(store), LogFile: hooks.LogFile(store), Log: lastLines(hooks.LogFile(store), 5)}
	if conf, err := e.settings(); err == nil {
		r.Distill = hookValue(conf.String, "distill.engine", "")
	}
	for _, scope := range scopesOf(only) {
		f, err := e.settingsOf(scope)
		if err != nil {
			return r, nil, err
		}
		in := hooksIn(scope, f, self)
		if in.State == "installed" {
			installed = append(installed, scope)
		}
		r.Files = append(r.Files, in)
	}
	if only == "" {
		r.Plugin = e.plugin()
	}
	return r, installed, nil
}

func (e *Env) runHooksStatus(_ context.Context, only string) error {
	r, installed, err := e.hooksReport(only)
	if err != nil {
		return err
	}
	if e.opt.json {
		err = e.printJSON("hooks.status", r)
	} else {
		e.printHooksStatus(r, installed)
	}
	if err == nil && len(installed) == 0 && (r.Plugin == nil || r.Plugin.off != "") {
		return exit(exitNo)
	}
	return err
}

// hooksIn looks at one settings file.
func hooksIn(scope string, f settings.SettingsFile, self string) hooksInFile {
	in := hooksInFile{Scope: scope, File: f.Path, State: "none", Commands: []string{}, Missing: []string{}}
	found, disabled, err := f.Installed()
	if err != nil {
		in.State, in.Error = "unreadable", err.Error()
		return in
	}
	for _, h := range found {
		if !slices.Contains(in.Commands, h.Program.Path) {
			in.Commands = append(in.Commands, h.Program.Path)
		}
		if s := h.Program.Store; s != "" && !slices.Contains(in.Stores, s) {
			in.Stores = append(in.Stores, s)
		}
	}
	for _, ev := range settings.Events() {
		if !slices.ContainsFunc(found, func(h settings.Found) bool { return h.Event == ev && h.Answers == ev }) {
			in.Missing = append(in.Missing, string(ev))
		}
	}
	switch {
	case len(found) == 0:
		in.Missing = []string{}
	case disabled:
		in.State = "disabled"
	case len(in.Missing) > 0:
		in.State = "incomplete"
	case len(in.Commands) != 1 || in.Commands[0] != self:
		in.State = "another program"
	case slices.ContainsFunc(in.Stores, func(s string) bool { return !sameFile(s, f.Store) && s != f.Store }):
		in.State = "another memory"
	case slices.ContainsFunc(found, func(h settings.Found) bool { return !h.Current }):
		in.State = "outdated"
	default:
		in.State = "installed"
	}
	return in
}

func (e *Env) printHooksStatus(r hooksReport, installed []string) {
	for _, f := range r.Files {
		e.printf("%-8s %-15s %s\n", f.Scope, f.State, e.safe(f.File))
		for _, line := range hooksAdvice(f, r.Program) {
			e.printf("         %s\n", e.safe(line))
		}
	}
	if r.Plugin != nil {
		e.printPlugin(r.Plugin, installed)
	}
	capture := fmt.Sprintf("every %d uses of a tool", r.Every)
	if !r.Capture {
		capture = "off (hooks.capture)"
	}
	e.printf("capture  %s\nblocking %s\n", capture, r.Blocking)
	if r.Distill != "" {
		e.printf("distill  by %s, when a session ends\n", r.Distill)
	}
	e.printPaces(r.Runs)
	if r.Spool > 0 {
		e.printf("spool    %d note%s to fold in; the next hook does\n", r.Spool, plural(r.Spool))
	}
	if r.Behind > 0 {
		e.printf("behind   sessions in %d place%s; a worker captures them, or the next start there\n", r.Behind, plural(r.Behind))
	}
	for i, line := range r.Log {
		if i == 0 {
			e.printf("log      %s\n", e.safe(r.LogFile))
		}
		e.printf("         %s\n", e.safe(line))
	}
}

// printPaces says whether hooks run, how fast, and how many went wrong.
func (e *Env) printPaces(list []hooksPace) {
	if len(list) == 0 {
		e.printf("runs     none yet\n")
		return
	}
	e.printf("runs     %-19s %6s %7s %9s %9s  last\n", "event", "runs", "failed", "p50 ms", "p95 ms")
	for _, p := range list {
		e.printf("         %-19s %6d %7d %9.1f %9.1f  %s\n", e.safe(string(p.Event)), p.Runs, p.Failed, p.P50, p.P95, ago(e.Now(), p.Pace.Last))
	}
}

// hooksAdvice says what is wrong with the hooks in a file and what to type.
func hooksAdvice(f hooksInFile, self string) []string {
	again := "mem hooks install --scope " + f.Scope
	switch f.State {
	case "disabled":
		return []string{"\"disableAllHooks\" is true there: take it out"}
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

// lastLines returns the last lines of a file, none if it cannot be read.
func lastLines(file string, n int) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		return []string{}
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}
