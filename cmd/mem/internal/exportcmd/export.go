package exportcmd

import (
	"context"
	"encoding/json"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/remotecmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/interchange"

	"github.com/urfave/cli/v2"
)

type exportOptions struct {
	format string
	out    string
	force  bool

	l1      string // the directory for the sessions as files
	html    string // the session, version or composition of a page
	archive remotecmd.ArchiveOptions
}

// Export returns mem export.
func Export(e *app.Env) *cli.Command {
	var o exportOptions
	return &cli.Command{
		Name:      "export",
		Usage:     "write an archive, a session as HTML, or facts as JSON",
		ArgsUsage: "[<file>.bundle]",
		Description: "With FILE, writes an archive of the project, or of all projects with --all, that\n" +
			"\"mem import\" reads on another machine: sessions, versions, compositions, facts and\n" +
			"their history, of all devices. It contains what \"mem push\" sends: detected secrets are\n" +
			"removed, and a project with a new secret is refused. The archive is not encrypted.\n" +
			"With --html, writes one self-contained page to read or send: no scripts, no other host,\n" +
			"no tool output, detected secrets removed. With --format, prints facts and concepts in a\n" +
			"format of memory-keeper, computed and not stored; project.md has topics and rules, without\n" +
			"what memory.md says about the current work. In semantic.json a rule is a pattern,\n" +
			"decisions and preferences keep their kind, and any other fact is a fact;\n" +
			"\"mem facts confirm\" sets validatedByUser.",
		Flags: []cli.Flag{
			app.ChoiceFlag(&o.format, "format", "write `FORM`: facts, concepts, semantic, memory or project", "facts",
				"concepts", "semantic", "memory", "project"),
			app.StringFlag(&o.html, "html", "write the session, version or composition `REV` as one HTML page"),
			app.StringFlag(&o.l1, "l1", "write each session as a Markdown file of exchanges to `DIR`, with an index; again writes what changed"),
			app.StringFlag(&o.out, "output,o", "write to the `PATH`, a file or directory, instead of standard output"),
			app.BoolFlag(&o.archive.All, "all", "archive every project"),
			app.BoolFlag(&o.archive.Originals, "originals", "include the exact bytes, with the secrets in them"),
			app.BoolFlag(&o.archive.YesRaw, "yes-raw", "do not ask about --originals"),
			app.BoolFlag(&o.force, "force,f", "replace a file that mem did not write"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			ctx, file := c.Context, e.Operand(0)
			with := func(f func(context.Context, app.Run) error) error {
				return app.WithMemory(ctx, e, func(run app.Run) error { return f(ctx, run) })
			}
			switch {
			case o.l1 != "" && (file != "" || o.format != "" || o.html != "" || o.out != "" || o.archive != remotecmd.ArchiveOptions{}):
				return app.WithHint(app.Usagef("--l1 names the directory to write to"), "mem export --l1 DIR")
			case o.l1 != "":
				return with(o.writeL1)
			case o.html != "" && (file != "" || o.format != "" || o.archive != remotecmd.ArchiveOptions{}):
				return app.WithHint(app.Usagef("--html writes one page"), "mem export --html REV -o FILE.html")
			case o.html != "":
				return with(o.writeHTML)
			case file != "" && (o.format != "" || o.out != ""):
				return app.WithHint(app.Usagef("an archive has no format, and its file is named once"), "mem export FILE.bundle",
					"mem export --format facts -o FILE")
			case file == "-":
				return app.WithHint(app.Usagef("an archive is written to a file, not to standard output"),
					"mem export FILE.bundle")
			case o.archive.All && e.Opt.Project != "":
				return app.Usagef("--project cannot be combined with --all")
			case o.archive.YesRaw && !o.archive.Originals:
				return app.Usagef("--yes-raw requires --originals")
			case file != "":
				o.archive.Force = o.force
				return remotecmd.WriteArchive(ctx, e, file, o.archive)
			case o.archive.All || o.archive.Originals:
				return app.WithHint(app.Usagef("--all and --originals are for archives"), "mem export --all FILE.bundle")
			case o.format == "":
				return app.WithHint(app.Usagef("mem export requires a file for an archive, or a format"), "mem export FILE.bundle",
					"mem export --html REV -o FILE.html", "mem export --format facts", "mem export --format memory")
			}
			return with(o.write)
		}),
	}
}

// writeL1 writes the sessions of the project as files.
func (o *exportOptions) writeL1(ctx context.Context, run app.Run) error {
	done, err := interchange.L1Files(ctx, run.DB, run.Project, run.Path(o.l1), checkout.CheckoutOptions{Force: o.force, DryRun: run.Opt.DryRun})
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("export.l1", nil, "files", append([]string{}, done.Files...),
			"unchanged", done.Unchanged, "removed", append([]string{}, done.Removed...),
			"dryRun", run.Opt.DryRun)
	}
	verb := run.Verb("wrote", "would write")
	run.Note("%s %s, %d unchanged, %d deleted", verb, term.Count(len(done.Files)-1, "page"), done.Unchanged, len(done.Removed))
	run.Printf("%s\n", run.Safe(done.Files[len(done.Files)-1]))
	return nil
}

// write writes facts and concepts in a format.
func (o *exportOptions) write(ctx context.Context, run app.Run) error {
	format, answer, file := interchange.Format(o.format), app.Object{"format", o.format}, ""
	o.out = app.OutName(o.out)
	if o.out == "" || o.out == "-" {
		b, err := interchange.Encode(ctx, run.DB, run.Project, format)
		switch {
		case err != nil:
			return err
		case !run.Opt.JSON:
			run.Printf("%s", run.Safe(string(b)))
			return nil
		case format.IsText():
			answer = append(answer, "bytes", len(b), "dryRun", run.Opt.DryRun, "text", string(b))
		default:
			answer = append(answer, "bytes", len(b), "dryRun", run.Opt.DryRun, "content", json.RawMessage(b))
		}
	} else {
		path, err := app.OutPath(run.Env, o.out)
		if err != nil {
			return err
		}
		n, done, err := interchange.Write(ctx, run.DB, run.Project, format, checkout.Place{Path: path},
			checkout.CheckoutOptions{Force: o.force, DryRun: run.Opt.DryRun})
		if err != nil {
			return err
		}
		app.NoteCreated(run.Env, done.Created)
		file = done.Files[0]
		answer = append(answer, "file", file, "bytes", n, "dryRun", run.Opt.DryRun)
	}
	return printExported(run.Env, file, answer)
}

// printExported prints the file that was written.
func printExported(e *app.Env, file string, answer app.Object) error {
	if e.Opt.JSON {
		return e.PrintJSON("export", nil, answer...)
	}
	if e.Opt.DryRun {
		e.Note("would write:")
	}
	e.Printf("%s\n", e.Safe(file))
	return nil
}
