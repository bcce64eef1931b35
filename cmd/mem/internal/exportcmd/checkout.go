package exportcmd

import (
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
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/disk"
)

type checkoutOptions struct {
	out    string
	format string
	force  bool
	files  bool
}

// Checkout returns mem checkout.
func Checkout(e *app.Env) *cli.Command {
	var o checkoutOptions
	return &cli.Command{
		Name:      "checkout",
		Usage:     "write an original, version or composition into files",
		ArgsUsage: "<rev>",
		Description: "A session or abc1:original is written byte for byte. A composition is written as\n" +
			"composed.md, composed.jsonl and composition.json; resume it with\n" +
			"\"claude --resume composed.jsonl --fork-session\". The extension of PATH selects the\n" +
			"format; -o - writes to standard output. Inside a git work tree -o is required. --files also writes the tool-results/ files of an original\n" +
			"next to it, where Claude Code looks for them. A file that mem did not write, or that\n" +
			"changed since, is replaced only with --force. -n lists the files. A checkout by a\n" +
			"session of Claude Code counts as a use, which brings old sessions nearer.",
		Flags: []cli.Flag{
			app.StringFlag(&o.out, "output,o", "write to `PATH`, a file or directory; - is standard output"),
			app.ChoiceFlag(&o.format, "format", "write only `FORM`: md, jsonl, text or both", "md", "jsonl", "text", "both"),
			app.BoolFlag(&o.files, "files", "with an original: also its tool-results/ files, next to it as in Claude Code"),
			app.BoolFlag(&o.force, "force,f",
				"replace files that mem did not write; write data of revoked sources"),
		},
		Action: e.Action(1, 1, func(c *cli.Context) error {
			return runCheckout(c.Context, e, o, e.Operand(0))
		}),
	}
}

func runCheckout(ctx context.Context, e *app.Env, o checkoutOptions, name string) error {
	o.out = app.OutName(o.out)
	format := checkout.Format(o.format)
	if o.format == "both" {
		format = ""
	}
	return app.WithMemory(ctx, e, func(run app.Run) error {
		rev, err := run.Resolve(ctx, name)
		if err != nil {
			return err
		}
		if err := trust.MayUse(ctx, run.DB, rev); err != nil && !o.force {
			return err
		} else if err != nil {
			e.Warn("%v", err)
		}
		if exact := rev.Kind == state.IsSession || rev.Kind == state.IsOriginal; o.files && (!exact || o.out == "-") {
			return app.Usagef("--files requires a session or its original, and an output that is not -")
		}
		if o.out == "-" {
			if err := checkout.Write(ctx, run.DB, rev, format, app.Stdout(e)); err != nil {
				return err
			}
			return recordUse(ctx, run, rev)
		}
		at, err := checkoutPlace(e, rev, o.out)
		if err != nil {
			return err
		}
		done, err := checkout.Checkout(ctx, run.DB, rev, at, checkout.CheckoutOptions{Format: format, Files: o.files,
			Force: o.force, DryRun: e.Opt.DryRun, Versions: func(w io.Writer) error { return versioncmd.WriteVersions(ctx, run, rev, w) }})
		var noTranscript *disk.FileError
		switch {
		case errors.Is(err, checkout.ErrFileName) && errors.As(err, &noTranscript):
			return app.WithHint(app.Usagef("--files requires a file that ends in .jsonl, not %s", noTranscript.Path),
				term.Shell("mem", "checkout", name, "--files", "-o", rev.Session.ID+".jsonl"))
		case errors.Is(err, checkout.ErrFormatless):
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(done.Files) == 0 {
			return err
		}
		app.NoteCreated(e, done.Created)
		if !o.files && (rev.Kind == state.IsSession || rev.Kind == state.IsOriginal) {
			hintFiles(e, rev.Session)
		}
		versioncmd.Auto(ctx, e, run.Memory, rev.Project)
		return errors.Join(printCheckout(e, rev, done.Files), err, recordUse(ctx, run, rev))
	})
}

// hintFiles prints how to restore the files of another agent from which the lines of a session were made.
func hintFiles(e *app.Env, s *state.Session) {
	source := filepath.Base(s.Source())
	if slices.ContainsFunc(s.Now().Files, func(f records.FileRef) bool { return f.Name == source }) {
		e.Hint("mem made these lines from %s; %s writes that file, too", source,
			term.Shell("mem", "checkout", records.ShortID(s.ID)+":original", "--files", "-o", s.ID+".jsonl"))
	}
}

// checkoutPlace returns the output of a checkout: the path of -o, else the working directory, for a composition with
// a subdirectory of its name.
func checkoutPlace(e *app.Env, rev state.Rev, out string) (checkout.Place, error) {
	if out != "" {
		path, err := app.OutPath(e, out)
		return checkout.Place{Path: path}, err
	}
	at := checkout.Place{Path: e.Dir}
	if tree := workTree(e.Dir); tree != "" {
		return at, app.WithHint(app.Usagef("without -o it would write into the work tree %s", tree),
			"-o DIR writes into a directory, -o - to standard output")
	}
	if rev.Kind == state.IsComposition {
		at.Sub = rev.Composition.Name
		if hiddenDir(at.Sub) {
			err := app.Usagef("%s would be a hidden directory, where programs look for their settings", at.Sub)
			return at, app.WithHint(err, term.Shell("mem", "checkout", at.Sub)+" -o DIR")
		}
	}
	return at, app.CheckOutside(e, filepath.Join(at.Path, at.Sub))
}

// workTree returns the git work tree that has the directory, "" if there is none.
func workTree(dir string) string {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// hiddenDir reports whether an element of a path begins with a dot. The name of a composition may come from another
// device and be .claude/commands/x.
func hiddenDir(name string) bool { return strings.HasPrefix(name, ".") || strings.Contains(name, "/.") }

func printCheckout(e *app.Env, rev state.Rev, files []string) error {
	if e.Opt.JSON {
		hash := app.If(!rev.Hash.IsZero(), rev.Hash.String())
		return e.PrintJSON("checkout", nil, "kind", string(rev.Kind), "hash,omitempty", hash, "files", files, "dryRun", e.Opt.DryRun)
	}
	if e.Opt.DryRun {
		e.Note("would write:")
	}
	for _, f := range files {
		e.Printf("%s\n", e.Safe(f))
	}
	if e.Opt.DryRun {
		return nil
	}
	for _, f := range files {
		switch {
		case rev.Kind == state.IsComposition && strings.HasSuffix(f, ".jsonl"):
			e.Hint("a session that starts with it: %s --fork-session", term.Shell("claude", "--resume", f))
		case rev.Kind == state.IsVersion && strings.HasSuffix(f, ".md"):
			e.Hint("type @%s in a prompt of Claude Code to give it to a session", e.Safe(f))
		}
	}
	return nil
}

// recordUse records the use of a version or composition by the session of Claude Code that runs mem, if there is one.
func recordUse(ctx context.Context, run app.Run, rev state.Rev) error {
	by := run.Getenv("CLAUDE_CODE_SESSION_ID")
	if run.Opt.DryRun || !validSessionID(by) || rev.Version == nil && rev.Composition == nil {
		return nil
	}
	if err := markers.RecordUse(ctx, run.DB, rev, by, run.Now()); err != nil {
		return fmt.Errorf("record the use by session %s: %w", term.ShortID(by), err)
	}
	return nil
}

// validSessionID reports whether s can be the id of a session.
func validSessionID(s string) bool {
	return len(s) >= 4 && len(s) <= 100 &&
		strings.Trim(s, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_") == ""
}
