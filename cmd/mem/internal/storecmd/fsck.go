package storecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/refs"
	refsrepair "github.com/memvcs/mem/refs/repair"
)

type fsckOptions struct {
	full      bool
	root      bool
	reproduce bool
	all       bool
	repair    bool
	remote    string
	forget    bool
}

// Fsck returns mem fsck.
func Fsck(e *app.Env) *cli.Command {
	var o fsckOptions
	return &cli.Command{
		Name:      "fsck",
		Usage:     "verify the integrity of the store",
		ArgsUsage: "[<rev>]",
		Description: "Verifies packs and indexes, refs, signed commits, trees, records, streams and lineage\n" +
			"of both repositories, and the small files next to them. If all is well it prints one\n" +
			"line. The exit status is 1 if there is a problem. The root hash of a project (--root)\n" +
			"is the same in two memories that contain the same records.\n\n" +
			"--repair replaces damaged data with copies from this memory, the remotes (or --remote)\n" +
			"and the files of Claude Code. It lists lost data by session and message, and deletes\n" +
			"nothing: damaged files are moved to the directory \"damaged\" of the memory. The exit\n" +
			"status is 0 if everything was repaired, else 3. With -n it only prints the repairs,\n" +
			"and exits with 1 if there are any. With --forget it continues without\n" +
			"lost data: the branches of this device start again with all valid data.\n\n" +
			"--reproduce runs the recipe of a version or composition again, or of all of the\n" +
			"project, and compares every byte; recorded answers are used in place of models. The\n" +
			"exit status is 1 if one differs, 3 if one cannot be reproduced.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.full, "full", "read and hash every byte"),
			app.BoolFlag(&o.root, "root", "print only the root hash of each project"),
			app.BoolFlag(&o.repair, "repair", "repair what is damaged"),
			app.StringFlag(&o.remote, "remote", "with --repair, fetch missing data only from the remote `NAME`"),
			app.BoolFlag(&o.forget, "forget", "with --repair, continue without data that is lost permanently"),
			app.BoolFlag(&o.reproduce, "reproduce", "run the recipes of versions and compositions again"),
			app.BoolFlag(&o.all, "all", "with --reproduce, those of every project"),
		},
		Action: func(c *cli.Context) error {
			if err := o.check(c, e); err != nil {
				return err
			}
			switch {
			case o.repair:
				return runRepair(c.Context, e, o)
			case o.reproduce:
				return app.WithMemory(c.Context, e, func(run app.Run) error { return runReproduce(c.Context, run, o, e.Operand(0)) })
			}
			return runFsck(c.Context, e, o)
		},
	}
}

// check returns a usage error if the operands or options do not fit together.
func (o fsckOptions) check(c *cli.Context, e *app.Env) error {
	limit := 0
	if o.reproduce && !o.all {
		limit = 1
	}
	if limit == 0 && !o.all && len(e.Operands) > 0 {
		return app.Usagef("mem fsck takes no operands without --reproduce")
	}
	if o.reproduce && o.all && len(e.Operands) > 0 {
		return app.Usagef("--all reproduces every version and composition: name none")
	}
	if err := e.WantOperands(c, 0, limit); err != nil {
		return err
	}
	switch {
	case o.repair && (o.full || o.root || o.reproduce):
		return app.Usagef("--repair cannot be combined with --full, --root or --reproduce")
	case o.remote != "" && !o.repair:
		return app.Usagef("--remote requires --repair")
	case o.forget && !o.repair:
		return app.Usagef("--forget requires --repair")
	case e.Opt.DryRun && !o.repair:
		return app.Usagef("--dry-run requires --repair: without it mem fsck changes nothing")
	case o.reproduce && (o.full || o.root):
		return app.Usagef("--reproduce cannot be combined with --full or --root")
	case o.all && !o.reproduce:
		return app.Usagef("--all requires --reproduce")
	}
	return o.checkProject(e)
}

// checkProject returns a usage error if --project does not fit to the options.
func (o fsckOptions) checkProject(e *app.Env) error {
	switch {
	case e.Opt.Project != "" && !o.reproduce:
		return app.WithHint(app.Usagef("--project requires --reproduce: without it mem fsck checks the whole store"),
			"mem fsck")
	case e.Opt.Project != "" && o.all:
		return app.Usagef("--project cannot be combined with --all")
	}
	return nil
}

