package versioncmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/worktree"
)

type checkoutOptions struct {
	out    string
	format string
	force  bool
	files  bool
}

// Checkout is the command that writes what a revision names into files.
func Checkout(e *app.Env) *cli.Command {
	var o checkoutOptions
	return &cli.Command{
		Name:      "checkout",
		Usage:     "write an original, version or composition into files",
		ArgsUsage: "<rev>",
		Description: "A session or abc1:original is written byte for byte. A composition is written as\n" +
			"composed.md, composed.jsonl and composition.json; resume it with\n" +
			"\"claude --resume composed.jsonl --fork-session\". The extension of PATH selects the\n" +
			"format; -o - writes to standard output. --files also writes the tool-results/ files of an original\n" +
			"next to it, where Claude Code looks for them. A file that mem did not write, or that\n" +
			"changed since, is replaced only with --force. -n lists the files. A checkout by a\n" +
			"session of Claude Code counts as a use, which brings old sessions nearer.",
		Flags: []cli.Flag{
			flags.String(&o.out, "output,o", "write to `PATH`, a file or directory; - is standard output"),
			flags.Choice(&o.format, "format", "write only `FORM`: md, jsonl, text or both", "md", "jsonl", "text", "both"),
			flags.Bool(&o.files, "files", "with an original: also its tool-results/ files, next to it as in Claude Code"),
			flags.Bool(&o.force, "force,f",
				"replace files that mem did not write; write data of revoked sources and untrusted devices"),
		},
		Action: e.Action(1, 1, func(c *cli.Context) error {
			return runCheckout(c.Context, e, o, e.Operand(0))
		}),
	}
}

// OutputName returns "-" for standard output by either name, else the name as it is.
func OutputName(name string) string {
	if name == "/dev/stdout" {
		return "-"
	}
	return name
}

// OutputPath returns where what goes to name is written; what ends in a separator is a directory. Nothing goes
// into the memory itself.
func OutputPath(e *app.Env, name string) (string, error) {
	path := e.Path(name)
	if err := outside(e, path); err != nil {
		return "", err
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		path += string(filepath.Separator)
	}
	return path, nil
}

// outside refuses a path that leads into the memory, by its name or by links.
func outside(e *app.Env, path string) error {
	memory, err := e.MemoryDir()
	if err != nil {
		return err
	}
	for _, at := range [][2]string{{memory, path}, {unlinked(memory), unlinked(path)}} {
		if rel, err := filepath.Rel(at[0], at[1]); err == nil && filepath.IsLocal(rel) {
			return app.WithHint(app.Usagef("%s is inside the memory itself", path), "name another place with -o")
		}
	}
	return nil
}

// unlinked returns a path without links, as far as it leads to something.
func unlinked(path string) string {
	found, err := filepath.EvalSymlinks(path)
	if dir := filepath.Dir(path); err != nil && dir != path {
		return filepath.Join(unlinked(dir), filepath.Base(path))
	}
	return cmp.Or(found, path)
}

// A checkoutAnswer says which files were written.
type checkoutAnswer struct {
	Kind   string   `json:"kind"`
	Hash   string   `json:"hash,omitempty"`
	Files  []string `json:"files"`
	DryRun bool     `json:"dry_run"`
}

func runCheckout(ctx context.Context, e *app.Env, o checkoutOptions, name string) error {
	o.out = OutputName(o.out)
	format := checkout.Format(o.format)
	if o.format == "both" {
		format = ""
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return err
		}
		if err := run.Trusted().MayHand(ctx, rev); err != nil && !o.force {
			return err
		} else if err != nil {
			e.Warn("%v", err)
		}
		if exact := rev.Kind == state.IsSession || rev.Kind == state.IsOriginal; o.files && (!exact || o.out == "-") {
			return app.Usagef("--files goes with a session or its original, and a place for files")
		}
		if o.out == "-" {
			if err := run.Checkout().Write(ctx, rev, format, Outlet(e)); err != nil {
				return names.StoreError(err)
			}
			return rehearse(ctx, run, rev)
		}
		at, err := checkoutPlace(e, rev, o.out)
		if err != nil {
			return err
		}
		done, err := run.Checkout().Checkout(ctx, rev, at, checkout.CheckoutOptions{Format: format, Files: o.files,
			Force: o.force, DryRun: e.Opt.DryRun})
		var noTranscript *worktree.FileError
		switch {
		case errors.Is(err, checkout.ErrFileName) && errors.As(err, &noTranscript):
			return app.WithHint(app.Usagef("--files goes with a file that ends in .jsonl, not %s", noTranscript.Path),
				term.Shell("mem", "checkout", name, "--files", "-o", rev.Session.ID+".jsonl"))
		case errors.Is(err, checkout.ErrFormatless):
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(done.Files) == 0 {
			return names.StoreError(WriteError(err))
		}
		NoteCreated(e, done.Created)
		if !o.files && (rev.Kind == state.IsSession || rev.Kind == state.IsOriginal) {
			hintFiles(e, rev.Session)
		}
		answer := checkoutAnswer{Kind: string(rev.Kind), Files: done.Files, DryRun: e.Opt.DryRun}
		if !rev.Hash.IsZero() {
			answer.Hash = rev.Hash.String()
		}
		if e.Opt.DryRun {
			return errors.Join(printCheckout(e, answer), names.StoreError(err))
		}
		autoTier(ctx, e, run.Memory, rev.Project)
		return errors.Join(printCheckout(e, answer), names.StoreError(err), rehearse(ctx, run, rev))
	})
}

