package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	capturing "github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/testdata"
)

type demoOptions struct {
	keep   string
	sample bool
}

// demo is the command that shows the whole journey in a store of its own.
func (e *Env) demo() *cli.Command {
	var o demoOptions
	return &cli.Command{
		Name:  "demo",
		Usage: "show the whole journey on your newest sessions, in a throwaway memory",
		Description: "Reads the newest sessions under ~/.claude (or CLAUDE_CONFIG_DIR) and changes nothing there; where there are none it\n" +
			"takes the bundled sample. Prints each command as it runs it.",
		Flags: []*cli.Flag{
			cli.String(&o.keep, "keep", "make the memory in `DIR` instead of a temporary directory"),
			cli.Bool(&o.sample, "sample", "take the bundled sample even if there are sessions"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			if e.opt.json {
				return withHint(usagef("mem demo has no option --json: it shows what people see"), "mem demo")
			}
			return e.runDemo(ctx, o)
		},
	}
}

// Limits of the demo: what it takes of the newest sessions.
const (
	demoSessions = 3
	demoBytes    = 64 << 20
	demoMessages = 6
	demoWidth    = 110
	demoLooks    = 100 // so many files are looked into
)

func (e *Env) runDemo(ctx context.Context, o demoOptions) error {
	dir := o.keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "mem-demo-"); err != nil {
			return err
		}
	}
	dir = e.path(dir)
	files, what, err := e.demoFiles(o, dir)
	if err != nil {
		return err
	}
	e.printf("This is mem at work on %s, in a memory of its own:\n%s\n", what, e.safe(dir))
	d := &demo{e: e, ctx: ctx, dir: dir, store: filepath.Join(dir, "memory")}
	first := capturing.SourceOf(files[0]).SessionID()
	out := filepath.Join(dir, "context")
	steps := []struct {
		say  string
		args []string
	}{
		{"make a memory", []string{"init"}},
		{"capture the sessions, byte for byte", append([]string{"add"}, files...)},
		{"what is in memory", []string{"ls", "--all-projects"}},
		{"preview a compression: what would be kept, and why", []string{"compress", first, "--ratio", "10", "-n"}},
		{"make it", []string{"compress", first, "--ratio", "10"}},
		{"every change is a signed commit", []string{"log", "--oneline", "--all-projects"}},
		{"compose the sessions into one context of at most 8,000 tokens", append([]string{"compose", "demo", "--budget", "8k"}, ids(files)...)},
		{"write it where Claude Code can resume it", []string{"checkout", "demo", "-o", out}},
		{"an original comes back byte for byte", []string{"checkout", first + ":original", "-o", filepath.Join(dir, "original.jsonl")}},
		{"check every byte", []string{"fsck", "--full"}},
	}
	for _, s := range steps {
		if err := d.step(s.say, s.args...); err != nil {
			return err
		}
	}
	if err := d.same(files[0], filepath.Join(dir, "original.jsonl")); err != nil {
		return err
	}
	return d.ending(out)
}

// demoFiles returns the session files to show, oldest first, and what they are.
func (e *Env) demoFiles(o demoOptions, dir string) ([]string, string, error) {
	if !o.sample {
		if files := e.newestSessions(); len(files) > 0 {
			return files, fmt.Sprintf("your %d newest session%s (read only)", len(files), plural(len(files))), nil
		}
	}
	files, err := writeSample(filepath.Join(dir, "sample"))
	return files, "the bundled sample", err
}

// newestSessions returns the newest session files of Claude Code.
func (e *Env) newestSessions() []string {
	claude, err := e.claudeDir()
	if err != nil {
		return nil // no home, so no sessions
	}
	sources, err := capturing.Sources(claude)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		e.warn("%v", err)
	}
	type found struct {
		path string
		fi   os.FileInfo
	}
	var all []found
	for _, s := range sources {
		if fi, err := os.Stat(s.Path); err == nil && s.Parent == "" && fi.Size() > 4<<10 && fi.Size() <= demoBytes {
			all = append(all, found{s.Path, fi})
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(b.fi.ModTime().Compare(a.fi.ModTime()), cmp.Compare(a.path, b.path))
	})
	var files []string
	for _, f := range all[:min(demoLooks, len(all))] {
		if len(files) < demoSessions && conversed(f.path) {
			files = append([]string{f.path}, files...)
		}
	}
	return files
}

