package app

import (
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// An option is a flag and where it belongs.
type Option struct {
	*cli.Flag
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

// ScopeOf returns flags by their names.
func ScopeOf(flags []*cli.Flag, global bool) Scope {
	s := Scope{}
	for _, f := range flags {
		for _, name := range f.Names() {
			s[name] = Option{Flag: f, Global: global}
		}
	}
	if global {
		help := Option{Flag: cli.Bool(new(bool), "help", "explain the command"), Global: true, Help: true}
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
