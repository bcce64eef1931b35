package app

import (
	"maps"

	"github.com/urfave/cli/v2"
)

// An Option describes one flag for the parser.
type Option struct {
	FlagKind
	Name   string
	Global bool // of mem, not of one command
	Help   bool // -h
}

// An OptionSet maps each name and alias to its option.
type OptionSet map[string]Option

// Add adds the options of more.
func (s OptionSet) Add(more OptionSet) { maps.Copy(s, more) }

// OptionsOf returns the options of a list of flags. Global options include -h.
func OptionsOf(list []cli.Flag, global bool) OptionSet {
	s := OptionSet{}
	for _, f := range list {
		names := f.Names()
		o := Option{FlagKind: KindOf(f), Name: names[0], Global: global}
		for _, name := range names {
			s[name] = o
		}
	}
	if global {
		help := Option{FlagKind: KindOf(cli.HelpFlag), Name: "help", Global: true, Help: true}
		help.Usage = "explain the command"
		s["help"], s["h"] = help, help
	}
	return s
}

// Long finds an option by its whole name. A prefix is no name: --mode, typed for something that mem does not have, must
// not become --model.
func (s OptionSet) Long(name string) (Option, bool) {
	o, ok := s[name]
	return o, ok
}
