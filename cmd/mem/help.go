package main

import (
	"embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/cmdline"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// topicFiles are the help pages that belong to no command: help/<topic>.txt. The first line of each is its title.
//
//go:embed help/*.txt
var topicFiles embed.FS

// help returns mem help.
func help(e *app.Env) *cli.Command {
	var all, man bool
	var dir string
	return &cli.Command{
		Name:      "help",
		Usage:     "explain mem, a command or a topic",
		ArgsUsage: "[<command>|<topic>]",
		Flags: []cli.Flag{
			app.BoolFlag(&all, "all,a", "list all commands and topics"),
			app.BoolFlag(&man, "man", "print the man page, of mem or of a command"),
			app.StringFlag(&dir, "man-dir", "write all man pages into man1 under `DIR`"),
		},
		Action: func(*cli.Context) error {
			switch {
			case dir != "":
				return writeMan(e, dir)
			case man:
				return runMan(e, e.Operands)
			}
			return runHelp(e, e.Operands, all)
		},
	}
}

// runHelp prints the help of a command or a topic; of mem itself if words is empty.
func runHelp(e *app.Env, words []string, all bool) error {
	switch {
	case len(words) > 0 && all:
		return app.WithHint(app.Usagef("option --all of mem help takes no command"), "mem help "+strings.Join(words, " "))
	case len(words) == 0 && e.Opt.JSON:
		return printEverything(e)
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
				return e.PrintJSON("help", nil, "topic", words[0], "text", string(text))
			}
			return showHelp(e, string(text))
		}
	}
	word := strings.Join(words, " ")
	err := app.Usagef("there is no help on %q", word)
	if hint := cmdline.ForeignCommand(word, false); hint != "" {
		return app.WithHint(err, hint)
	}
	if near := term.Suggest(word, append(visible(commands()), topics()...)); len(near) > 0 {
		return app.WithHint(err, app.DidYouMean("mem help ", near))
	}
	return app.WithHint(err, "mem help")
}