func runFsck(ctx context.Context, e *app.Env, o fsckOptions) error {
	c, err := check(ctx, e, o.full)
	if err != nil {
		return err
	}
	if err := printFsck(e, o, c); err != nil {
		return err
	}
	if len(c.Problems) > 0 {
		if c.Newer {
			e.Hint("install a newer mem")
		} else {
			e.Hint("mem fsck --repair")
		}
		return app.Exit(app.ExitNo)
	}
	return nil
}

// check checks the store and the small files in it. A store too damaged to open is a problem too.
func check(ctx context.Context, e *app.Env, full bool) (c repair.Checked, err error) {
	dir, err := e.MemoryDir()
	if err != nil {
		return c, err
	}
	var small []refsrepair.Problem
	if err := smallFiles(ctx, e, dir, true, func(m refsrepair.Fix) {
		small = append(small, refsrepair.Problem{Where: m.Where, What: m.What})
	}); err != nil {
		return c, err
	}
	m, err := app.OpenMemory(e)
	var device *refs.DeviceError
	if err != nil && len(small) > 0 || errors.As(err, &device) || errors.Is(err, refs.ErrDamaged) {
		c.Problems = append(small, refsrepair.Problem{Where: dir, What: err.Error()})
		c.MissingInputs, c.Roots = []repair.MissingInput{}, []repair.Root{}
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer m.Close()
	c, err = repair.Check(ctx, m.DB, full)
	c.Problems = slices.Insert(c.Problems, 0, small...)
	return c, err
}

func printFsck(e *app.Env, o fsckOptions, c repair.Checked) error {
	if e.Opt.JSON {
		return e.PrintJSON("fsck", nil, "ok", len(c.Problems) == 0, "full", o.full, "", c)
	}
	if o.root {
		for _, r := range c.Roots {
			e.Printf("%s %s %s\n", r.Hash, r.Project, term.SanitizeLine(r.Name))
		}
	}
	for _, p := range c.Problems {
		e.Message("%s %s: %s", e.StderrStyle().Red("problem:"), p.Where, p.What)
	}
	if o.root {
		return nil
	}
	verdict := "ok"
	if n := len(c.Problems); n > 0 {
		verdict = tokens.Commas(n) + " problem" + term.Plural(n)
	}
	read := app.If(o.full, fmt.Sprintf(", %s read and hashed", app.BytesText(c.Bytes)))
	e.Printf("checked %s, with %s and %s%s: %s\n", term.Count(c.Objects, "object"), term.Count(c.Versions, "version"),
		term.Count(c.Compositions, "composition"), read, verdict)
	e.Detail("%s, %s, %s", term.Count(c.Records, "record"), term.Count(c.Commits, "commit"), term.Count(c.Segments, "segment"))
	if c.Withheld > 0 {
		e.Detail("the exact bytes of %s are on the device that captured them only", term.Count(c.Withheld, "original"))
	}
	noteMissingInputs(e, c.MissingInputs)
	printIgnored(e, c.Ignored)
	return nil
}

// printIgnored prints, in a line for each device, its wrong records.
func printIgnored(e *app.Env, all []refsrepair.Problem) {
	for i, p := range all {
		if slices.ContainsFunc(all[:i], func(q refsrepair.Problem) bool { return q.Device == p.Device }) {
			continue
		}
		n := 0
		for _, q := range all {
			if q.Device == p.Device {
				n++
			}
		}
		e.Note("%s of device %.8s %s wrong, such as %s", term.Count(n, "statement"), p.Device, areIs(n), e.Safe(p.String()))
		e.Hint("only that device can correct it; to remove all its data here: " +
			term.Shell("mem", "device", "drop", p.Device[:8]))
	}
}

func areIs(n int) string { return cmp.Or(app.If(n == 1, "is"), "are") }

// noteMissingInputs reports derived data whose input is in a lane that is not here, and how to fetch it.
func noteMissingInputs(e *app.Env, apart []repair.MissingInput) {
	for _, a := range apart {
		e.Note(
			"[%s] %s is valid, but its input %s is in the data of another device, which the remote does not have",
			term.SanitizeLine(a.Project), a.Name, a.Input.Short())
	}
	if len(apart) > 0 {
		e.Hint(
			"to fetch the input, add a remote that the other device pushes to: mem remote add NAME URL, then mem pull NAME")
	}
}
