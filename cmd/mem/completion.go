package main

import (
	"embed"

	"github.com/urfave/cli/v2"
)

// completionScripts hold one script a shell: completion/mem.<shell>. Each calls "mem __complete".
//
//go:embed completion/mem.*
var completionScripts embed.FS

func shells() []string { return []string{"bash", "zsh", "fish", "powershell"} }

// completion is the command that prints the script with which a shell completes command lines.
func (e *Env) completion() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the script with which a shell completes mem's commands",
		ArgsUsage: "<shell>",
		Description: "The shell is bash, zsh, fish or powershell. Each script says in its first lines how to load it, such as\n" +
			"source <(mem completion bash)",
		Action: func(c *cli.Context) error {
			if err := operands(c, 1, 1); err != nil {
				return err
			}
			return e.runCompletion(c.Args().First())
		},
	}
}

func (e *Env) runCompletion(shell string) error {
	script, err := completionScripts.ReadFile("completion/mem." + shell)
	if err != nil {
		err := usagef("there is no completion for %q: the shell is %s", shell, orList(shells()))
		if near := suggest(shell, shells()); len(near) > 0 {
			return withHint(err, didYouMean("mem completion ", near))
		}
		return err
	}
	if e.opt.json {
		return e.printJSON("completion", struct {
			Shell  string `json:"shell"`
			Script string `json:"script"`
		}{shell, string(script)})
	}
	_, err = e.out.Write(script)
	return err
}
