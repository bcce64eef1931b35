package main

import (
	"embed"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// completionScripts has one script per shell, completion/mem.<shell>, which calls "mem __complete".
//
//go:embed completion/mem.*
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completion returns mem completion, which prints the completion script of a shell.
func completion(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print a shell completion script",
		ArgsUsage: "<shell>",
		Description: "The shell is bash, zsh, fish or powershell. The first lines of each script\n" +
			"show how to load it. In bash: source <(mem completion bash)",
		Action: e.Action(1, 1, func(c *cli.Context) error {
			return runCompletion(e, e.Operand(0))
		}),
	}
}

func runCompletion(e *app.Env, shell string) error {
	script, err := completionScripts.ReadFile("completion/mem." + shell)
	if err != nil {
		err := app.Usagef("there is no completion for %q: the shell is %s", shell, app.OrList(shells()))
		if near := term.Suggest(shell, shells()); len(near) > 0 {
			return app.WithHint(err, app.DidYouMean("mem completion ", near))
		}
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("completion", nil, "shell", shell, "script", string(script))
	}
	_, err = e.Out.Write(script)
	return err
}
