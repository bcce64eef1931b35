package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/hookset"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/storecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/disk"
)

type serveOptions struct {
	port     int
	open     bool
	readOnly bool
}

// Serve returns mem serve.
func Serve(e *app.Env) *cli.Command {
	var o serveOptions
	return &cli.Command{
		Name:  "serve",
		Usage: "show the memory in a browser and serve the API",
		Description: "Listens on 127.0.0.1 and prints an address that signs in one browser. The REST API is\n" +
			"under /api/memory; programs need a token of \"mem token add\". With -p, serves only that\n" +
			"project. Ctrl-C stops the server.",
		Flags: []cli.Flag{
			app.ParsedFlag(&o.port, "port", "listen on port `N`; default a free port", parsePort),
			app.BoolFlag(&o.open, "open", "open the address in the browser"),
			app.BoolFlag(&o.readOnly, "read-only", "refuse every change"),
		},
		Action: names.Action(e, 0, 0, func(ctx context.Context, run names.Run) error {
			return runServe(ctx, run, o)
		}),
	}
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, errors.New("want a number from 0 to 65535")
	}
	return int(n), nil
}

func runServe(ctx context.Context, run names.Run, o serveOptions) error {
	world, err := webWorld(run)
	if err != nil {
		return err
	}
	world.ReadOnly = o.readOnly
	if run.Yield != nil { // hooks that capture a session must not wait for pages
		run.Yield()
	}
	server, err := newServer(world)
	if err != nil {
		return err
	}
	defer os.Remove(signInFile(world.Store)) // it may not be there
	return server.Serve(ctx, o.port, func(address string) {
		if run.Opt.JSON {
			err = run.PrintJSON("serve", nil, "address", address)
		} else {
			run.Printf("%s\n", address)
			run.Note("the address signs in one browser; Ctrl-C ends the server")
		}
		if err := errors.Join(err, run.Out.Flush()); err != nil {
			run.Warn("%v", err)
		}
		if o.open {
			openBrowser(ctx, run.Env, world.Store, server.SignInURL())
		}
	})
}

// webWorld returns the environment of the web server.
func webWorld(run names.Run) (api.World, error) {
	store, err := run.MemoryDir()
	if err != nil {
		return api.World{}, err
	}
	claude, err := run.ClaudeDir()
	if err != nil {
		claude = "" // the pages show what is in memory
	}
	return api.World{
		Memory: run.Memory, Store: store, Scope: run.Scope, Dir: run.Dir, Claude: claude,
		Program: hookset.CalledAs(run.Env), Now: run.Now,
		Rand: run.Rand, Clean: term.Sanitize, Hints: app.HintsOf,
		Settings: func() (*config.Config, error) { return freshSettings(run.Env) },
		Set: func(ctx context.Context, key, value string) error {
			one := *run.Env // requests run at the same time
			return app.ChangeSettings(ctx, &one, func(c *config.Config) error {
				if value != "" {
					return c.Set(key, value)
				}
				_, err := c.Unset(key)
				return err
			})
		},
		Engine: func(ctx context.Context, rev state.Rev, name, model string) (compress.Summarizer, error) {
			one := *run.Env
			one.Conf = nil
			return requestedEngine(ctx, run, rev, name, model)
		},
		Decay: names.DecayOf, Hooks: func() (api.HooksState, error) { return hooksState(run.Env) },
		Examine:  func(ctx context.Context, fix bool) ([]api.Check, error) { return examine(ctx, run.Env, fix) },
		Activity: storecmd.HookActivity(store),
	}, nil
}

