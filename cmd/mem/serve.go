package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strconv"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/cmd/mem/internal/web"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

type serveOptions struct {
	port     int
	open     bool
	readOnly bool
}

// serve is the command that shows the memory in a browser.
func (e *Env) serve() *cli.Command {
	var o serveOptions
	return &cli.Command{
		Name:  "serve",
		Usage: "show the memory in a browser and serve the API",
		Description: "Listens on 127.0.0.1 and prints an address that signs in one browser. Pages are under it, and the API for programs is\n" +
			"under /api/memory; a program needs a token of \"mem token add\". With -p only that project is shown. Ctrl-C ends it.",
		Flags: []*cli.Flag{
			cli.Parsed(&o.port, "port", "listen on port `N`; without it on one that is free", parsePort),
			cli.Bool(&o.open, "open", "open the address in the browser"),
			cli.Bool(&o.readOnly, "read-only", "refuse every change"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runServe(ctx, o)
		},
	}
}

func parsePort(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, errors.New("want a number from 0 to 65535")
	}
	return int(n), nil
}

func (e *Env) runServe(ctx context.Context, o serveOptions) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		world, err := e.webWorld(m, sc)
		if err != nil {
			return err
		}
		world.ReadOnly = o.readOnly
		server, err := web.New(world)
		if err != nil {
			return err
		}
		return server.Serve(ctx, o.port, func(address string) {
			if e.opt.json {
				err = e.printJSON("serve", struct {
					Address string `json:"address"`
				}{address})
			} else {
				e.printf("%s\n", address)
				e.note("the address signs in one browser; Ctrl-C ends the server")
			}
			if err := errors.Join(err, e.out.flush()); err != nil {
				e.warn("%v", err)
			}
			if o.open {
				e.openBrowser(ctx, address)
			}
		})
	})
}

// webWorld is what the server of pages needs of this program.
func (e *Env) webWorld(m *layers.Memory, sc state.Scope) (api.World, error) {
	store, err := e.memoryDir()
	if err != nil {
		return api.World{}, err
	}
	claude, err := e.claudeDir()
	if err != nil {
		claude = "" // the pages show what is in memory
	}
	return api.World{
		Memory: m, Store: store, Scope: sc, Dir: e.Dir, Claude: claude, Program: e.calledAs(), Now: e.Now, Rand: e.Rand, Clean: sanitize, Hints: hintsOf,
		Settings: func() (*config.Config, error) { return e.freshSettings() },
		Set: func(ctx context.Context, key, value string) error {
			one := *e // requests run at the same time
			return one.changeSettings(ctx, func(c *config.Config) error {
				if value != "" {
					return c.Set(key, value)
				}
				_, err := c.Unset(key)
				return err
			})
		},
		Engine: func(ctx context.Context, rev state.Rev, name, model string) (compress.Summarizer, error) {
			one := *e
			one.conf = nil
			return one.engine(ctx, m, rev, engineChoice{name, model})
		},
		Decay: decayOf, Examine: e.examine, Hooks: e.hooksState, Activity: hookActivity(store),
	}, nil
}

// examine runs the checks of "mem doctor" for a page.
func (e *Env) examine(ctx context.Context, fix bool) ([]api.Check, error) {
	one := *e // requests run at the same time
	one.conf = nil
	dir, err := one.memoryDir()
	if err != nil {
		return nil, err
	}
	x := &exam{e: &one, ctx: ctx, fix: fix, dir: dir}
	err = x.run(false)
	var out []api.Check
	for _, f := range x.found {
		out = append(out, api.Check{Name: f.Check, Level: f.Level, What: f.What, Mend: f.Mend})
	}
	return out, err
}

// hooksState is what "mem hooks status" shows, for a page.
func (e *Env) hooksState() (api.HooksState, error) {
	one := *e
	one.conf = nil
	r, _, err := one.hooksReport("")
	out := api.HooksState{
		Program: r.Program, Capture: r.Capture, Blocking: r.Blocking, Every: r.Every, Distill: r.Distill, Spool: r.Spool, Behind: r.Behind,
		Log: r.Log, LogFile: r.LogFile,
	}
	if r.Plugin != nil && r.Plugin.off == "" {
		out.Plugin = r.Plugin.ID + " (" + r.Plugin.Scope + ")"
	}
	for _, f := range r.Files {
		out.Files = append(out.Files, api.HooksFile{Scope: f.Scope, File: f.File, State: f.State, Advice: hooksAdvice(f, r.Program)})
	}
	for _, p := range r.Runs {
		out.Runs = append(out.Runs, api.HookRuns{
			Event: string(p.Event), Runs: p.Runs, Failed: p.Failed, Last: p.Pace.Last, P50: p.Pace.P50, P95: p.Pace.P95,
		})
	}
	return out, err
}

// freshSettings reads the settings as they are now.
func (e *Env) freshSettings() (*config.Config, error) {
	one := *e
	one.conf = nil
	return one.settings()
}

// openBrowser opens an address in the user's browser. Where that fails the address is on the screen.
func (e *Env) openBrowser(ctx context.Context, address string) {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if _, err := exec.LookPath(name); err != nil {
		e.warn("%s is not installed: open the address yourself", name)
		return
	}
	cmd := e.command(context.WithoutCancel(ctx), nil, name, args...)
	if err := cmd.Start(); err != nil {
		e.warn("%v: open the address yourself", fmt.Errorf("start %s: %w", name, err))
		return
	}
	go func() { _ = cmd.Wait() }() // how the browser ends is its own affair
}
