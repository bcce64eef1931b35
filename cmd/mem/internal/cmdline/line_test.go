package cmdline

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// A sample is a command with every kind of option, as it saw its command line.
type sample struct {
	number   int
	all      bool
	grep     bool
	long     time.Duration
	text     string
	list     []string
	format   string
	max      int
	maximal  bool
	operands []string
	ran      string
}

func (s *sample) commands() []*cli.Command {
	act := func(c *cli.Context) error {
		s.ran = strings.TrimPrefix(c.Command.HelpName, "mem ")
		return nil
	}
	return []*cli.Command{
		{Name: "log", ArgsUsage: "<rev>", Action: act, Flags: []cli.Flag{
			app.IntFlag(&s.number, "number,n", "show `N`"),
			app.BoolFlag(&s.all, "all,a", ""),
			app.BoolFlag(&s.grep, "grep,g", ""),
			app.StringFlag(&s.text, "text,S,ü", ""),
			app.ParsedFlag(&s.long, "long", "", app.ParseWait),
			app.RepeatedFlag(&s.list, "list", ""),
			app.ChoiceFlag(&s.format, "format,f", "print as `FORMAT`", "md", "jsonl"),
			app.IntFlag(&s.max, "max-count", ""),
			app.BoolFlag(&s.maximal, "max-imal", ""),
		}},
		{Name: "keepit", Action: act, ArgsUsage: "[<rev>]", Subcommands: []*cli.Command{
			{Name: "set", Action: act, Flags: []cli.Flag{
				app.StringFlag(&s.text, "weight,w", "")}},
			{Name: "list", Aliases: []string{"ls"}, Action: act},
		}},
		{Name: "raw", SkipFlagParsing: true, Action: act},
	}
}

// runSample gives args to the sample commands through the parser.
func runSample(args []string) (*sample, *app.Options, *Line, error) {
	s, o := &sample{}, &app.Options{}
	all := s.commands()
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	p := Parser{Names: func() []string { return names }, Globals: app.GlobalOptions, Find: func(name string) *cli.Command {
		i := slices.IndexFunc(all, func(c *cli.Command) bool { return c.HasName(name) })
		if i < 0 {
			return nil
		}
		return all[i]
	}}
	line, err := p.Parse(args)
	if err != nil || line.Command == nil || line.Help {
		return s, o, line, err
	}
	e := app.Env{Stdout: failingWriter{}, Stderr: failingWriter{}, Getenv: func(string) string { return "" }}
	e.Out = app.NewOutput(e.Stdout, false)
	err = Run(context.Background(), &e, line, Accepts{Writes: true}, func(ctx context.Context) (context.Context, error) { return ctx, nil })
	*o, s.operands = e.Opt, e.Operands
	return s, o, line, err
}

// A failingWriter says that nothing may be printed.
type failingWriter struct{}

func (failingWriter) Write(p []byte) (int, error) {
	panic("printed " + string(p)) // reading a line must never print
}

