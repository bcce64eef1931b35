package main

import (
	"bytes"
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

	"github.com/clipperhouse/displaywidth"
	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/testdata"
)

type demoOptions struct {
	keep   string
	sample bool
	full   bool
}

// demoCommand returns mem demo, which shows the main commands in a temporary memory.
func demoCommand(e *app.Env) *cli.Command {
	var o demoOptions
	return &cli.Command{
		Name:  "demo",
		Usage: "try mem on your newest sessions, in a throwaway memory",
		Description: "Reads the newest sessions under ~/.claude (or CLAUDE_CONFIG_DIR) and changes nothing\n" +
			"there. Without any, it uses the bundled sample. Each command is printed as it runs;\n" +
			"the memory is deleted at the end, unless --keep names a directory.",
		Flags: []cli.Flag{
			app.StringFlag(&o.keep, "keep", "create the memory in `DIR` and keep it"),
			app.BoolFlag(&o.sample, "sample", "use the bundled sample even if there are sessions"),
			app.BoolFlag(&o.full, "full", "print the whole output of more commands"),
		},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			if e.Opt.JSON {
				return app.WithHint(app.Usagef("mem demo has no option --json"), "mem demo")
			}
			return runDemo(c.Context, e, o)
		}),
	}
}

// The limits of the demo on input sessions, and on output without --full.
const (
	demoSessions = 3
	demoBytes    = 64 << 20
	demoMessages = 6
	demoWidth    = 110
	demoLooks    = 60 // files that are read to find sessions
	demoLines    = 12 // of the output of a step
)

func runDemo(ctx context.Context, e *app.Env, o demoOptions) (err error) {
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "mem-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	dir = e.Path(dir)
	files, what, err := demoFiles(e, o, dir)
	if err != nil {
		return err
	}
	d := &demo{e: e, ctx: ctx, dir: dir, store: filepath.Join(dir, "memory"), full: o.full}
	e.Printf("mem on %s, in a throwaway memory\n", e.Safe(what))
	for _, s := range d.steps(files) {
		if s.full && !o.full {
			continue
		}
		if err := d.step(s); err != nil {
			return err
		}
	}
	d.ending(o)
	return nil
}

// A demoStep is a command of the demo.
type demoStep struct {
	about string
	args  []string
	shown string       // printed instead of args, without "mem"
	dir   string       // where it runs, if that matters
	quiet bool         // its output is printed with --full only
	full  bool         // the step is run with --full only
	alone bool         // it does not see the session files that the demo did not add
	then  func() error // runs after the command
}

// steps returns the commands of the demo on the session files, the newest last.
func (d *demo) steps(files []string) []demoStep {
	names := app.Each(files, func(f string) string { return term.ShortID(capture.SourceOf(f).SessionID()) })
	first, newest := names[0], files[len(files)-1]
	original, composed := filepath.Join(d.dir, "original.jsonl"), filepath.Join(d.dir, "context")
	return []demoStep{
		{about: "create a memory", args: []string{"init"}, quiet: true},
		{about: "capture the sessions, byte for byte", args: append([]string{"add"}, files...), shown: "add FILE...",
			quiet: true},
		{about: "list them", args: []string{"ls", "--all-projects"}, alone: true},
		{about: "preview a compression: what is kept, and why", args: []string{"compress", first, "--ratio", "10", "-n"},
			full: true},
		{about: "create a version of a tenth of the size", args: []string{"compress", first, "--ratio", "10"}},
		{about: "every change is a signed commit", args: []string{"log", "--oneline", "--all-projects"}, full: true},
		{about: "one context from all of them", args: append([]string{"compose", "demo", "--budget", "8k"}, names...)},
		{
			about: "write it as a transcript that Claude Code can resume", args: []string{"checkout", "demo", "-o", composed},
			shown: "checkout demo -o context", full: true,
			then: func() error { return d.print(filepath.Join(composed, "composed.md")) },
		},
		{
			about: "restore an original", args: []string{"checkout", first + ":original", "-o", original},
			shown: "checkout " + first + ":original -o original.jsonl", quiet: true, then: func() error {
				return d.same(files[0], original)
			},
		},
		{about: "verify every byte", args: []string{"fsck", "--full"}},
		{about: "what Claude reads when the next session starts", args: []string{"next"}, dir: workingDir(newest)},
	}
}

// demoFiles returns the session files to show, oldest first, and a description of them.
func demoFiles(e *app.Env, o demoOptions, dir string) ([]string, string, error) {
	if !o.sample {
		if files, cwd := newestSessions(e); len(files) > 0 {
			what := fmt.Sprintf("your %d newest session%s", len(files), term.Plural(len(files)))
			if cwd != "" {
				what += " in " + cwd
			}
			return files, what, nil
		}
	}
	files, err := writeSample(filepath.Join(dir, "sample"))
	return files, "the bundled sample", err
}