// hintFiles says how to get the files of another agent that the lines of a session were made from.
func hintFiles(e *app.Env, s *state.Session) {
	source := filepath.Base(s.Source())
	if slices.ContainsFunc(s.Now().Files, func(f records.FileRef) bool { return f.Name == source }) {
		e.Hint("mem made these lines from %s; %s writes it, too", source,
			term.Shell("mem", "checkout", records.ShortID(s.ID)+":original", "--files", "-o", s.ID+".jsonl"))
	}
}

// checkoutPlace returns where a checkout writes: where -o says, else the working directory, in it a directory
// of a composition's name.
func checkoutPlace(e *app.Env, rev state.Rev, out string) (checkout.Place, error) {
	if out != "" {
		path, err := OutputPath(e, out)
		return checkout.Place{Path: path}, err
	}
	at := checkout.Place{Path: e.Dir}
	if rev.Kind == state.IsComposition {
		at.Sub = rev.Composition.Name
		if hiddenDir(at.Sub) {
			err := app.Usagef("%s would be a hidden directory, where programs look for their settings", at.Sub)
			return at, app.WithHint(err, term.Shell("mem", "checkout", at.Sub)+" -o DIR")
		}
	}
	return at, outside(e, filepath.Join(at.Path, at.Sub))
}

// hiddenDir reports whether an element of a path begins with a dot: a composition can be called
// .claude/commands/x, and its name may come from another device.
func hiddenDir(name string) bool { return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") }

// Outlet is standard output for content: a terminal gets it sanitised, a file or a pipe as it is.
func Outlet(e *app.Env) io.Writer {
	if e.Term.Stdout {
		return &term.SafeWriter{W: e.Out}
	}
	return e.Out
}

// NoteCreated says which directories were created outside the working directory.
func NoteCreated(e *app.Env, dirs []string) {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(unlinked(e.Dir), unlinked(dir)); err != nil || !filepath.IsLocal(rel) {
			e.Note("created directory %s", e.Safe(dir))
		}
	}
}

// WriteError adds to the refusal to write a file what can be done about it.
func WriteError(err error) error {
	switch {
	case errors.Is(err, worktree.ErrExists):
		return app.WithHint(err, "replace it with --force, or name another place with -o")
	case errors.Is(err, worktree.ErrLink), errors.Is(err, worktree.ErrInWay), errors.Is(err, worktree.ErrName):
		return app.WithHint(err, "name another place with -o")
	}
	return err
}

func printCheckout(e *app.Env, answer checkoutAnswer) error {
	if e.Opt.JSON {
		return e.PrintJSON("checkout", answer)
	}
	if answer.DryRun {
		e.Note("would write:")
	}
	for _, f := range answer.Files {
		e.Printf("%s\n", e.Safe(f))
	}
	return nil
}

// rehearse notes that the session of Claude Code in which mem runs, if it does, was given a version or composition.
func rehearse(ctx context.Context, run names.Run, rev state.Rev) error {
	by := run.Getenv("CLAUDE_CODE_SESSION_ID")
	if run.Opt.DryRun || !sessionName(by) || rev.Version == nil && rev.Composition == nil {
		return nil
	}
	if err := run.Markers().RecordUse(ctx, rev, by, run.Now()); err != nil {
		return fmt.Errorf("note that session %s uses it: %w", term.ShortID(by), err)
	}
	return nil
}

// sessionName reports whether s can be the id of a session.
func sessionName(s string) bool {
	return len(s) >= 4 && len(s) <= 100 &&
		strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}