func TestArgv(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want func(*sample, *app.Options) bool
		ran  string
		ops  string
	}{
		{"log", func(s *sample, o *app.Options) bool { return s.number == 0 && !o.JSON }, "log", ""},
		{"log v001 --json", func(_ *sample, o *app.Options) bool { return o.JSON }, "log", "v001"},
		{"--json log v001", func(_ *sample, o *app.Options) bool { return o.JSON }, "log", "v001"},
		{"log v001 -n 5 v002", func(s *sample, _ *app.Options) bool { return s.number == 5 }, "log", "v001 v002"},
		{"log -n5 a", func(s *sample, _ *app.Options) bool { return s.number == 5 }, "log", "a"},
		{"log a -5", func(s *sample, _ *app.Options) bool { return s.number == 5 }, "log", "a"},
		{"log -50 a", func(s *sample, _ *app.Options) bool { return s.number == 50 }, "log", "a"},
		{"log --number=7", func(s *sample, _ *app.Options) bool { return s.number == 7 }, "log", ""},
		{"log --number -7", func(s *sample, _ *app.Options) bool { return s.number == -7 }, "log", ""},
		{"log -gan3 a", func(s *sample, _ *app.Options) bool { return s.grep && s.all && s.number == 3 }, "log", "a"},
		{"log -ga a -n 3", func(s *sample, _ *app.Options) bool { return s.grep && s.all && s.number == 3 }, "log", "a"},
		{"log -Sfoo=bar", func(s *sample, _ *app.Options) bool { return s.text == "foo=bar" }, "log", ""},
		{"log -S -x", func(s *sample, _ *app.Options) bool { return s.text == "-x" }, "log", ""},
		{"log -üx", func(s *sample, _ *app.Options) bool { return s.text == "x" }, "log", ""},
		{"log --text x", func(s *sample, _ *app.Options) bool { return s.text == "x" }, "log", ""},
		{"log --text=", func(s *sample, _ *app.Options) bool { return s.text == "" }, "log", ""},
		{"log --all --no-all", func(s *sample, _ *app.Options) bool { return !s.all }, "log", ""},
		{"log --all=false -a", func(s *sample, _ *app.Options) bool { return s.all }, "log", ""},
		{"log --no-color x", func(_ *sample, o *app.Options) bool { return o.Color == "never" }, "log", "x"},
		{"log --color x", func(_ *sample, o *app.Options) bool { return o.Color == "always" }, "log", "x"},
		{"log --color=auto x", func(_ *sample, o *app.Options) bool { return o.Color == "auto" }, "log", "x"},
		{"log --list a,b --list c", func(s *sample, _ *app.Options) bool { return slices.Equal(s.list, []string{"a,b", "c"}) }, "log", ""},
		{"log -f md", func(s *sample, _ *app.Options) bool { return s.format == "md" }, "log", ""},
		{"log --long 3s", func(s *sample, _ *app.Options) bool { return s.long == 3*time.Second }, "log", ""},
		{"log --max-count 3", func(s *sample, _ *app.Options) bool { return s.max == 3 }, "log", ""},
		{"log -- --json -n", func(_ *sample, o *app.Options) bool { return !o.JSON }, "log", "--json -n"},
		{"log a -- b -- c", nil, "log", "a b -- c"},
		{"log - a", nil, "log", "- a"},
		{"log log", nil, "log", "log"},
		{"log number", nil, "log", "number"},
		{"log --number=1 number", nil, "log", "number"},
		{"log help", nil, "log", "help"},
		{"log -q -v a", func(_ *sample, o *app.Options) bool { return o.Quiet && o.Verbose }, "log", "a"},
		{"log -p proj a", func(_ *sample, o *app.Options) bool { return o.Project == "proj" }, "log", "a"},
		{"log --lock-timeout 3 a", func(_ *sample, o *app.Options) bool { return o.LockTimeout == 3*time.Second }, "log", "a"},
		{"-C /x -c core.pager=b,c=d log", func(_ *sample, o *app.Options) bool { return o.Dir == "/x" && o.Set[0] == "core.pager=b,c=d" }, "log", ""},
		{"keepit a -n", func(_ *sample, o *app.Options) bool { return o.DryRun }, "keepit", "a"},
		{"keepit -- set", nil, "keepit", "set"},
		{"keepit set k1 -w 0.80", func(s *sample, _ *app.Options) bool { return s.text == "0.80" }, "keepit set", "k1"},
		{"keepit -w 0.80 set k1", func(s *sample, _ *app.Options) bool { return s.text == "0.80" }, "keepit set", "k1"},
		{"keepit ls a", nil, "keepit list", "a"},
		{"raw --json -x -- y", func(_ *sample, o *app.Options) bool { return !o.JSON }, "raw", "--json -x -- y"},
		{"-q raw -h", func(_ *sample, o *app.Options) bool { return o.Quiet }, "raw", "-h"},
	} {
		s, o, _, err := runSample(strings.Fields(tt.line))
		if err != nil {
			t.Errorf("mem %s: %v", tt.line, err)
			continue
		}
		if s.ran != tt.ran || strings.Join(s.operands, " ") != tt.ops {
			t.Errorf("mem %s: ran %q with %q, want %q with %q", tt.line, s.ran, s.operands, tt.ran, tt.ops)
		}
		if tt.want != nil && !tt.want(s, o) {
			t.Errorf("mem %s: %+v %+v", tt.line, s, o)
		}
	}
}

func TestArgvHelp(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"log -h": "log", "-h log a b": "log", "log a --help": "log", "log -gh": "log", "keepit set -h x": "keepit set",
		"-h": "", "keepit -h": "keepit",
	} {
		_, _, a, err := runSample(strings.Fields(line))
		if err != nil || !a.Help || strings.Join(a.Path, " ") != want {
			t.Errorf("mem %s: help %v on %q, %v; want %q", line, a.Help, a.Path, err, want)
		}
	}
	if _, _, a, err := runSample([]string{"log", "-S", "-h"}); err != nil || a.Help {
		t.Errorf("-h as a value asks for help: %v", err)
	}
}

