package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs/config"
)

// engineNames are the engines that may be asked for, the one without a model first.
func engineNames() []string {
	return []string{"extract", "claude", "anthropic", "openai", "command", "replay"}
}

// An engineChoice is what was asked for on the command line; what is empty is in the settings.
type engineChoice struct{ name, model string }

// engine returns the engine that writes a compression, nil for extract. It asks nobody yet.
func (e *Env) engine(ctx context.Context, m *layers.Memory, rev state.Rev, choice engineChoice) (compress.Summarizer, error) {
	conf, err := e.settings()
	if err != nil {
		return nil, err
	}
	if choice.name == "" {
		if choice.name, err = conf.String("engine"); err != nil {
			return nil, err
		}
	}
	if choice.name == "extract" {
		if choice.model != "" {
			return nil, withHint(usagef("the engine extract asks no model"), "name another engine: --engine claude --model "+choice.model)
		}
		return nil, nil
	}
	if choice.model == "" {
		if choice.model, err = conf.String("llm.model"); err != nil {
			return nil, err
		}
	}
	window, err := conf.Int("llm.window")
	if err != nil {
		return nil, err
	}
	s := setup{e: e, conf: conf, model: choice.model}
	if s.timeout, err = conf.Duration("llm.timeout"); err != nil {
		return nil, err
	}
	model, err := s.of(ctx, m, rev, choice.name)
	if err != nil {
		return nil, err
	}
	price, err := s.price(choice.name)
	if err != nil {
		return nil, err
	}
	return engines.New(model, engines.Options{Window: window, Price: price}), nil
}

// A setup makes models from the settings and the environment.
type setup struct {
	e       *Env
	conf    *config.Config
	model   string
	timeout time.Duration
	server  *engines.Server
}

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
	recorded, err := m.Derive().Recorded(ctx, rev)
	if err != nil {
		return nil, withHint(err, "compress it by a model once: mem compress --engine claude "+shortID(rev.Session.ID))
	}
	id := ""
	if s.model != "" { // only what that model said
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
	path, err := s.e.lookPath("claude")
	if err != nil {
		return nil, withHint(err, "install Claude Code, or choose another engine")
	}
	if err := s.defaultModel(); err != nil {
		return nil, err
	}
	return &engines.Claude{Program: engines.Program{Path: path, Env: s.e.Environ()}, Model: s.model, Temp: os.TempDir(), Timeout: s.timeout}, nil
}

// defaultModel takes the model of the seeds' settings if none was named.
func (s *setup) defaultModel() error {
	if s.model != "" {
		return nil
	}
	var err error
	s.model, err = s.conf.String("defaults.model")
	return err
}

func (s *setup) anthropic() (engines.Model, error) {
	if err := s.defaultModel(); err != nil {
		return nil, err
	}
	if !strings.Contains(s.model, "-") {
		return nil, withHint(usagef("the engine anthropic needs the full name of a model: '%s' is an alias", s.model),
			"mem config set llm.model claude-sonnet-5-5")
	}
	err := s.serve("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err == nil && !s.server.Loopback() && !strings.HasPrefix(s.server.URL, "https://") {
		err = withHint(usagef("the key would travel to %s in the open", s.server.URL), "use an address that begins with https://")
	}
	return &engines.Anthropic{Server: s.server, Model: s.model}, err
}

func (s *setup) openai() (engines.Model, error) {
	if s.model == "" {
		return nil, withHint(usagef("the engine openai needs the name of a model"), "mem config set llm.model NAME", "or --model NAME")
	}
	if err := s.serve("OPENAI_API_KEY", "OPENAI_BASE_URL", ""); err != nil {
		return nil, err
	}
	if s.server.URL == "" {
		return nil, withHint(usagef("the engine openai needs the address of a server"), "mem config set llm.baseURL http://127.0.0.1:11434/v1")
	}
	return &engines.OpenAI{Server: s.server, Model: s.model}, nil
}

// serve finds the address of a server and where its key comes from.
func (s *setup) serve(keyVariable, urlVariable, maker string) error {
	base, err := s.conf.String("llm.baseURL")
	if err != nil {
		return err
	}
	for _, other := range []string{s.e.Getenv(urlVariable), maker} {
		if base == "" {
			base = other
		}
	}
	command, err := s.conf.String("llm.apiKeyCommand")
	if err != nil {
		return err
	}
	s.server = &engines.Server{URL: base, Timeout: s.timeout, Proxy: http.ProxyFromEnvironment}
	switch key := s.e.Getenv(keyVariable); {
	case key != "":
		s.server.Key = func(context.Context) (string, error) { return key, nil }
	case command != "":
		p, err := s.e.shell(command)
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
	line, err := s.conf.String("llm.command")
	if err != nil {
		return nil, err
	}
	if line == "" {
		return nil, withHint(usagef("the engine command needs a command"), "mem config set llm.command 'my-summarizer --flag'")
	}
	p, err := s.e.shell(line)
	return &engines.Command{Program: p, Model: s.model, Timeout: s.timeout}, err
}

// price returns what tokens cost. A server that is not on this machine and not Anthropic's has no price that is known.
func (s *setup) price(engine string) (engines.Price, error) {
	line, err := s.conf.String("llm.price")
	if err != nil {
		return engines.Price{}, err
	}
	if line != "" {
		return engines.ParsePrice(line)
	}
	switch engine {
	case "claude", "anthropic":
		return engines.PriceOf(s.model), nil
	case "openai":
		limit, err := s.conf.String("llm.maxUSDPerDay")
		if err == nil && limit != "none" && !s.server.Loopback() {
			err = withHint(usagef("llm.maxUSDPerDay cannot be kept: the price of %s is not known", s.model),
				"mem config set llm.price 3/15  (dollars per million tokens in and out)", "or mem config set llm.maxUSDPerDay none")
		}
		return engines.Price{}, err
	}
	return engines.Price{}, nil
}

// caps returns what models may cost a day.
func (e *Env) caps() (state.Caps, error) {
	c := state.Caps{Tokens: -1, Micros: -1}
	conf, err := e.settings()
	if err != nil {
		return c, err
	}
	most, err := conf.String("llm.maxTokensPerDay")
	if err != nil {
		return c, err
	}
	if most != "none" {
		if c.Tokens, err = strconv.Atoi(most); err != nil {
			return c, err
		}
	}
	dollars, err := conf.String("llm.maxUSDPerDay")
	if err == nil && dollars != "none" {
		c.Micros, err = engines.ParseDollars(dollars)
	}
	return c, err
}

// shell prepares a command line to run where mem runs.
func (e *Env) shell(line string) (engines.Program, error) {
	name, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		name, flag = "cmd", "/C"
	}
	path, err := e.lookPath(name)
	dir := e.Dir
	if _, err := os.Stat(dir); err != nil {
		dir = os.TempDir() // that of a session that has ended may be gone
	}
	env := append(e.Environ(), "MEM_HOOK=off") // the command may run Claude Code, whose session is not the user's
	return engines.Program{Path: path, Args: []string{flag, line}, Env: env, Dir: dir}, err
}

// lookPath finds a program.
func (e *Env) lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fatalf("%s is not installed: %v", name, err)
	}
	return path, nil
}