// requestedEngine returns the engine of a request. A model is no error for an engine without one: the settings of a
// version name one in every request. Faults of the request are its own, and not the server's.
func requestedEngine(ctx context.Context, run names.Run, rev state.Rev, name, model string) (compress.Summarizer, error) {
	if name != "" && !slices.Contains(versioncmd.EngineNames(), name) {
		return nil, api.BadRequest(fmt.Sprintf("engine is %s", strings.Join(versioncmd.EngineNames(), ", ")))
	}
	if !plainModel(model) {
		return nil, api.BadRequest("model is the name of a model: up to 200 visible characters")
	}
	engine, err := versioncmd.Engine(ctx, run, rev, versioncmd.EngineChoice{Name: name, Model: model, Lenient: true})
	switch {
	case app.IsUsage(err):
		return nil, api.BadRequest(err.Error(), app.HintsOf(err)...)
	case errors.Is(err, exec.ErrNotFound):
		return nil, api.NewProblem(http.StatusUnprocessableEntity, "engine", err.Error(), app.HintsOf(err)...)
	}
	return engine, err
}

// plainModel reports whether model may be the name of a model, which programs get as an argument.
func plainModel(model string) bool {
	return len(model) <= 200 && !strings.HasPrefix(model, "-") &&
		!strings.ContainsFunc(model, func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) })
}

// examine runs the checks of "mem doctor" for a page.
func examine(ctx context.Context, e *app.Env, fix bool) ([]api.Check, error) {
	one := *e // requests run at the same time
	one.Conf = nil
	dir, err := one.MemoryDir()
	if err != nil {
		return nil, err
	}
	x := &doctor.Exam{E: &one, Ctx: ctx, Fix: fix, Dir: dir}
	err = x.Run(false)
	var out []api.Check
	for _, f := range x.Found {
		out = append(out, api.Check{Name: f.Check, Level: f.Level, What: f.What, Fix: f.Fix})
	}
	return out, err
}

// hooksState returns the state of "mem hooks status" for a page.
func hooksState(e *app.Env) (api.HooksState, error) {
	one := *e
	one.Conf = nil
	r, _, err := hookcmd.HooksReport(&one, "")
	out := api.HooksState{
		Program: r.Program, Capture: r.Capture, Blocking: r.Blocking, Every: r.Every, Distill: r.Distill, Spool: r.Spool,
		Behind: r.Behind,
		Log:    r.Log, LogFile: r.LogFile,
	}
	if r.Plugin != nil && r.Plugin.Off == "" {
		out.Plugin = r.Plugin.ID + " (" + r.Plugin.Scope + ")"
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, api.HooksFile{Scope: f.Scope, File: f.File, State: f.State,
			Advice: hookcmd.HooksAdvice(f, r.Program)})
	}
	for _, p := range r.Runs {
		out.Runs = append(out.Runs, api.HookRuns{
			Event: string(p.Event), Runs: p.Runs, Failed: p.Failed, Last: p.Timing.Last, P50: p.Timing.P50, P95: p.Timing.P95,
		})
	}
	return out, err
}

// freshSettings reads the settings from the file again.
func freshSettings(e *app.Env) (*config.Config, error) {
	one := *e
	one.Conf = nil
	return one.Settings()
}

// signInFile is the file that sends a browser to the address that signs it in.
func signInFile(store string) string { return filepath.Join(store, "cache", "sign-in.html") }

// openBrowser opens an address in the user's browser. Other users of the machine can read command lines, so that the
// address, which signs anybody in once, is in a file that only the user can read.
func openBrowser(ctx context.Context, e *app.Env, store, address string) {
	file := signInFile(store)
	page := fmt.Sprintf("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"+
		"<meta http-equiv=\"refresh\" content=\"0; url=%[1]s\">\n<title>mem</title>\n<a href=\"%[1]s\">Open mem</a>\n", address)
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = disk.WriteFile(file, []byte(page))
	}
	if err != nil {
		e.Warn("%v: open the address yourself", err)
		return
	}
	name, args := "xdg-open", []string{file}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", file}
	}
	if _, err := exec.LookPath(name); err != nil {
		e.Warn("%s is not installed: open the address yourself", name)
		return
	}
	cmd := e.Command(context.WithoutCancel(ctx), nil, name, args...)
	if err := cmd.Start(); err != nil {
		e.Warn("%v: open the address yourself", fmt.Errorf("start %s: %w", name, err))
		return
	}
	go func() { _ = cmd.Wait() }() // how the browser ends is its own affair
}