func TestArgvErrors(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"lgo":                 `"lgo" is not a mem command | did you mean "mem log"?`,
		"keepit set --weight": "option --weight requires a value",
		"keepit -w 1 list":    "mem keepit list has no option --weight | mem keepit list -h",
		"log --max 3":         `mem log has no option --max | did you mean "--max-count" or "--max-imal"?`,
		"log --form md":       `mem log has no option --form | did you mean "--format"?`,
		"log --no-al":         `mem log has no option --no-al | mem log -h | mem log -- --no-al if it is an operand`,
		"log --nubmer 3":      `mem log has no option --nubmer | did you mean "--number"?`,
		"log -x":              "mem log has no option -x | mem log -h | mem log -- -x if it is an operand",
		"log -5x":             "mem log has no option -5 | mem log -h | mem log -- -5 if it is an operand",
		"log -n x":            `option -n cannot be "x": want a whole number`,
		"log --number=":       `option --number cannot be "": want a whole number`,
		"log -n":              "option -n requires a value: N",
		"log -f":              "option -f requires a value: md or jsonl",
		"log --no-text":       "option --text takes a value and cannot be turned off",
		"log --no-help":       "mem log has no option --no-help | mem log -h | mem log -- --no-help if it is an operand",
		"log --all=maybe":     `option --all cannot be "maybe": want true or false`,
		"log --long=x":        `option --long cannot be "x": want a time such as 500ms, 10s or 2m`,
		"log -f pdf":          `option -f cannot be "pdf": want md or jsonl`,
		"log --=":             "mem log has no option -- | mem log -h | mem log -- -- if it is an operand",
		"--number 5 log":      "mem has no option --number | mem -h",
		"-- log":              "there is no command before -- | mem help",
		"log --json=x --al":   `option --json cannot be "x": want true or false`,
	} {
		_, _, _, err := runSample(strings.Fields(line))
		if err == nil {
			t.Errorf("mem %s: no error", line)
			continue
		}
		got := strings.Join(append([]string{err.Error()}, app.HintsOf(err)...), " | ")
		if got != want || app.StatusOf(err) != app.ExitUsage {
			t.Errorf("mem %s: %d %s\nwant %s", line, app.StatusOf(err), got, want)
		}
	}
}

// TestOperandsAreNeverLost puts options into all places between operands and looks for the operands.
func TestOperandsAreNeverLost(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	opts := [][]string{{"--json"}, {"-n", "3"}, {"-n4"}, {"-7"}, {"-ga"}, {"--text", "--odd"}, {"--color"}, {"-C", "d"}, {"--no-all"}, {"-f", "md"}}
	ops := []string{"log", "a", "", "-", "help", "keepit", "ä b", "v001..v002", "x=y", "\x1b"}
	for range 3000 {
		var line, want []string
		line = append(line, "log")
		for range rnd.IntN(8) {
			if rnd.IntN(2) == 0 {
				line = append(line, opts[rnd.IntN(len(opts))]...)
				continue
			}
			op := ops[rnd.IntN(len(ops))]
			line, want = append(line, op), append(want, op)
		}
		if rnd.IntN(3) == 0 {
			rest := []string{"--json", "--", "-h", "z"}[:rnd.IntN(5)]
			line, want = append(append(line, "--"), rest...), append(want, rest...)
		}
		s, _, _, err := runSample(line)
		if err != nil || !slices.Equal(s.operands, want) {
			t.Fatalf("mem %q: operands %q, want %q, %v", line, s.operands, want, err)
		}
	}
}

func FuzzArgv(f *testing.F) {
	f.Add("log\x00-gan3\x00--json\x00a\x00--\x00-x")
	f.Add("--no-color\x00keepit\x00-w\x001\x00set\x00k")
	f.Add("log\x00--\xff=\x00-\xff\x00-ü")
	f.Fuzz(func(t *testing.T, text string) {
		line := strings.Split(text, "\x00")
		s, _, a, err := runSample(line)
		if err != nil {
			if app.StatusOf(err) != app.ExitUsage {
				t.Errorf("mem %q: %T %v", line, err, err)
			}
			return
		}
		if a.Command == nil || a.Help {
			return
		}
		if s.ran == "" {
			t.Errorf("mem %q: nothing ran", line)
		}
		if !slices.Equal(s.operands, a.Operands) && len(s.operands)+len(a.Operands) > 0 {
			t.Errorf("mem %q: the command saw %q of %q", line, s.operands, a.Operands)
		}
		if i := slices.Index(line, "--"); i >= 0 && s.ran != "raw" && !slices.Contains(line[:i], "-S") {
			rest := line[i+1:]
			if len(rest) > len(s.operands) || !slices.Equal(rest, s.operands[len(s.operands)-len(rest):]) {
				if !takesNext(line[:i]) {
					t.Errorf("mem %q: operands %q end otherwise", line, s.operands)
				}
			}
		}
	})
}

// takesNext reports whether the last word of line may be an option that takes the word after it.
func takesNext(line []string) bool {
	return len(line) > 0 && strings.HasPrefix(line[len(line)-1], "-")
}
