package main

import (
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// An option is a flag and where it belongs.
type option struct {
	*cli.Flag
	global bool // of mem, not of one command
	help   bool // -h
}

// A scope holds options by each of their names.
type scope map[string]option

func (s scope) add(more scope) {
	for name, o := range more {
		s[name] = o
	}
}

// scopeOf returns flags by their names.
func scopeOf(flags []*cli.Flag, global bool) scope {
	s := scope{}
	for _, f := range flags {
		for _, name := range f.Names() {
			s[name] = option{Flag: f, global: global}
		}
	}
	if global {
		help := option{Flag: cli.Bool(new(bool), "help", "explain the command"), global: true, help: true}
		s["help"], s["h"] = help, help
	}
	return s
}

// long finds an option by its name or by the beginning of one. Switches of one letter have no beginning.
func (s scope) long(name string) (option, error) {
	if o, ok := s[name]; ok {
		return o, nil
	}
	found := map[string]option{}
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
		return option{}, &unknownOption{}
	}
	return option{}, &unknownOption{candidates: sortedKeys(found)}
}