// findCommand returns the command or subcommand with the name words.
func findCommand(e *app.Env, words []string) ([]string, *cli.Command) {
	row := find(commands(), words[0])
	if row == nil {
		return nil, nil
	}
	c := row.build(e)
	path := []string{c.Name}
	for _, w := range words[1:] {
		j := slices.IndexFunc(c.Subcommands, func(s *cli.Command) bool { return s.HasName(w) })
		if j < 0 {
			return nil, nil
		}
		c = c.Subcommands[j]
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

// helpWidth is the greatest width of a help page.
const helpWidth = 80

// showHelp prints a page through the pager, wrapped to [helpWidth] or to a narrower terminal.
func showHelp(e *app.Env, text string) error {
	e.Page("help")
	width := helpWidth
	if e.Term.Stdout && e.Term.Width != nil && e.Term.Width() > 0 {
		width = min(width, e.Term.Width())
	}
	_, err := io.WriteString(e.Out, fitHelp(text, width))
	return err
}

// The templates of help for urfave/cli.
const (
	overviewTemplate = `usage: mem <command> [<options>] [<operands>]

{{.Usage}}
{{range ordered .VisibleCategories}}
{{bold .Name}}
{{commands .VisibleCommands}}{{end}}
"mem help -a" lists all commands and topics, "mem help <command>" explains one.
`
	commandTemplate = `usage: {{synopsis}}

{{with examples}}{{.}}
{{end}}{{.Usage}}
{{with .Description}}
{{.}}
{{end}}{{with .VisibleCommands}}
{{bold "subcommands"}}
{{commands .}}{{end}}{{with related}}
{{bold "related commands"}}
{{.}}{{end}}{{with own}}
{{bold "options"}}
{{options .}}{{end}}{{with global}}
{{bold "options of every command:"}} {{.}}
("mem help options" explains them)
{{end}}`
)

// helpFuncs returns the functions that the templates use.
func helpFuncs(e *app.Env) map[string]any {
	return map[string]any{
		"bold":    e.Style().Bold,
		"ordered": orderedGroups,
		"commands": func(list []*cli.Command) string {
			return columns(list, func(c *cli.Command) (string, string) { return c.Name, c.Usage })
		},
		"options": func(list []optionHelp) string {
			return columns(list, func(o optionHelp) (string, string) { return o.spelled(), o.Usage })
		},
	}
}

// orderedGroups sorts the categories of commands in the order of [groups].
func orderedGroups(list []cli.CommandCategory) []cli.CommandCategory {
	order := groups()
	slices.SortFunc(list, func(a, b cli.CommandCategory) int {
		return slices.Index(order, group(a.Name())) - slices.Index(order, group(b.Name()))
	})
	return list
}

// helpOnCommon prints the common commands under the headings of their groups.
func helpOnCommon(e *app.Env) error {
	mem := &cli.App{
		Name: "mem", Usage: "Capture every Claude Code session; build smaller contexts from them.",
		HideHelp: true, Writer: e.Out, Compiled: time.Unix(0, 0), CustomAppHelpTemplate: overviewTemplate,
	}
	for _, c := range commands() {
		if c.common {
			mem.Commands = append(mem.Commands, c.build(e))
		}
	}
	mem.Setup()
	var b strings.Builder
	cli.HelpPrinterCustom(&b, mem.CustomAppHelpTemplate, mem, helpFuncs(e))
	return showHelp(e, b.String())
}

// helpOnAll prints all commands that are not hidden, a line for each with those that belong to it, the plumbing and the
// topics.
func helpOnAll(e *app.Env) error {
	var b strings.Builder
	b.WriteString("usage: mem <command> [<options>] [<operands>]\n\n")
	var plumbing []string
	for _, g := range groups() {
		heading := string(g)
		for _, c := range commands() {
			switch {
			case c.group != g || c.under != "":
			case g == groupPlumbing:
				plumbing = append(plumbing, c.name)
			default:
				usage := c.build(e).Usage
				if list := below(c.name); len(list) > 0 {
					usage += " (and " + strings.Join(list, ", ") + ")"
				}
				fmt.Fprintf(&b, "%-8s  %-8s  %s\n", heading, c.name, usage)
				heading = ""
			}
		}
	}
	fmt.Fprintf(&b, "%-8s  %s\n%-8s  %s\n", groupPlumbing, strings.Join(plumbing, ", "), "topics", strings.Join(topics(), ", "))
	b.WriteString("\n\"mem help <command>\" and \"mem help <topic>\" tell more.\n")
	return showHelp(e, b.String())
}

// below returns the names of the commands that the row of another one names.
func below(name string) (out []string) {
	for _, c := range commands() {
		if c.under == name {
			out = append(out, c.name)
		}
	}
	slices.Sort(out)
	return out
}

// helpOn prints the help of one command, examples first.
func helpOn(e *app.Env, path []string, c *cli.Command) error {
	d := describe(e, path, c)
	known := helpFuncs(e)
	known["synopsis"] = func() string { return d.Synopsis }
	known["examples"] = func() string {
		var b strings.Builder
		writeExamples(&b, d.Examples)
		return b.String()
	}
	known["related"] = func() string { return related(e, path) }
	known["commands"] = func(list []*cli.Command) string {
		return columns(list, func(c *cli.Command) (string, string) {
			if c.Name == d.bare {
				return c.Name, c.Usage + " (the default)"
			}
			return c.Name, c.Usage
		})
	}
	known["own"] = func() []optionHelp { return append(slices.Clone(d.Options), d.Changing...) }
	known["global"] = func() string {
		return strings.Join(app.Each(d.Global, optionHelp.briefly), " ")
	}
	var b strings.Builder
	cli.HelpPrinterCustom(&b, commandTemplate, c, known)
	return showHelp(e, b.String())
}

// related lists the commands that the help of the command at path names in place of "mem help -a".
func related(e *app.Env, path []string) string {
	var list []*cli.Command
	for _, c := range commands() {
		if len(path) == 1 && c.under == path[0] {
			list = append(list, c.build(e))
		}
	}
	return columns(list, func(c *cli.Command) (string, string) { return c.Name, c.Usage })
}

// columns writes a list as two columns; names of more than 28 columns do not widen the first.
func columns[T any](list []T, row func(T) (name, about string)) string {
	wide := 0
	for _, x := range list {
		name, _ := row(x)
		if w := displaywidth.String(name); w <= 28 {
			wide = max(wide, w)
		}
	}
	var b strings.Builder
	for _, x := range list {
		name, about := row(x)
		pad := max(2, wide+3-displaywidth.String(name))
		fmt.Fprintf(&b, "   %s%s%s\n", name, strings.Repeat(" ", pad), about)
	}
	return b.String()
}
