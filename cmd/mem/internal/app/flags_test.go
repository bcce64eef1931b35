package app

import (
	"io"
	"slices"
	"testing"

	"github.com/urfave/cli/v2"
)

type sample struct {
	on    bool
	text  string
	n     int
	word  string
	list  []string
	upper string
}

func (s *sample) flags() []cli.Flag {
	return []cli.Flag{
		BoolFlag(&s.on, "on,o", ""), StringFlag(&s.text, "text", "use `TEXT` here"), IntFlag(&s.n, "n", ""),
		ChoiceFlag(&s.word, "word", "", "a", "b"), RepeatedFlag(&s.list, "list,l,L", ""),
		ParsedFlag(&s.upper, "upper,u", "half a `NAME", func(t string) (string, error) { return s.upper + t + "!", nil }).Optional("x"),
	}
}

func (s *sample) run(args ...string) (set []string, err error) {
	app := cli.App{Flags: s.flags(), HideHelp: true, Writer: io.Discard, Action: func(c *cli.Context) error {
		set = c.LocalFlagNames()
		return nil
	}}
	return set, app.Run(append([]string{"test"}, args...))
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"--on=maybe", "--n=1.5", "--n=", "--n=99999999999999999999", "--word=c", "--word="} {
		s := sample{on: true, text: "before", n: 7}
		if _, err := s.run(arg); err == nil {
			t.Errorf("%s was accepted", arg)
		}
		if s.text != "before" || s.word != "" {
			t.Errorf("%s changed %+v", arg, s)
		}
	}
	s := sample{on: true, text: "before", n: 7, list: []string{"first"}}
	if _, err := s.run(); err != nil || !s.on || s.text != "before" || s.n != 7 {
		t.Errorf("without flags: %+v, %v", s, err)
	}
	set, err := s.run("--on=false", "--text=", "--n=-0x10", "--word=b", "--list= a,b ", "--list=c", "--upper=y")
	if err != nil || s.on || s.text != "" || s.n != -16 || s.word != "b" || s.upper != "y!" {
		t.Errorf("%+v, %v", s, err)
	}
	if !slices.Equal(s.list, []string{"first", "a,b", "c"}) {
		t.Errorf("list: %q: aliases must not append again", s.list)
	}
	if !slices.Contains(set, "L") || !slices.Contains(set, "list") {
		t.Errorf("set: %q", set)
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	var s sample
	list := s.flags()
	for _, tt := range []struct {
		name  string
		bad   []string
		needs bool
	}{
		{"o", []string{"maybe", ""}, false}, {"n", []string{"1.5", "", "99999999999999999999"}, true},
		{"word", []string{"c", ""}, true}, {"u", nil, false}, {"text", nil, true},
	} {
		k := KindOf(find(list, tt.name))
		if k.NeedsValue() != tt.needs {
			t.Errorf("%s needs a value: %v", tt.name, !tt.needs)
		}
		for _, text := range tt.bad {
			if k.Check(text) == nil {
				t.Errorf("%s: %q passed", tt.name, text)
			}
		}
	}
	if KindOf(find(list, "word")).Check("b") != nil || KindOf(find(list, "n")).Check("0xa") != nil || s.word != "" {
		t.Error("a good value was refused, or a check set it")
	}
	for name, want := range map[string][2]string{"text": {"TEXT", "use TEXT here"}, "upper": {"", "half a `NAME"}, "n": {}} {
		if k := KindOf(find(list, name)); k.Value != want[0] || k.Usage != want[1] {
			t.Errorf("%s: %q, %q", name, k.Value, k.Usage)
		}
	}
	if find(list, "none") != nil {
		t.Error("found a flag that does not exist")
	}
}

// find returns the flag with that name or alias, nil if there is none.
func find(list []cli.Flag, name string) cli.Flag {
	i := slices.IndexFunc(list, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return list[i]
}