// newestSessions returns the newest session files of Claude Code, oldest first: those of one working directory, because
// they belong together, or of all if none has two.
func newestSessions(e *app.Env) (files []string, cwd string) {
	claude, err := e.ClaudeDir()
	if err != nil {
		return nil, "" // no home, so no sessions
	}
	sources, err := capture.Sources(claude)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		e.Warn("%v", err)
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
	var talked []string
	in := map[string][]string{} // by working directory
	most := ""
	for _, f := range all[:min(demoLooks, len(all))] {
		cwd, ok := conversed(f.path)
		if !ok {
			continue
		}
		talked, in[cwd] = append(talked, f.path), append(in[cwd], f.path)
		if len(in[cwd]) > len(in[most]) {
			most = cwd
		}
		if len(in[most]) == demoSessions {
			break
		}
	}
	if files = in[most]; len(files) < 2 {
		files, most = talked[:min(demoSessions, len(talked))], ""
	}
	slices.Reverse(files)
	return files, most
}

// conversed reports whether the session is worth showing, not a subagent's and more than one question, and returns its
// working directory.
func conversed(path string) (cwd string, ok bool) {
	got, ok := scanned(path)
	return got.Cwd, ok && got.Parent() == "" && got.Typed > 0 && got.Messages >= demoMessages
}

// workingDir returns the directory in which a session worked, "" if its file does not name one.
func workingDir(path string) string {
	got, _ := scanned(path)
	return got.Cwd
}

// scanned summarises a session file; ok is false if it cannot be read.
func scanned(path string) (summary transcript.Summary, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return summary, false
	}
	defer f.Close()
	sc := transcript.NewScanner(transcript.Carry{}, func([]byte) [32]byte { return [32]byte{} })
	if _, err := io.Copy(sc, f); err != nil {
		return summary, false
	}
	return sc.Summary(), true
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

// A demo is the memory that a demo works in.
type demo struct {
	e     *app.Env
	ctx   context.Context
	dir   string
	store string
	full  bool
}

// step prints a command line, runs it and prints its output.
func (d *demo) step(s demoStep) error {
	shown := s.shown
	if shown == "" || d.full {
		shown = strings.Join(term.QuoteAll(s.args), " ")
	}
	style := d.e.Style()
	d.e.Printf("\n%s mem %s  %s\n", style.Bold("$"), d.e.Safe(shown), style.Dim("# "+s.about))
	if err := d.e.Out.Flush(); err != nil {
		return err
	}
	var out bytes.Buffer
	inner := d.inner(s)
	inner.Stdout, inner.Stderr = &out, &out
	code := run(d.ctx, inner, append([]string{"--no-pager"}, s.args...))
	if code != app.ExitDone {
		d.e.Printf("%s", out.String())
		return app.WithCode(code, fmt.Errorf("the demo stopped at mem %s", s.args[0]))
	}
	if d.full {
		d.e.Printf("%s", out.String())
	} else if !s.quiet {
		d.excerpt(out.String(), inner.Term.Width())
	}
	if s.then == nil {
		return nil
	}
	return s.then()
}

// inner returns the environment of a step.
func (d *demo) inner(s demoStep) app.Env {
	inner := *d.e
	inner.Opt, inner.Conf, inner.Out = app.Options{}, nil, nil
	inner.Dir = cmp.Or(s.dir, d.dir)
	getenv := inner.Getenv
	inner.Getenv = func(name string) string {
		switch name {
		case "MEM_DIR":
			return d.store
		case "MEM_ADVICE":
			return "0"
		case "CLAUDE_CONFIG_DIR":
			if s.alone {
				return d.dir // without sessions
			}
		}
		return getenv(name)
	}
	inner.Term.Stderr = false
	if !inner.Term.Stdout || inner.Term.Width == nil { // a demo is read by people, also in a file
		inner.Term = app.Term{Stdout: true, Width: func() int { return demoWidth }}
		inner.Paint = &app.Palette{}
	}
	return inner
}

// excerpt prints the first lines of an output, cut to the width of the screen.
func (d *demo) excerpt(text string, width int) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		if i == demoLines-1 && len(lines) > demoLines {
			d.e.Printf("%s\n", d.e.Style().Dim(fmt.Sprintf("... %d more lines", len(lines)-i)))
			return
		}
		if !strings.Contains(line, "\x1b") { // lines of tables fit already
			line = displaywidth.TruncateString(line, width, "…")
		}
		d.e.Printf("%s\n", line)
	}
}

// same compares a file with the restored original.
func (d *demo) same(file, restored string) error {
	a, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(restored)
	if err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("%s and %s differ", file, restored)
	}
	d.e.Printf("original.jsonl and the session file are equal: %s\n", app.BytesText(int64(len(a))))
	return nil
}

// print prints a file.
func (d *demo) print(path string) error {
	b, err := os.ReadFile(path)
	if err == nil {
		d.e.Printf("\n%s\n", d.e.Safe(string(b)))
	}
	return err
}

// ending prints the place of the demo's memory, if it is kept, and the next commands to type.
func (d *demo) ending(o demoOptions) {
	d.e.Printf("\n")
	if o.keep != "" {
		d.e.Printf("The memory of this demo is in %s\n", d.e.Safe(d.store))
		if d.full {
			d.e.Printf("Start a session from it:  claude --resume %s --fork-session\n",
				d.e.Safe(filepath.Join(d.dir, "context", "composed.jsonl")))
		}
	} else {
		d.e.Printf("The memory of this demo is deleted; ~/.claude was only read.\n")
	}
	d.e.Printf("For real:  mem init && mem import && mem hooks install\n")
}
