package historycmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/view"
)

type diffOptions struct {
	text, stat, keepits, word bool
	exitCode                  bool
}

// Diff returns mem diff.
func Diff(e *app.Env) *cli.Command {
	var o diffOptions
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare versions, originals, L1 or compositions",
		ArgsUsage: "[<rev>] [<rev>]",
		Description: "Segments are aligned by their source messages, then compared by words. One version is\n" +
			"compared with its original, a composition with its previous state. For a session, and\n" +
			"for the project without operands, prints the messages that came after the newest\n" +
			"version.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.text, "text", "compare the lines of both as Markdown, as diff -u does"),
			app.BoolFlag(&o.stat, "stat", "print a line for each changed part, and a summary"),
			app.BoolFlag(&o.keepits, "keepit-only", "print markers whose fate changed"),
			app.BoolFlag(&o.word, "word", "print changed segments whole, with changed words marked"),
			app.BoolFlag(&o.exitCode, "exit-code", "exit with 1 if anything differs"),
		},
		Action: app.Action(e, 0, 2, o.run),
	}
}

func (o diffOptions) check(json bool) error {
	var forms []string
	for _, f := range []struct {
		set  bool
		name string
	}{{o.text, "--text"}, {o.stat, "--stat"}, {o.keepits, "--keepit-only"}, {o.word, "--word"}, {json, "--json"}} {
		if f.set {
			forms = append(forms, f.name)
		}
	}
	if len(forms) > 1 {
		return app.Usagef("%s cannot be combined", strings.Join(forms, " and "))
	}
	return nil
}

func (o *diffOptions) run(ctx context.Context, run app.Run) error {
	if err := o.check(run.Opt.JSON); err != nil {
		return err
	}
	app.SpendMemory()
	operands := run.Operands
	if len(operands) == 1 {
		if a, b, ok := strings.Cut(operands[0], ".."); ok && !strings.Contains(a, "#") {
			operands = []string{a, b}
		}
	}
	revs, err := run.ResolveAll(ctx, operands)
	if err != nil {
		return err
	}
	var c provenance.Comparison
	switch {
	case len(revs) == 2:
		c, err = provenance.Compare(ctx, run.DB, revs[0], revs[1])
	case len(revs) == 0 || revs[0].Kind == state.IsSession:
		c, err = provenance.CompareSince(ctx, run.DB, run.Scope, append(revs, state.Rev{})[0])
	default:
		var before state.Rev
		if before, err = provenance.Before(ctx, run.DB, revs[0]); err == nil {
			c, err = provenance.Compare(ctx, run.DB, before, revs[0])
		}
	}
	if err != nil {
		return diffError(err, operands)
	}
	if err := printDiff(ctx, run, *o, c); err != nil {
		return err
	}
	if o.exitCode && o.differs(c) {
		return app.Exit(app.ExitNo)
	}
	return nil
}

// differs reports whether there is a difference of the selected kind.
func (o diffOptions) differs(c provenance.Comparison) bool {
	if !o.keepits {
		return !c.Same()
	}
	return slices.ContainsFunc(c.Groups, func(g trace.Group) bool {
		return slices.ContainsFunc(g.Keepits, func(k trace.KeepitChange) bool { return k.Changed })
	})
}

func diffError(err error, operands []string) error {
	switch {
	case errors.Is(err, provenance.ErrNoVersions) && len(operands) > 0:
		return app.WithHint(err, term.Shell("mem", "compress", operands[0]))
	case errors.Is(err, provenance.ErrNoVersions):
		return app.WithHint(err, "mem compress @")
	case errors.Is(err, provenance.ErrNotComparable), errors.Is(err, provenance.ErrNoCounterpart):
		return app.WithHint(err, "compare versions, originals, L1, messages or compositions: mem diff abc1:v001 abc1:v002")
	}
	return err
}

func printDiff(ctx context.Context, run app.Run, o diffOptions, c provenance.Comparison) error {
	if run.Opt.JSON {
		return run.PrintJSON("diff", view.ComparisonOf(c))
	}
	run.Page("diff")
	switch {
	case o.text:
		for line, err := range provenance.Lines(ctx, run.DB, c) {
			if err != nil {
				return err
			}
			run.Diff(line)
		}
		return nil
	case c.Same() && c.Since:
		run.Note("no message came after %s", run.Safe(c.A.Name))
		return nil
	case c.Same():
		run.Note("%s and %s are equal", run.Safe(c.A.Name), run.Safe(c.B.Name))
		return nil
	case o.keepits:
		return diffKeepits(run.Env, c)
	case o.stat:
		diffStat(run.Env, c)
		return nil
	}
	Head(run.Env, c)
	for _, g := range c.Groups {
		run.Printf("\n")
		Group(run.Env, c, g, o.word)
	}
	return nil
}

// Head prints the compared texts and the figures of the difference.
func Head(e *app.Env, c provenance.Comparison) {
	s, style := c.Summary, e.Style()
	for i, x := range []provenance.Operand{c.A, c.B} {
		sign, paint := "---", style.Red
		if i == 1 {
			sign, paint = "+++", style.Green
		}
		how := ""
		if x.Rev.Version != nil {
			how = "  " + app.ModeOf(x.Rev.Version)
		}
		e.Printf("%s\n", paint(e.Safe(fmt.Sprintf("%s %s%s  %s tok, %s", sign, x.Name, how, tokens.Commas(s.Tokens[i]),
			term.Count(s.Segments[i], "segment")))))
	}
	e.Printf("tokens %s -> %s%s, messages covered %d -> %d (%d in both), pinned texts kept %d -> %d\n",
		tokens.Commas(s.Tokens[0]), tokens.Commas(s.Tokens[1]),
		percent(s.Tokens), s.Messages[0], s.Messages[1], s.Both, s.Kept[0], s.Kept[1])
	lost, gained := tally(s.Anchors)
	e.Printf("lost %s; gained %s\n", lost, gained)
}

// percent returns the change from the first to the second number.
func percent(n [2]int) string {
	if n[0] == 0 {
		return ""
	}
	tenths := (n[1] - n[0]) * 1000 / n[0]
	sign := "+"
	if tenths < 0 {
		sign, tenths = "-", -tenths
	}
	return fmt.Sprintf(" (%s%d.%d%%)", sign, tenths/10, tenths%10)
}

// tally returns the numbers of lost and gained anchors of each kind.
func tally(anchors []trace.Anchors) (lost, gained string) {
	var l, g []string
	for _, a := range anchors {
		word := strings.TrimSuffix(a.Kind, "s")
		if len(a.Lost) > 0 {
			l = append(l, term.Count(len(a.Lost), word))
		}
		if len(a.Gained) > 0 {
			g = append(g, term.Count(len(a.Gained), word))
		}
	}
	return cmp.Or(strings.Join(l, ", "), "nothing"), cmp.Or(strings.Join(g, ", "), "nothing")
}
