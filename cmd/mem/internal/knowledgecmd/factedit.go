package knowledgecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/tokens"
)

type factsEditOptions struct {
	kind                          facts.Kind
	text, why                     string
	evidence                      []string
	keywords, files               []string
	supersedes, refutes, resolves []string
}

func (o *factsEditOptions) flags() []cli.Flag {
	return []cli.Flag{
		app.ParsedFlag(&o.kind, "kind,k", "set the `KIND`: request, action, decision, issue, solution or preference",
			facts.ParseKind),
		app.RepeatedFlag(&o.evidence, "evidence,e",
			"a quote as evidence: `REV:QUOTE`, such as 'abc1#234:use tabs'; may be repeated"),
		app.RepeatedFlag(&o.keywords, "keyword", "add the keyword `WORD`; repeat for several"),
		app.RepeatedFlag(&o.files, "file", "add the related `FILE`; repeat for several"),
		app.RepeatedFlag(&o.supersedes, "supersedes", "supersede `FACT`; repeat for several"),
		app.RepeatedFlag(&o.refutes, "refutes", "refute `FACT`; repeat for several"),
		app.RepeatedFlag(&o.resolves, "resolves", "resolve the issue `FACT`; repeat for several"),
	}
}

// changes reports whether the options edit the fact.
func (o *factsEditOptions) changes() bool {
	return o.text != "" || o.kind != "" ||
		len(o.evidence)+len(o.keywords)+len(o.files)+len(o.supersedes)+len(o.refutes)+len(o.resolves) > 0
}

// factsChange returns the subcommands that change facts by hand.
func factsChange(e *app.Env) []*cli.Command {
	added := factsEditOptions{kind: facts.Decision}
	var undo bool
	reason := ""
	return []*cli.Command{
		{Name: "add", Usage: "state a fact by hand", ArgsUsage: "<text>", Flags: added.flags(),
			Description: "Quotes are looked up as in \"mem facts save\". A fact without evidence is stored as\n" +
				"stated, and cannot supersede, refute or resolve a fact that has evidence. The default\n" +
				"kind is decision.",
			Action: app.Action(e, 1, 1, added.add)},
		factsEdit(e),
		{Name: "confirm", Usage: "confirm facts; only the user can", ArgsUsage: "<fact>...",
			Description: "A confirmed fact is trusted like the user's own words: it can be evidence for a rule.\n" +
				"The command works only at a terminal, not in a session of Claude Code or a script.",
			Flags: []cli.Flag{app.BoolFlag(&undo, "undo", "withdraw the confirmation")},
			Action: app.Action(e, 1, 1000, func(ctx context.Context, run app.Run) error {
				if !app.UserTypes(e) {
					return app.WithCode(app.ExitNo, app.WithHint(errors.New("only the user can confirm a fact"),
						"type it at a terminal: "+term.Shell(append([]string{"mem", "facts", "confirm"}, e.Operands...)...)))
				}
				return judgeFacts(ctx, run, e.Operands, facts.Judgement{Says: facts.Confirms, Value: !undo})
			})},
		{Name: "rm", Usage: "remove facts; their records remain", ArgsUsage: "<fact>...",
			Flags: []cli.Flag{
				app.BoolFlag(&undo, "undo", "put them back"),
				app.ParsedFlag(&reason, "reason", "why: `TEXT`", app.LineParser("a reason", 500)),
			},
			Action: app.Action(e, 1, 1000, func(ctx context.Context, run app.Run) error {
				return judgeFacts(ctx, run, e.Operands, facts.Judgement{Says: facts.Removes, Value: !undo, Reason: reason})
			})},
	}
}

// factsEdit returns mem facts edit.
func factsEdit(e *app.Env) *cli.Command {
	var o factsEditOptions
	var refuted, resolved bool
	reason := ""
	return &cli.Command{Name: "edit", Usage: "correct, resolve or refute a fact", ArgsUsage: "<fact> [<text>]",
		Flags: append(o.flags(), app.StringFlag(&o.text, "text", "the new `TEXT`"),
			app.BoolFlag(&refuted, "refuted", "mark the fact as refuted (--no-refuted reverses it)"),
			app.BoolFlag(&resolved, "resolved", "mark the issue as resolved (--no-resolved reverses it)"),
			app.ParsedFlag(&reason, "reason", "the resolution, or the reason it is wrong: `TEXT`", app.LineParser("a reason", 500))),
		Action: func(c *cli.Context) error {
			return app.Action(e, 1, 2, func(ctx context.Context, run app.Run) error {
				o.text = cmp.Or(e.Operand(1), o.text)
				for _, way := range []struct {
					flag, says string
					value      bool
				}{{"refuted", facts.Refutes, refuted}, {"resolved", facts.Resolves, resolved}} {
					switch {
					case !c.IsSet(way.flag):
					case o.changes():
						return app.WithHint(app.Usagef("option --%s cannot be combined with an edit", way.flag), "use two commands")
					default:
						return judgeFacts(ctx, run, e.Operands[:1], facts.Judgement{Says: way.says, Value: way.value, Reason: reason})
					}
				}
				if reason != "" {
					return app.Usagef("option --reason belongs to --resolved and --refuted")
				}
				return o.edit(ctx, run)
			})(c)
		}}
}

