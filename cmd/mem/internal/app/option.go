package app

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/flags"
)

// An Option is a flag as the parser sees it.
type Option struct {
	flags.Kind
	Name   string
	Global bool // of mem, not of one command
	Help   bool // -h
}

// A scope holds options by each of their names.
type Scope map[string]Option

func (s Scope) Add(more Scope) {
	for name, o := range more {
		s[name] = o
	}
}

// ScopeOf returns the options that list describes, by their names.
func ScopeOf(list []cli.Flag, global bool) Scope {
	s := Scope{}
	for _, f := range list {
		names := f.Names()
		o := Option{Kind: flags.KindOf(f), Name: names[0], Global: global}
		for _, name := range names {
			s[name] = o
		}
	}
	if global {
		help := Option{Kind: flags.KindOf(cli.HelpFlag), Name: "help", Global: true, Help: true}
		help.Usage = "explain the command"
		s["help"], s["h"] = help, help
	}
	return s
}

// Long finds an option by its name or by the beginning of one. Switches of one letter have no beginning.
func (s Scope) Long(name string) (Option, error) {
	if o, ok := s[name]; ok {
		return o, nil
	}
	found := map[string]Option{}
	for n, o := range s {
		if len(n) > 1 && name != "" && strings.HasPrefix(n, name) {
			found[o.Name] = o
		}
	}
	if len(found) == 1 {
		for _, o := range found {
			return o, nil
		}
	}
	if len(found) == 0 {
		return Option{}, &UnknownOption{}
	}
	return Option{}, &UnknownOption{Candidates: SortedKeys(found)}
}
