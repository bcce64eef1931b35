package main

import (
	"context"
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// topicFiles are the pages of help that belong to no command: help/<topic>.txt. The first line of each is
// what the list of topics says of it.
//
//go:embed help/*.txt
var topicFiles embed.FS

// help is the command that explains the others.
func (e *Env) help() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "explain mem, a command or a topic",
		ArgsUsage: "[<command>|<topic>]",
		Action:    func(context.Context, *cli.Command) error { return e.runHelp(e.operands) },
	}
}

// runHelp prints the help of a command or a topic; of mem itself if words is empty.
func (e *Env) runHelp(words []string) error {
	if len(words) == 0 {
		if e.opt.json {
			return e.printJSON("help", e.everything())
		}
		return e.helpOnAll()
	}
	if path, c := e.findCommand(words); c != nil {
		if e.opt.json {
			return e.printJSON("help", e.describe(path, c))
		}
		return e.helpOn(path, c)
	}
	if len(words) == 1 {
		if text, err := topicFiles.ReadFile("help/" + words[0] + ".txt"); err == nil {
			if e.opt.json {
				return e.printJSON("help", struct {
					Topic string `json:"topic"`
					Text  string `json:"text"`
				}{words[0], string(text)})
			}
			return e.showHelp(string(text))
		}
	}
	word := strings.Join(words, " ")
	err := usagef("there is no help on %q", word)
	if near := suggest(word, append(visible(commands()), topics()...)); len(near) > 0 {
		return withHint(err, didYouMean("mem help ", near))
	}
	return withHint(err, "mem help")
}

// findCommand finds the command or subcommand that words name.
func (e *Env) findCommand(words []string) ([]string, *cli.Command) {
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
func (e *Env) showHelp(text string) error {
	if err := e.page("help"); err != nil {
		return err
	}
	_, err := io.WriteString(e.out, text)
	return err
}

// helpOnAll prints the groups of commands, as "git help" does.
func (e *Env) helpOnAll() error {
	var b strings.Builder
	b.WriteString("usage: mem <command> [<options>] [<operands>]\n\n" +
		"Capture every Claude Code session; build smaller contexts from them.\n")
	style := e.style()
	table := commands()
	for _, g := range groups() {
		var rows [][2]string
		for _, c := range table {
			if c.group == g {
				rows = append(rows, [2]string{c.name, c.make(e).Usage})
			}
		}
		if len(rows) > 0 {
			fmt.Fprintf(&b, "\n%s\n", style.bold(string(g)))
			columns(&b, rows)
		}
	}
	var rows [][2]string
	for _, t := range topics() {
		rows = append(rows, [2]string{t, topicTitle(t)})
	}
	fmt.Fprintf(&b, "\n%s\n", style.bold("topics"))
	columns(&b, rows)
	b.WriteString("\n\"mem help <command>\" and \"mem help <topic>\" tell more.\n")
	return e.showHelp(b.String())
}

// helpOn prints what one command does.
func (e *Env) helpOn(path []string, c *cli.Command) error {
	var b strings.Builder
	style := e.style()
	d := e.describe(path, c)
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", d.Synopsis, d.Usage)
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
		fmt.Fprintf(&b, "\n%s\n", style.bold("subcommands"))
		columns(&b, rows)
	}
	for _, part := range []struct {
		title   string
		options []optionHelp
	}{{"options", d.Options}, {"options of every command", d.Global}} {
		if len(part.options) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", style.bold(part.title))
		rows = nil
		for _, o := range part.options {
			rows = append(rows, [2]string{o.spelled(), o.Usage})
		}
		columns(&b, rows)
	}
	return e.showHelp(b.String())
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
