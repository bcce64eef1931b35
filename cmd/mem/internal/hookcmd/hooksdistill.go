package hookcmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/memory"
	"github.com/memvcs/mem/refs/config"
)

// The modes to distil facts from sessions.
const (
	distillOff        = "off"
	distillSession    = "session"
	distillBackground = "background"
)

func distillModes() []string { return []string{distillOff, distillSession, distillBackground} }

// distillSettings returns the settings of a mode; an empty value means the default. An engine that is already set
// stays.
func distillSettings(mode, engine string) [][2]string {
	switch mode {
	case distillSession:
		return [][2]string{{"hooks.ask", "true"}, {"hooks.blocking", "once"}, {"distill.engine", ""}}
	case distillBackground:
		if engine == "" {
			engine = "claude"
		}
		return [][2]string{{"hooks.ask", "false"}, {"hooks.blocking", ""}, {"distill.engine", engine}}
	}
	return [][2]string{{"hooks.ask", "false"}, {"hooks.blocking", ""}, {"distill.engine", ""}}
}

// setDistill writes the settings of a mode.
func setDistill(ctx context.Context, e *app.Env, mode string) error {
	return memory.ChangeSettings(ctx, e, func(c *config.Config) error {
		engine, _, err := c.Get("distill.engine")
		if err != nil {
			return err
		}
		for _, kv := range distillSettings(mode, engine) {
			if kv[1] != "" {
				err = c.Set(kv[0], kv[1])
			} else {
				_, err = c.Unset(kv[0])
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// askDistillMode asks the user for a mode. It returns "" to leave the settings unchanged: without a terminal, or if
// hooks.ask in the settings shows that the user was asked before.
func askDistillMode(e *app.Env) (string, error) {
	c, err := e.Settings()
	if err != nil {
		return "", err
	}
	for _, key := range []string{"hooks.ask", "hooks.blocking", "distill.engine"} {
		if _, from, err := c.Get(key); err != nil || from != config.Default {
			return "", err
		}
	}
	if e.Opt.Yes || e.Opt.JSON || !e.Term.Stdin || !e.Term.Stderr {
		return "", nil
	}
	fmt.Fprint(e.Stderr, `Facts, concepts and rules come from a model. How should mem ask for them?
  off         never; run "mem distill" by hand (the default)
  session     hooks tell Claude what has no facts yet: input tokens once a prompt, and up to one turn more at its end
  background  a model distils each ended session: about as many tokens as its text, at most llm.maxTokensPerDay
[off/session/background] `)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	for _, mode := range distillModes() {
		if answer != "" && strings.HasPrefix(mode, answer) {
			return mode, nil
		}
	}
	return distillOff, nil
}

// AskDistill sets how facts are distilled, from the option or the user's answer.
func AskDistill(ctx context.Context, e *app.Env, mode string) (err error) {
	if e.Opt.DryRun {
		return nil
	}
	if mode == "" {
		if mode, err = askDistillMode(e); err != nil || mode == "" {
			return err
		}
	}
	return setDistill(ctx, e, mode)
}