// stated builds a fact from the options and sets the project of the run to that of the evidence.
func stated(ctx context.Context, run *app.Run, o factsEditOptions) (knowledge.NewFact, error) {
	in := knowledge.NewFact{Given: facts.InputFact{
		Kind: o.kind, Text: strings.Join(strings.Fields(o.text), " "), Keywords: o.keywords, Files: o.files,
		Supersedes: o.supersedes, Refutes: o.refutes, Resolves: o.resolves,
	}}
	for _, s := range o.evidence {
		name, number, hasNumber := strings.Cut(s, "#")
		number, quote, hasQuote := strings.Cut(number, ":")
		n, err := strconv.Atoi(number)
		if !hasNumber || !hasQuote || err != nil || n < 1 || strings.TrimSpace(quote) == "" {
			return in, app.WithHint(app.Usagef("evidence %q: want a message and the words that are quoted", s),
				"as in --evidence 'abc1#234:use tabs'")
		}
		rev, err := run.ResolveSession(ctx, app.OrNewest(name))
		if err != nil {
			return in, err
		}
		if in.Session != nil && in.Session.ID != rev.Session.ID {
			return in, app.Usagef("the evidence of a fact must be of one session")
		}
		in.Session, run.Project = rev.Session, rev.Project
		in.Given.Evidence = append(in.Given.Evidence, facts.Evidence{Message: n, Quote: quote})
	}
	return in, nil
}

func (o *factsEditOptions) add(ctx context.Context, run app.Run) error {
	o.text = run.Operand(0)
	in, err := stated(ctx, &run, *o)
	if err != nil {
		return err
	}
	return addFact(ctx, run, in)
}

func (o *factsEditOptions) edit(ctx context.Context, run app.Run) error {
	old, p, err := oneFact(ctx, run, run.Operand(0))
	if err != nil {
		return err
	}
	run.Project = p
	in, err := stated(ctx, &run, *o)
	if err != nil {
		return err
	}
	if !o.changes() {
		return app.WithHint(app.Usagef("nothing to change"), fmt.Sprintf("mem facts edit %s \"corrected text\"", old.ID))
	}
	if in.Given.Text == "" {
		in.Given.Text = old.Text
	}
	if in.Given.Kind == "" {
		in.Given.Kind = old.Kind
	}
	if len(in.Given.Evidence) == 0 && old.Session != "" {
		rev, err := run.ResolveSession(ctx, old.Session)
		if err != nil {
			return err
		}
		in.Session, in.Given.Evidence = rev.Session, old.Evidence
	}
	if len(in.Given.Keywords) == 0 {
		in.Given.Keywords = old.Keywords
	}
	if len(in.Given.Files) == 0 {
		in.Given.Files = old.Files
	}
	in.Replaces = old.ID
	run.Project = p // whatever the project of new evidence
	return addFact(ctx, run, in)
}

// addFact stores a fact and prints the result.
func addFact(ctx context.Context, run app.Run, in knowledge.NewFact) error {
	if in.Given.Text == "" {
		return app.Usagef("a fact needs a text")
	}
	f, err := knowledge.AddFact(ctx, run.DB, run.Project, in, run.Opt.DryRun)
	rejected := errors.Is(err, knowledge.ErrAllRejected)
	if err != nil && !rejected {
		return silencedHint(err)
	}
	notes := app.If(len(f.Notes) > 0, " ("+strings.Join(f.Notes, "; ")+")")
	err = run.Did("facts.change", app.Object{"fact", f}, "%s%s is %s%s: %s", run.Verb("", "would do: "), f.ID, string(f.Verdict),
		notes, tokens.OneLine(f.Text, 60))
	if err == nil && rejected {
		return app.Exit(app.ExitNo)
	}
	return err
}

// silencedHint adds the way to overrule a fact, if err is that the new fact has too little trust.
func silencedHint(err error) error {
	var no *knowledge.JudgementError
	if !errors.As(err, &no) || no.Says == facts.Resolves && no.Old.Kind != facts.Issue {
		return err
	}
	return app.WithCode(app.ExitNo, app.WithHint(err, "quote the evidence: --evidence 'abc1#234:use tabs'",
		fmt.Sprintf("or judge the old one: mem facts edit %s --%s --reason WHY", no.Old.ID,
			strings.Replace(no.Says, facts.Supersedes, facts.Refutes, 1))))
}

// judgeFacts judges facts of one project.
func judgeFacts(ctx context.Context, run app.Run, ids []string, j facts.Judgement) error {
	var list []facts.Fact
	for i, id := range ids {
		f, p, err := oneFact(ctx, run, id)
		if err != nil {
			return err
		}
		if i > 0 && p.ID != run.Project.ID {
			return app.Usagef("%s is of another project than %s", id, ids[0])
		}
		if j.Says == facts.Confirms && j.Value && !f.Live() {
			return app.WithHint(fmt.Errorf("%s is %s and cannot be confirmed", f.ID, FateOf(f)), "mem show "+f.ID)
		}
		if j.Says == facts.Resolves && f.Kind != facts.Issue {
			return app.Usagef("%s is not an issue but a %s", f.ID, f.Kind)
		}
		run.Project, list = p, append(list, f)
	}
	if err := knowledge.JudgeFacts(ctx, run.DB, run.Project.ID, list, j, run.Opt.DryRun); err != nil {
		return err
	}
	if run.Opt.JSON {
		all := app.Each(list, func(f facts.Fact) string { return f.ID })
		return run.PrintJSON("facts.judge", nil, "facts", all, "says", j.Says, "value", j.Value, "dryRun", run.Opt.DryRun)
	}
	for _, f := range list {
		run.Note("%s%s is %s%s: %s", run.Verb("", "would do: "), f.ID, j.Says, app.If(!j.Value, " no more"), tokens.OneLine(f.Text, 60))
	}
	return nil
}
