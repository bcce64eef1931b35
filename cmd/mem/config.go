package main

import (
	"context"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/refs/config"
)

// config is the command that reads and changes the settings of the store.
func (e *Env) config() *cli.Command {
	return &cli.Command{
		Name:  "config",
		Usage: "read and change settings",
		Description: "Settings live in config.json in the memory's directory. \"mem config list\" shows them all, with what is in\n" +
			"force and where it comes from; -c KEY=VALUE changes one for a single run of any command.",
		Commands: []*cli.Command{
			{Name: "get", Usage: "print a setting", ArgsUsage: "<key>", Action: func(_ context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 1); err != nil {
					return err
				}
				return e.runConfigGet(e.operand(0))
			}},
			{Name: "set", Usage: "change a setting", ArgsUsage: "<key> <value>", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 2, 2); err != nil {
					return err
				}
				return e.runConfigSet(ctx, e.operand(0), e.operand(1))
			}},
			{Name: "unset", Usage: "reset a setting to its default", ArgsUsage: "<key>", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 1); err != nil {
					return err
				}
				return e.runConfigUnset(ctx, e.operand(0))
			}},
			{Name: "list", Usage: "list all settings and their sources", Action: func(_ context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runConfigList()
			}},
		},
	}
}

// A setting is one key as --json prints it.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

func (e *Env) runConfigGet(key string) error {
	c, err := e.settings()
	if err != nil {
		return err
	}
	v, from, err := c.Get(key)
	if err != nil {
		if _, unknown := config.Lookup(key); unknown != nil {
			return asSetting(err)
		}
		return err
	}
	if e.opt.json {
		return e.printJSON("config.get", setting{key, v, string(from)})
	}
	e.printf("%s\n", e.safe(v))
	return nil
}

// A settingChange is what a change did, or would do, as --json prints it.
type settingChange struct {
	Key    string `json:"key"`
	Before string `json:"before"`
	After  string `json:"after"`
	DryRun bool   `json:"dry_run"`
}

func (e *Env) runConfigSet(ctx context.Context, key, val string) error {
	if name, ok := strings.CutPrefix(key, ruleKey); ok {
		if err := e.checkRule(name, val); err != nil {
			return err
		}
	}
	return e.changeSetting(ctx, "config.set", key, func(c *config.Config) error { return c.Set(key, val) })
}

func (e *Env) runConfigUnset(ctx context.Context, key string) error {
	return e.changeSetting(ctx, "config.unset", key, func(c *config.Config) error {
		_, err := c.Unset(key)
		return err
	})
}

// changeSetting changes key by fn and says what that did if somebody wants to know.
func (e *Env) changeSetting(ctx context.Context, what, key string, fn func(*config.Config) error) error {
	done := settingChange{Key: key, DryRun: e.opt.dryRun}
	err := e.changeSettings(ctx, func(c *config.Config) error {
		done.Before, _, _ = c.Get(key) // a value that does not fit may be replaced; fn finds an unknown key
		if err := fn(c); err != nil {
			return asSetting(err)
		}
		done.After, _, _ = c.Get(key) // a key that only the file knew is gone now
		return nil
	})
	switch {
	case err != nil:
		return err
	case e.opt.json:
		return e.printJSON(what, done)
	case e.opt.dryRun:
		e.printf("would change %s from %q to %q\n", key, done.Before, done.After)
	}
	return nil
}

func (e *Env) runConfigList() error {
	c, err := e.settings()
	if err != nil {
		return err
	}
	var answer struct {
		Settings []setting `json:"settings"`
		Unknown  []string  `json:"unknown"`
	}
	answer.Unknown = append([]string{}, c.Unknown()...)
	for _, s := range c.List() {
		answer.Settings = append(answer.Settings, setting{s.Key, s.Value, string(s.Origin)})
	}
	if e.opt.json {
		return e.printJSON("config.list", answer)
	}
	t := e.table(column{name: "key"}, column{name: "value", shrinks: true}, column{name: "origin"})
	for _, s := range answer.Settings {
		t.row(cell{full: s.Key}, cell{full: s.Value}, cell{full: s.Origin})
	}
	if err := t.flush(); err != nil {
		return err
	}
	if len(answer.Unknown) > 0 {
		e.warn("config.json also holds what mem does not know: %s", strings.Join(answer.Unknown, ", "))
	}
	return nil
}
