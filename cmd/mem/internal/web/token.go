package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// Token returns mem token.
func Token(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "manage tokens for programs that use the API of mem serve",
		Subcommands: []*cli.Command{
			{Name: "list", Usage: "list tokens by name", Action: tokenAction(e, 0, runTokenList)},
			{Name: "add", Usage: "create a token and print it", ArgsUsage: "<name>",
				Description: "The token is printed once; only its hash is stored. " +
					"A program sends it as \"Authorization: Bearer TOKEN\".",
				Action: tokenAction(e, 1, runTokenAdd)},
			{Name: "rm", Usage: "delete a token", ArgsUsage: "<name>", Action: tokenAction(e, 1, runTokenRemove)},
		},
	}
}

// tokenAction returns the action that calls f with the directory of the memory, which must exist.
func tokenAction(e *app.Env, operands int, f func(e *app.Env, store string) error) cli.ActionFunc {
	return app.StoreAction(e, operands, operands, func(context.Context, app.Run) error {
		store, err := e.MemoryDir()
		if err != nil {
			return err
		}
		err = f(e, store)
		if errors.Is(err, errTokenName) {
			return app.WithCode(app.ExitUsage, err)
		}
		return err
	})
}

func runTokenList(e *app.Env, store string) error {
	all, err := listTokens(store)
	if err != nil {
		return err
	}
	l := e.List("token.list", "tokens", "name", "created")
	l.None, l.Hint = "no tokens", "mem token add NAME"
	for _, one := range all {
		l.Add(storedToken{Name: one.Name, Created: one.Created}, one.Name, one.Created)
	}
	return l.Print()
}

func runTokenAdd(e *app.Env, store string) error {
	name, token := e.Operand(0), "(not created)"
	if !e.Opt.DryRun {
		var err error
		token, err = addToken(store, name, e.Now(), e.Rand)
		if errors.Is(err, fs.ErrExist) {
			return app.WithHint(fmt.Errorf("a token named %q exists", name), term.Shell("mem", "token", "rm", name))
		}
		if err != nil {
			return err
		}
	}
	if e.Opt.JSON {
		return e.PrintJSON("token.add", nil, "name", name, "token", token, "dryRun", e.Opt.DryRun)
	}
	e.Printf("%s\n", token)
	return nil
}

func runTokenRemove(e *app.Env, store string) error {
	name := e.Operand(0)
	err := removeToken(store, name, e.Opt.DryRun)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errTokenName) {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("no token is named %q", name), "mem token list"))
	}
	if err != nil {
		return err
	}
	return e.Did("token.rm", app.Object{"name", name}, "%s token %s", e.Verb("deleted", "would delete"), name)
}
