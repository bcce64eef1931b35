package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestDocsExamples checks that each command that can be named has two examples and that the parser accepts each of them.
func TestDocsExamples(t *testing.T) {
	t.Parallel()
	e := &app.Env{Now: time.Now}
	known := map[string]bool{}
	var check func(path []string, c *cli.Command)
	check = func(path []string, c *cli.Command) {
		name := strings.Join(path, " ")
		known[name] = true
		list := examplesOf(path)
		if len(list) != 2 {
			t.Errorf("mem %s has %d examples, want 2", name, len(list))
		}
		var printed strings.Builder
		writeExamples(&printed, list)
		for line := range strings.Lines(printed.String()) {
			if len(line) > 80 {
				t.Errorf("an example of mem %s is %d columns wide: %s", name, len(line)-1, line)
			}
		}
		for _, x := range list {
			checkExample(t, e, x.Command)
		}
		for _, s := range c.Subcommands {
			if !s.Hidden {
				check(append(slices.Clone(path), s.Name), s)
			}
		}
	}
	for _, c := range commands() {
		if !strings.HasPrefix(c.name, "__") {
			check([]string{c.name}, c.build(e))
		}
	}
	for line := range strings.Lines(exampleLines) {
		name := strings.TrimSpace(line)
		if name == "" || line[0] == ' ' {
			continue
		}
		if !known[name] {
			t.Errorf("there are examples of %q, which is no command, or twice", name)
		}
		delete(known, name)
	}
}

// checkExample checks that the parser accepts an example.
func checkExample(t *testing.T, e *app.Env, example string) {
	t.Helper()
	line, _, _ := strings.Cut(example, " >")
	line, _, _ = strings.Cut(line, " <")
	words := shellWords(line)
	if len(words) == 0 || words[0] != "mem" {
		if !strings.Contains(line, "mem ") {
			t.Errorf("%q does not run mem", example)
		}
		return
	}
	table := commands()
	var chosen command
	p := parser(e, table, &chosen)
	got, err := p.Parse(words[1:])
	if err == nil {
		err = chosen.accepts(got.Path).Check(got, app.Options{})
	}
	if err != nil {
		t.Errorf("%q: %v", example, err)
	}
}

// shellWords splits a line at blanks that are not between double quotes.
func shellWords(line string) []string {
	var words []string
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
			continue
		}
		words = append(words, strings.Fields(part)...)
	}
	return words
}
