package versioncmd

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/refs/config"
)

// EngineNames returns the names of the engines; the first one needs no model.
func EngineNames() []string {
	return []string{"extract", "claude", "anthropic", "openai", "command", "replay"}
}

// An EngineChoice is an engine and a model from the command line; for an empty field the setting decides.
// Lenient ignores a model for an engine without one.
type EngineChoice struct {
	Name, Model string
	Lenient     bool
}

// Engine returns the engine for a compression, nil for extract. It sends no request yet.
func Engine(ctx context.Context, run app.Run, rev state.Rev, choice EngineChoice) (version.Summarizer, error) {
	conf, err := run.Settings()
	if err != nil {
		return nil, err
	}
	if choice.Name == "" {
		choice.Name = conf.String("engine")
	}
	if choice.Name == "extract" {
		if choice.Model != "" && !choice.Lenient {
			return nil, app.WithHint(app.Usagef("the engine extract uses no model"),
				"name another engine: --engine claude --model "+choice.Model)
		}
		return nil, nil
	}
	model, o, err := Model(ctx, run, rev, choice, conf)
	if err != nil {
		return nil, err
	}
	return engines.New(model, o), nil
}

// Model returns the model of an engine, and how it is asked.
func Model(ctx context.Context, run app.Run, rev state.Rev, choice EngineChoice, conf *config.Config) (engines.Model, engines.Options, error) {
	o := engines.Options{Window: conf.Int("llm.window")}
	s := setup{Env: run.Env, conf: conf, model: cmp.Or(choice.Model, conf.String("llm.model")), timeout: conf.Duration("llm.timeout")}
	model, err := s.of(ctx, run.Memory, rev, choice.Name)
	if err == nil {
		o.Price, err = s.price(choice.Name)
	}
	return model, o, err
}

// A setup creates models from the settings and the environment.
type setup struct {
	*app.Env
	conf    *config.Config
	model   string
	timeout time.Duration
	server  *engines.Server
}

// of returns the model of the engine name.
func (s *setup) of(ctx context.Context, m *layers.Memory, rev state.Rev, name string) (engines.Model, error) {
	switch name {
	case "claude":
		return s.claude()
	case "anthropic":
		return s.anthropic()
	case "openai":
		return s.openai()
	case "command":
		return s.command()
	}
	recorded, err := derive.Recorded(ctx, m.DB, rev)
	if err != nil {
		return nil, app.WithHint(err, "compress it by a model once: mem compress --engine claude "+
			term.ShortID(rev.Session.ID))
	}
	id := ""
	if s.model != "" { // only the answers of that model
		id = "replay " + s.model
		kept := recorded[:0]
		for _, x := range recorded {
			if x.Answer.Model == s.model || strings.HasSuffix(x.Question.Engine, " "+s.model) {
				kept = append(kept, x)
			}
		}
		recorded = kept
	}
	return engines.NewReplay(id, recorded), nil
}

func (s *setup) claude() (engines.Model, error) {
	path, err := lookPath(s.Env, "claude")
	if err != nil {
		return nil, app.WithHint(err, "install Claude Code, or choose another engine")
	}
	s.model = cmp.Or(s.model, s.conf.String("defaults.model"))
	return &engines.Claude{Program: engines.Program{Command: s.Command, Path: path}, Model: s.model, Temp: os.TempDir(),
		Timeout: s.timeout}, nil
}

func (s *setup) anthropic() (engines.Model, error) {
	s.model = cmp.Or(s.model, s.conf.String("defaults.model"))
	if !strings.Contains(s.model, "-") {
		return nil, app.WithHint(app.Usagef("the engine anthropic needs the full name of a model: '%s' is an alias", s.model),
			"mem config set llm.model claude-sonnet-5-5")
	}
	err := s.serve("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err == nil && !s.server.Loopback() && !strings.HasPrefix(s.server.URL, "https://") {
		err = app.WithHint(app.Usagef("the key would be sent to %s unencrypted", s.server.URL),
			"use an address that begins with https://")
	}
	return &engines.Anthropic{Server: s.server, Model: s.model}, err
}

func (s *setup) openai() (engines.Model, error) {
	if s.model == "" {
		return nil, app.WithHint(app.Usagef("the engine openai needs the name of a model"), "mem config set llm.model NAME",
			"or --model NAME")
	}
	if err := s.serve("OPENAI_API_KEY", "OPENAI_BASE_URL", ""); err != nil {
		return nil, err
	}
	if s.server.URL == "" {
		return nil, app.WithHint(app.Usagef("the engine openai needs the address of a server"),
			"mem config set llm.baseURL http://127.0.0.1:11434/v1")
	}
	return &engines.OpenAI{Server: s.server, Model: s.model}, nil
}

// serve sets up the server: its address and the source of its key.
func (s *setup) serve(keyVariable, urlVariable, maker string) error {
	base := s.conf.String("llm.baseURL")
	for _, other := range []string{s.Getenv(urlVariable), maker} {
		if base == "" {
			base = other
		}
	}
	command := s.conf.String("llm.apiKeyCommand")
	s.server = &engines.Server{URL: base, Timeout: s.timeout, Proxy: http.ProxyFromEnvironment}
	switch key := s.Getenv(keyVariable); {
	case key != "":
		s.server.Key = func(context.Context) (string, error) { return key, nil }
	case command != "":
		p, err := shell(s.Env, command)
		if err != nil {
			return err
		}
		s.server.Key = engines.KeyFrom(p)
	case maker != "":
		s.server.Key = func(context.Context) (string, error) {
			return "", fmt.Errorf("%w: %s is not set and llm.apiKeyCommand is empty", engines.ErrAuth, keyVariable)
		}
	}
	return nil
}

func (s *setup) command() (engines.Model, error) {
	line := s.conf.String("llm.command")
	if line == "" {
		return nil, app.WithHint(app.Usagef("the engine command needs a command"),
			"mem config set llm.command 'my-summarizer --flag'")
	}
	p, err := shell(s.Env, line)
	return &engines.Command{Program: p, Model: s.model, Timeout: s.timeout}, err
}

// price returns the price of tokens. The price of a server that is neither Anthropic's nor on this machine is unknown.
func (s *setup) price(engine string) (engines.Price, error) {
	line := s.conf.String("llm.price")
	if line != "" {
		return engines.ParsePrice(line)
	}
	switch engine {
	case "claude", "anthropic":
		return engines.PriceOf(s.model), nil
	case "openai":
		if s.conf.String("llm.maxUSDPerDay") != "none" && !s.server.Loopback() {
			return engines.Price{}, app.WithHint(app.Usagef("llm.maxUSDPerDay cannot be enforced: the price of %s is unknown", s.model),
				"mem config set llm.price 3/15  (dollars per million tokens in and out)", "or mem config set llm.maxUSDPerDay none")
		}
	}
	return engines.Price{}, nil
}

// shell returns a program that runs a command line in the working directory.
func shell(e *app.Env, line string) (engines.Program, error) {
	name, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		name, flag = "cmd", "/C"
	}
	path, err := lookPath(e, name)
	dir := e.Dir
	if _, err := os.Stat(dir); err != nil {
		dir = os.TempDir() // the directory of an ended session may not exist
	}
	// The command may run Claude Code, whose session must not be captured.
	return engines.Program{Command: e.Command, Path: path, Args: []string{flag, line}, Settings: []string{"MEM_HOOK=off"},
		Dir: dir}, err
}

// lookPath finds a program.
func lookPath(e *app.Env, name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is not installed: %w", name, err)
	}
	return path, nil
}
