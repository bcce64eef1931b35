package hookcmd

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
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
	return app.ChangeSettings(ctx, e, func(c *config.Config) error {
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

// setDistillMode sets how facts are distilled, if the option says so.
func setDistillMode(ctx context.Context, e *app.Env, mode string) error {
	if e.Opt.DryRun || mode == "" {
		return nil
	}
	return setDistill(ctx, e, mode)
}
