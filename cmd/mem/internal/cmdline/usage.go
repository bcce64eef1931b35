package cmdline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// unknownOption returns a usage error for the option spelled that suggests similar options.
func (p *Parser) unknownOption(spelled string, others ...string) error {
	line := p.line.String()
	if hint := foreignOption(line + " " + spelled); hint != "" {
		return app.WithHint(app.Usagef("%s has no option %s", line, spelled), hint)
	}
	scope := p.Scope()
	known := app.SortedKeys(scope)
	for _, name := range known {
		if value := strings.TrimLeft(spelled, "-"); len(name) > 1 && slices.Contains(scope[name].Choices, value) {
			return app.WithHint(app.Usagef("%s has no option %s", line, spelled), fmt.Sprintf("did you mean \"--%s %s\"?", name, value))
		}
	}
	for _, s := range append(others, spelled) {
		if name := strings.TrimLeft(s, "-"); len(name) > 1 {
			if _, ok := scope[name]; ok && s != spelled {
				return app.WithHint(app.Usagef("%s has no option %s", line, spelled), fmt.Sprintf("did you mean %q?", s))
			}
			if near := term.Suggest(name, app.Long(known)); len(near) > 0 {
				return app.WithHint(app.Usagef("%s has no option %s", line, spelled), app.DidYouMean("--", near))
			}
		}
	}
	if p.line.Command != nil && p.line.Command.ArgsUsage != "" {
		return app.WithHint(app.Usagef("%s has no option %s", line, spelled), line+" -h",
			fmt.Sprintf("%s -- %s if it is an operand", line, spelled))
	}
	return app.WithHint(app.Usagef("%s has no option %s", line, spelled), line+" -h")
}

// unknownCommand returns a usage error for word that suggests similar commands.
func (p *Parser) unknownCommand(word string, names []string) error {
	line := p.line.String()
	err := app.Usagef("%q is not a %s command", word, line)
	if hint := ForeignCommand(word, false); p.line.Command == nil && hint != "" {
		return app.WithHint(err, hint)
	}
	if near := term.Suggest(word, names); len(near) > 0 {
		return app.WithHint(err, app.DidYouMean(line+" ", near))
	}
	if hint := ForeignCommand(word, true); p.line.Command == nil && hint != "" {
		return app.WithHint(err, hint)
	}
	if p.line.Command != nil {
		return app.WithHint(err, line+" -h")
	}
	return app.WithHint(err, "mem help")
}