// conversed reports whether the file holds a talk with the user that there is something to show of: no subagent's, and not
// only a question.
func conversed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false // nor could it be captured
	}
	defer f.Close()
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	if _, err := io.Copy(sc, f); err != nil {
		return false
	}
	got := sc.Summary()
	return got.Parent() == "" && got.Typed > 0 && got.Messages >= demoMessages
}

// writeSample writes the bundled sessions to dir and returns the paths of the main ones.
func writeSample(dir string) ([]string, error) {
	var files []string
	err := fs.WalkDir(testdata.Sample, testdata.SampleRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := testdata.Sample.ReadFile(path)
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, testdata.SampleRoot)))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		files = append(files, to)
		return os.WriteFile(to, b, 0o600)
	})
	return files, err
}

func ids(files []string) []string {
	var out []string
	for _, f := range files {
		out = append(out, capturing.SourceOf(f).SessionID())
	}
	return out
}

// A demo is the memory that a demo works in.
type demo struct {
	e     *Env
	ctx   context.Context
	dir   string
	store string
}

// step runs a command of mem as a user would and shows it.
func (d *demo) step(say string, args ...string) error {
	d.e.printf("\n%s\n%s mem %s\n", d.e.style().dim("# "+say), d.e.style().bold("$"), d.e.safe(strings.Join(quoteAll(args), " ")))
	if err := d.e.out.flush(); err != nil {
		return err
	}
	inner := *d.e
	inner.opt, inner.conf, inner.out = options{}, nil, nil
	inner.Dir = d.dir
	getenv := inner.Getenv
	inner.Getenv = func(name string) string {
		switch name {
		case "MEM_DIR":
			return d.store
		case "MEM_ADVICE":
			return "0"
		}
		return getenv(name)
	}
	inner.Stderr = d.e.Stdout
	inner.Term.Stderr = false
	if !inner.Term.Stdout { // it is people who read a demo, in a file too
		inner.Term = Term{Stdout: true, Width: func() int { return demoWidth }}
		inner.paint = &palette{}
	}
	if code := run(d.ctx, inner, append([]string{"--no-pager"}, args...)); code != exitDone {
		return withCode(code, fatalf("the demo stopped at mem %s", args[0]))
	}
	return nil
}

// same compares a file with the original that was restored.
func (d *demo) same(file, restored string) error {
	for _, f := range []string{file, restored} {
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	a, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(restored)
	if err != nil {
		return err
	}
	if string(a) != string(b) {
		return fatalf("%s and %s differ", file, restored)
	}
	d.e.printf("\n%s\n%s cmp %s original.jsonl\n(no difference)\n", d.e.style().dim("# and compare it"), d.e.style().bold("$"), d.e.safe(file))
	return nil
}

// ending shows the composed context and where everything lies.
func (d *demo) ending(out string) error {
	b, err := os.ReadFile(filepath.Join(out, "composed.md"))
	if err != nil {
		return err
	}
	d.e.printf("\n%s\n%s\n", d.e.style().dim("# the composed context"), d.e.safe(string(b)))
	d.e.printf(`Where it all lies:
  %s  the memory of this demo (a real one is in ~/.claude-memory)
  %s  the context: composed.md, composed.jsonl, composition.json
Start a session from it:  claude --resume %s --fork-session
Remove the demo:          rm -r %s
Begin for real:           mem init && mem import
`, d.e.safe(d.store), d.e.safe(out), d.e.safe(filepath.Join(out, "composed.jsonl")), d.e.safe(d.dir))
	return nil
}

// quoteAll quotes words as a shell wants them: all but those of characters that mean nothing to one.
func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if w == "" || w[0] == '~' || strings.ContainsFunc(w, special) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return out
}

// special reports whether a character may mean something to a shell.
func special(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@%+=:,./-~", r)
}
