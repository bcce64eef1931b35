package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/cmd/mem/internal/web/guard"
	"github.com/memvcs/mem/layers"
)

// token is the command about the tokens by which programs use the API of mem serve.
func (e *Env) token() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "manage tokens for programs that use the API of mem serve",
		Commands: []*cli.Command{
			{Name: "list", Usage: "list tokens by name", Action: func(_ context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runTokenList()
			}},
			{Name: "add", Usage: "create a token and print it", ArgsUsage: "<name>",
				Description: "The token is printed once; only its hash is stored. A program sends it as \"Authorization: Bearer TOKEN\".",
				Action: func(_ context.Context, c *cli.Command) error {
					if err := e.wantOperands(c, 1, 1); err != nil {
						return err
					}
					return e.runTokenAdd(e.operand(0))
				}},
			{Name: "rm", Usage: "delete a token", ArgsUsage: "<name>", Action: func(_ context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 1); err != nil {
					return err
				}
				return e.runTokenRemove(e.operand(0))
			}},
		},
	}
}

// withTokens calls f with the directory of a memory that is there.
func (e *Env) withTokens(f func(store string) error) error {
	return e.withStore(func(*layers.Memory) error {
		store, err := e.memoryDir()
		if err != nil {
			return err
		}
		err = f(store)
		if errors.Is(err, guard.ErrTokenName) {
			return withCode(exitUsage, err)
		}
		return err
	})
}

func (e *Env) runTokenList() error {
	return e.withTokens(func(store string) error {
		all, err := guard.Tokens(store)
		if err != nil {
			return err
		}
		type row struct {
			Name    string `json:"name"`
			Created string `json:"created"`
		}
		answer := struct {
			Tokens []row `json:"tokens"`
		}{[]row{}}
		t := e.table(column{name: "name"}, column{name: "created"})
		for _, one := range all {
			answer.Tokens = append(answer.Tokens, row{one.Name, timeText(one.Created)})
			t.row(cell{full: one.Name}, e.timeCell(one.Created))
		}
		if e.opt.json {
			return e.printJSON("token.list", answer)
		}
		if len(all) == 0 {
			e.note("no tokens")
			e.hint("mem token add NAME")
		}
		return t.flush()
	})
}

func (e *Env) runTokenAdd(name string) error {
	return e.withTokens(func(store string) error {
		token := "(not created)"
		if !e.opt.dryRun {
			var err error
			token, err = guard.AddToken(store, name, e.Now(), e.Rand)
			if errors.Is(err, fs.ErrExist) {
				return withHint(fmt.Errorf("there is a token named %q", name), shell("mem", "token", "rm", name))
			}
			if err != nil {
				return err
			}
		}
		if e.opt.json {
			return e.printJSON("token.add", struct {
				Name   string `json:"name"`
				Token  string `json:"token"`
				DryRun bool   `json:"dry_run"`
			}{name, token, e.opt.dryRun})
		}
		e.printf("%s\n", token)
		return nil
	})
}

func (e *Env) runTokenRemove(name string) error {
	return e.withTokens(func(store string) error {
		all, err := guard.Tokens(store)
		if err != nil {
			return err
		}
		known := false
		for _, one := range all {
			known = known || one.Name == name
		}
		if !known {
			return withCode(exitNo, withHint(fmt.Errorf("no token is named %q", name), "mem token list"))
		}
		if !e.opt.dryRun {
			if err := guard.RemoveToken(store, name); err != nil {
				return err
			}
		}
		if e.opt.json {
			return e.printJSON("token.rm", struct {
				Name   string `json:"name"`
				DryRun bool   `json:"dry_run"`
			}{name, e.opt.dryRun})
		}
		verb := "deleted"
		if e.opt.dryRun {
			verb = "would delete"
		}
		e.note("%s token %s", verb, name)
		return nil
	})
}
