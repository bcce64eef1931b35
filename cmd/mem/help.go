package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// topicFiles are the pages of help that belong to no command: help/<topic>.txt. The first line of each is
// what the list of topics says of it.
//
//go:embed help/*.txt
var topicFiles embed.FS

// help is the command that explains the others.
func help(e *app.Env) *cli.Command {
	var all bool
	return &cli.Command{
		Name:      "help",
		Usage:     "explain mem, a command or a topic",
		ArgsUsage: "[<command>|<topic>]",
		Flags:     []*cli.Flag{cli.Bool(&all, "all,a", "list all commands and topics")},
		Action:    func(context.Context, *cli.Command) error { return runHelp(e, e.Operands, all) },
	}
}

// runHelp prints the help of a command or a topic; of mem itself if words is empty.
func runHelp(e *app.Env, words []string, all bool) error {
	switch {
	case len(words) > 0 && all:
		return app.WithHint(app.Usagef("option --all of mem help takes no command"), "mem help "+strings.Join(words, " "))
	case len(words) == 0 && e.Opt.JSON:
		return e.PrintJSON("help", everything(e))
	case all:
		return helpOnAll(e)
	case len(words) == 0:
		return helpOnCommon(e)
	}
	if path, c := findCommand(e, words); c != nil {
		if e.Opt.JSON {
			return e.PrintJSON("help", describe(e, path, c))
		}
		return helpOn(e, path, c)
	}
	if len(words) == 1 {
		if text, err := topicFiles.ReadFile("help/" + words[0] + ".txt"); err == nil {
			if e.Opt.JSON {
				return e.PrintJSON("help", struct {
					Topic string `json:"topic"`
					Text  string `json:"text"`
				}{words[0], string(text)})
			}
			return showHelp(e, string(text))
		}
	}
	word := strings.Join(words, " ")
	err := app.Usagef("there is no help on %q", word)
	if near := term.Suggest(word, append(visible(commands()), topics()...)); len(near) > 0 {
		return app.WithHint(err, app.DidYouMean("mem help ", near))
	}
	return app.WithHint(err, "mem help")
}

// findCommand finds the command or subcommand that words name.
func findCommand(e *app.Env, words []string) ([]string, *cli.Command) {
	table := commands()
	i := slices.IndexFunc(table, func(c command) bool { return c.name == words[0] || c.alias == words[0] })
	if i < 0 {
		return nil, nil
	}
	c := table[i].make(e)
	path := []string{c.Name}
	for _, w := range words[1:] {
		j := slices.IndexFunc(c.Commands, func(s *cli.Command) bool { return s.HasName(w) })
		if j < 0 {
			return nil, nil
		}
		c = c.Commands[j]
		path = append(path, c.Name)
	}
	return path, c
}

// topics returns the names of the pages that belong to no command.
func topics() []string {
	files, err := topicFiles.ReadDir("help")
	if err != nil {
		panic("mem: " + err.Error()) // the directory is part of the program
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".txt"))
	}
	return names
}

func topicTitle(name string) string {
	b, err := topicFiles.ReadFile("help/" + name + ".txt")
	if err != nil {
		panic("mem: " + err.Error()) // as in topics
	}
	title, _, _ := strings.Cut(string(b), "\n")
	return title
}

// showHelp prints a page, through the pager if it is long.
func showHelp(e *app.Env, text string) error {
	if err := e.Page("help"); err != nil {
		return err
	}
	_, err := io.WriteString(e.Out, text)
	return err
}

// helpHead is what the help on mem itself starts with.
const helpHead = "usage: mem <command> [<options>] [<operands>]\n\n" +
	"Capture every Claude Code session; build smaller contexts from them.\n"

// helpOnCommon prints the commands that most users need.
func helpOnCommon(e *app.Env) error {
	var b strings.Builder
	b.WriteString(helpHead)
	listCommands(e, &b, func(c command) bool { return c.common })
	b.WriteString("\n\"mem help -a\" lists all commands and topics, \"mem help <command>\" explains one.\n")
	return showHelp(e, b.String())
}

// helpOnAll prints all commands that are not hidden, in their groups, and the topics.
func helpOnAll(e *app.Env) error {
	var b strings.Builder
	b.WriteString(helpHead)
	listCommands(e, &b, func(c command) bool { return c.group != groupHidden })
	var rows [][2]string
	for _, t := range topics() {
		rows = append(rows, [2]string{t, topicTitle(t)})
	}
	fmt.Fprintf(&b, "\n%s\n", e.Style().Bold("topics"))
	columns(&b, rows)
	b.WriteString("\n\"mem help <command>\" and \"mem help <topic>\" tell more.\n")
	return showHelp(e, b.String())
}

// listCommands writes the commands that are wanted, under the headings of their groups.
func listCommands(e *app.Env, b *strings.Builder, wanted func(command) bool) {
	table := commands()
	for _, g := range groups() {
		var rows [][2]string
		for _, c := range table {
			if c.group == g && wanted(c) {
				rows = append(rows, [2]string{c.name, c.make(e).Usage})
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(b, "\n%s\n", e.Style().Bold(string(g)))
			columns(b, rows)
		}
	}
}

// helpOn prints what one command does: examples first.
func helpOn(e *app.Env, path []string, c *cli.Command) error {
	var b strings.Builder
	style := e.Style()
	d := describe(e, path, c)
	fmt.Fprintf(&b, "usage: %s\n\n", d.Synopsis)
	if writeExamples(&b, d.Examples); len(d.Examples) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s\n", d.Usage)
	if c.Description != "" {
		fmt.Fprintf(&b, "\n%s\n", c.Description)
	}
	var rows [][2]string
	for _, s := range c.Commands {
		if !s.Hidden {
			rows = append(rows, [2]string{s.Name, s.Usage})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n", style.Bold("subcommands"))
		columns(&b, rows)
	}
	rows = nil
	for _, o := range append(slices.Clone(d.Options), d.Changing...) {
		rows = append(rows, [2]string{o.spelled(), o.Usage})
	}
	if len(rows) > 0 {
		fmt.Fprintf(&b, "\n%s\n", style.Bold("options"))
		columns(&b, rows)
	}
	if len(d.Global) > 0 {
		var names []string
		for _, o := range d.Global {
			names = append(names, o.briefly())
		}
		fmt.Fprintf(&b, "\n%s %s\n(\"mem help options\" explains them)\n", style.Bold("options of every command:"), strings.Join(names, " "))
	}
	return showHelp(e, b.String())
}

// columns writes rows as two columns.
func columns(b *strings.Builder, rows [][2]string) {
	wide := 0
	for _, r := range rows {
		if w := displaywidth.String(r[0]); w <= 28 {
			wide = max(wide, w)
		}
	}
	for _, r := range rows {
		pad := max(2, wide+3-displaywidth.String(r[0]))
		fmt.Fprintf(b, "   %s%s%s\n", r[0], strings.Repeat(" ", pad), r[1])
	}
}
