package storecmd

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs/config"
)

// Config returns mem config.
func Config(e *app.Env) *cli.Command {
	var o configOptions
	return &cli.Command{
		Name:      "config",
		Usage:     "read and change settings",
		ArgsUsage: "[<key> [<value>]]",
		Description: "Settings are stored in config.json in the memory's directory. \"mem config list\" prints\n" +
			"all of them with value and origin; -c KEY=VALUE overrides one for a single run of any\n" +
			"command. As in git, KEY alone prints a setting, and KEY VALUE changes it.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.get, "get", "print the setting KEY"),
			app.BoolFlag(&o.unset, "unset", "reset the setting KEY to its default"),
			app.BoolFlag(&o.list, "list,l", "list all settings and their sources"),
		},
		Action: func(c *cli.Context) error { return runConfig(c, e, o) },
		Subcommands: []*cli.Command{
			{Name: "get", Usage: "print a setting", ArgsUsage: "<key>", Action: e.Action(1, 1, func(c *cli.Context) error {
				return runConfigGet(e, e.Operand(0))
			})},
			{Name: "set", Usage: "change a setting", ArgsUsage: "<key> <value>",
				Action: e.Action(2, 2, func(c *cli.Context) error {
					return runConfigSet(c.Context, e, e.Operand(0), e.Operand(1))
				})},
			{Name: "unset", Usage: "reset a setting to its default", ArgsUsage: "<key>",
				Action: e.Action(1, 1, func(c *cli.Context) error {
					return runConfigUnset(c.Context, e, e.Operand(0))
				})},
			{Name: "list", Usage: "list all settings, or those that begin with KEY, and their sources", ArgsUsage: "[<key>]",
				Action: e.Action(0, 1, func(c *cli.Context) error { return runConfigList(e, e.Operand(0)) })},
		},
	}
}

type configOptions struct{ get, unset, list bool }

// runConfig runs the forms of git config: KEY, KEY VALUE, --get KEY, --unset KEY and --list.
func runConfig(c *cli.Context, e *app.Env, o configOptions) error {
	least, most := 0, 2
	switch {
	case o.get && o.unset || o.list && (o.get || o.unset):
		return app.Usagef("--get, --unset and --list cannot be combined")
	case o.list:
		most = 0
	case o.get || o.unset:
		least, most = 1, 1
	}
	if err := e.WantOperands(c, least, most); err != nil {
		return err
	}
	switch {
	case len(e.Operands) == 0:
		return runConfigList(e, "")
	case o.unset:
		return runConfigUnset(c.Context, e, e.Operand(0))
	case len(e.Operands) == 2:
		return runConfigSet(c.Context, e, e.Operand(0), e.Operand(1))
	}
	key := e.Operand(0)
	if _, err := config.Lookup(key); err != nil {
		if near := term.Suggest(key, []string{"get", "set", "unset", "list"}); len(near) > 0 {
			return app.WithHint(app.Usagef("%q is neither a setting nor a mem config command", key), app.DidYouMean("mem config ", near))
		}
	}
	return runConfigGet(e, key)
}

func runConfigGet(e *app.Env, key string) error {
	e.Lenient = true
	c, err := e.Settings()
	if err != nil {
		return err
	}
	v, from, err := c.Get(key)
	if err != nil {
		if _, unknown := config.Lookup(key); unknown != nil {
			return app.AsSetting(err)
		}
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("config.get", nil, settingObject(key, v, from)...)
	}
	e.Printf("%s\n", e.Safe(v))
	return nil
}

func settingObject(key, value string, from config.Origin) app.Object {
	return app.Object{"key", key, "value", value, "origin", string(from)}
}

func runConfigSet(ctx context.Context, e *app.Env, key, val string) error {
	if name, ok := strings.CutPrefix(key, app.RuleKey); ok {
		if err := checkRule(e, name, val); err != nil {
			return err
		}
	}
	return changeSetting(ctx, e, "config.set", key, func(c *config.Config) error { return c.Set(key, val) })
}

func runConfigUnset(ctx context.Context, e *app.Env, key string) error {
	return changeSetting(ctx, e, "config.unset", key, func(c *config.Config) error {
		_, err := c.Unset(key)
		return err
	})
}

// changeSetting changes key with fn, and prints the change with --json or --dry-run.
func changeSetting(ctx context.Context, e *app.Env, what, key string, fn func(*config.Config) error) error {
	var before, after string
	err := app.ChangeSettings(ctx, e, func(c *config.Config) error {
		before, _, _ = c.Get(key) // a value that does not fit may be replaced; fn finds an unknown key
		if err := fn(c); err != nil {
			return app.AsSetting(err)
		}
		after, _, _ = c.Get(key) // a key that only the file knew is gone now
		return nil
	})
	switch {
	case err != nil:
		return err
	case e.Opt.JSON:
		return e.PrintJSON(what, nil, "key", key, "before", before, "after", after, "dryRun", e.Opt.DryRun)
	case e.Opt.DryRun:
		e.Printf("would change %s from %q to %q\n", key, before, after)
	}
	return nil
}

func runConfigList(e *app.Env, start string) error {
	e.Lenient = true
	c, err := e.Settings()
	if err != nil {
		return err
	}
	l := e.List("config.list", "settings", "key", app.Column{Name: "value", Shrinks: true}, "origin")
	unknown := append([]string{}, c.Unknown()...)
	settings := slices.DeleteFunc(c.List(), func(s config.Setting) bool { return !strings.HasPrefix(s.Key, start) })
	if len(settings) == 0 {
		return app.WithHint(app.Usagef("no setting begins with %q", start), "mem config list")
	}
	for _, s := range settings {
		l.Add(settingObject(s.Key, s.Value, s.Origin), s.Key, s.Value, string(s.Origin))
	}
	l.After = app.Object{"unknown", unknown}
	if err := l.Print(); err != nil || e.Opt.JSON {
		return err
	}
	if len(unknown) > 0 && start == "" {
		e.Warn("config.json contains unknown keys: %s", strings.Join(unknown, ", "))
	}
	return nil
}
