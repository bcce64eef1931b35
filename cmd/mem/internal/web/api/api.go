// Package api serves a memory to programs, under /api/memory.
//
// An endpoint is a row of one table (routes.go). The routes, the OpenAPI file and the test of both come from
// it, so no handler is undocumented. Package web uses the methods of [API] for its pages.
package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs/config"
)

// A World is what a server works in: the running command, and what tests replace.
type World struct {
	app.Run         // its project is shown first; if the scope is strict, it is the only one
	Store    string // the directory of the memory
	Claude   string // the configuration directory of Claude Code; "" looks at no files there
	Program  string // how to call mem, for the commands shown on pages
	ReadOnly bool   // refuse all changes
	// Engine returns the engine of that name, nil for extract; "" is the engine of the settings.
	Engine func(ctx context.Context, rev state.Rev, name, model string) (version.Summarizer, error)
	// Examine runs the checks of "mem doctor"; with fix it repairs what is safe to repair.
	Examine func(ctx context.Context, fix bool) ([]doctor.Finding, error)
	Hooks   func() (hookcmd.Report, error)
}

// WorldOf returns the world of a running command.
func WorldOf(run app.Run) (World, error) {
	w := World{Run: run, Program: app.CalledAs(run.Env)}
	var err error
	if w.Store, err = run.MemoryDir(); err != nil {
		return w, err
	}
	if w.Claude, err = run.ClaudeDir(); err != nil {
		w.Claude = "" // the pages show what is in memory
	}
	w.Engine = func(ctx context.Context, rev state.Rev, name, model string) (version.Summarizer, error) {
		return requestedEngine(ctx, app.Run{Env: w.fresh(), Memory: run.Memory, Scope: run.Scope}, rev, name, model)
	}
	w.Hooks = func() (hookcmd.Report, error) { return hookcmd.ReportOf(w.Lenient(), "") }
	w.Examine = func(ctx context.Context, fix bool) ([]doctor.Finding, error) {
		x := &doctor.Exam{E: w.Lenient(), Ctx: ctx, Fix: fix, Dir: w.Store}
		err := x.Run(false)
		return x.Found, err
	}
	return w, nil
}

// fresh returns an environment that reads the settings again, because requests run at the same time.
func (w World) fresh() *app.Env {
	one := *w.Env
	one.Conf = nil
	return &one
}

// Lenient returns an environment for what shows or mends invalid settings.
func (w World) Lenient() *app.Env {
	e := w.fresh()
	e.Lenient = true
	return e
}

// Settings reads the current settings.
func (w World) Settings() (*config.Config, error) { return w.fresh().Settings() }

// Set changes a setting, or with an empty value unsets it.
func (w World) Set(ctx context.Context, key, value string) error {
	return app.ChangeSettings(ctx, w.fresh(), func(c *config.Config) error {
		if value != "" {
			return c.Set(key, value)
		}
		_, err := c.Unset(key)
		return err
	})
}

// Decay returns the current constants of marker decay.
func (w World) Decay() (keepit.Decay, error) { return app.Decay(w.fresh()) }

// requestedEngine returns the engine of a request. A model is no error for an engine without one: the settings of a
// version name one in every request. Faults of the request are its own, and not the server's.
func requestedEngine(ctx context.Context, run app.Run, rev state.Rev, name, model string) (version.Summarizer, error) {
	if name != "" && !slices.Contains(versioncmd.EngineNames(), name) {
		return nil, BadRequest(fmt.Sprintf("engine is %s", strings.Join(versioncmd.EngineNames(), ", ")))
	}
	if len(model) > 200 || strings.HasPrefix(model, "-") ||
		strings.ContainsFunc(model, func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) }) { // programs get it as an argument
		return nil, BadRequest("model is the name of a model: up to 200 visible characters")
	}
	engine, err := versioncmd.Engine(ctx, run, rev, versioncmd.EngineChoice{Name: name, Model: model, Lenient: true})
	if errors.Is(err, exec.ErrNotFound) {
		return nil, NewProblem(http.StatusUnprocessableEntity, "engine", err.Error(), app.HintsOf(err)...)
	}
	return engine, err
}

// An API serves the endpoints, and the operations that the pages share with them. Create one with [New].
type API struct {
	World
	Events   *Events
	Jobs     *Jobs
	indexing sync.Map      // of projects whose index is brought up to date: a mutex each
	quit     chan struct{} // closed when the server ends: streams end at once
	ended    sync.Once
}

// New returns the API of a world.
func New(w World) *API {
	s := &API{World: w, quit: make(chan struct{})}
	s.Events = newEvents(w.Store, s.quit)
	s.Jobs = newJobs(s.Events, s.ProblemOf)
	return s
}

// Close ends streams and jobs. It does not close the memory.
func (s *API) Close() {
	s.ended.Do(func() {
		close(s.quit)
		s.Jobs.end()
	})
}
