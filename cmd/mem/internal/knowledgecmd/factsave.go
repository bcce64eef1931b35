package knowledgecmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/forms"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

type factsDraftOptions struct {
	all    bool
	tokens int
	after  int
}

// factsWriteCommands returns the subcommands that create facts from a session.
func factsWriteCommands(e *app.Env) []*cli.Command {
	var o factsDraftOptions
	session, next := "", false
	return []*cli.Command{
		{Name: "draft", Usage: "print undistilled messages with the instruction", ArgsUsage: "[<session>]",
			Description: "Without an operand, prints the newest session. A long session is printed in parts;\n" +
				"messages that are distilled are not printed again.",
			Flags: []cli.Flag{
				flags.Parsed(&o.tokens, "tokens", "print at most about `T` tokens, instruction included; default 7k",
					flags.Tokens),
				flags.Parsed(&o.after, "after", "print messages after `N` only", flags.NotNegative),
				flags.Bool(&o.all, "all", "print distilled messages too"),
			},
			Action: e.Action(0, 1, func(c *cli.Context) error {
				return runFactsDraft(c.Context, e, o, names.OrNewest(e.Operand(0)))
			})},
		{Name: "schema", Usage: "print the JSON schema of what save reads",
			Action: e.Action(0, 0, func(c *cli.Context) error {
				return runFactsSchema(e)
			})},
		{Name: "save", Usage: "look facts up and save those whose quotes exist", ArgsUsage: "[<file>]",
			Description: "Reads one JSON object from the file or standard input. Accepted facts are saved and\n" +
				"listed with their ids and notes, rejected ones with the reason. The exit status is 3 if some were rejected, and 1 if\n" +
				"none was saved. Malformed input saves nothing; the error names the field.",
			Flags: []cli.Flag{
				flags.String(&session, "session,s", "assign the facts to `SESSION`, overriding the input"),
				flags.Bool(&next, "next", "print the next part of the session, or the questions about its facts"),
			},
			Action: e.Action(0, 1, func(c *cli.Context) error {
				return runFactsSave(c.Context, e, session, e.Operand(0), next)
			})},
	}
}

// draftTokens is the maximum length of a draft: Claude Code cuts longer outputs of tools.
const draftTokens = 7000

func runFactsDraft(ctx context.Context, e *app.Env, o factsDraftOptions, name string) error {
	if o.tokens == 0 {
		o.tokens = draftTokens
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.ResolveSession(ctx, name)
		if err != nil {
			return err
		}
		d, err := knowledge.DraftFacts(ctx, run.DB, rev, knowledge.DraftOptions{
			All: o.all, MaxTokens: o.tokens, Whole: true, After: o.after,
		})
		if err != nil {
			return err
		}
		if d.Printed > o.tokens && d.To > 0 {
			const step = 100
			need := strconv.Itoa((d.Printed + step - 1) / step * step)
			return app.WithHint(fmt.Errorf("the draft up to message %d needs about %s tokens, more than %s", d.Lines[0].N,
				tokens.Commas(d.Printed), tokens.Commas(o.tokens)),
				term.Shell("mem", "facts", "draft", term.ShortID(rev.Session.ID), "--tokens", need))
		}
		if e.Opt.JSON {
			return draftJSON(e, d)
		}
		if d.To == 0 {
			e.Note("%s is distilled up to its last message, %d", term.ShortID(rev.Session.ID), d.Total)
			return nil
		}
		printDraft(e, d)
		return nil
	})
}

func printDraft(e *app.Env, d knowledge.FactDraft) {
	e.Printf("Session %s%s: messages %d to %d of %d, about %s tokens", e.Safe(term.ShortID(d.Session.ID)),
		titleText(d.Session.Title()), d.From, d.To, d.Total, tokens.Commas(d.Tokens))
	if d.Left > 0 {
		e.Printf("; %s more follow once these are saved", tokens.Commas(d.Left))
	}
	e.Printf("\n\n%s", e.Safe(d.Instruction("mem facts save --next <<'END'")))
}

// printNext prints what is to be done next with a session: the next part of its draft, or the questions about its facts.
func printNext(ctx context.Context, run names.Run, rev state.Rev) error {
	d, err := knowledge.DraftFacts(ctx, run.DB, rev, knowledge.DraftOptions{MaxTokens: draftTokens, Whole: true, Next: true})
	if err != nil {
		return err
	}
	if d.To > 0 {
		printDraft(run.Env, d)
		return nil
	}
	n, err := knowledge.Questions(ctx, run.DB, rev.Project.ID, rev.Session.ID, knowledge.QuestionOptions{MaxTokens: draftTokens})
	if err != nil || len(n.Questions) == 0 {
		return err
	}
	return printQuestions(run.Env, n)
}

func titleText(title string) string {
	if title == "" {
		return ""
	}
	return " " + term.Quoted(title)
}

func draftJSON(e *app.Env, d knowledge.FactDraft) error {
	return e.PrintJSON("facts.draft", nil, "session", d.Session.ID, "from", d.From, "to", d.To,
		"messages", d.Total, "tokens", d.Tokens, "tokensLeft", d.Left,
		"lines", append([]knowledge.DraftLine{}, d.Lines...), "known", append([]facts.Fact{}, d.Open...))
}

func runFactsSchema(e *app.Env) error {
	if e.Opt.JSON {
		return e.PrintJSON("facts.schema", nil, "input", facts.Schema())
	}
	b, err := json.MarshalIndent(facts.Schema(), "", "  ")
	if err != nil {
		return err
	}
	e.Printf("%s\n", b)
	return nil
}

// factsInput reads the input of mem facts save.
func factsInput(e *app.Env, name string) ([]byte, error) {
	const most = 16 << 20
	in := e.Stdin
	if name != "" && name != "-" {
		f, err := os.Open(e.Path(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, app.WithHint(err, "mem facts save FILE --session SESSION", "without FILE it reads stdin")
		}
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	} else if e.Term.Stdin {
		e.Note("reading JSON from the terminal; end it with Ctrl-D")
	}
	b, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return nil, fmt.Errorf("read facts: %w", err)
	}
	return b, nil
}

func runFactsSave(ctx context.Context, e *app.Env, session, file string, next bool) error {
	b, err := factsInput(e, file)
	if err != nil {
		return err
	}
	given, err := facts.Decode(b)
	if err != nil {
		return app.WithHint(err, "mem facts schema")
	}
	if session == "" {
		session = given.Session
	}
	if session == "" {
		return app.WithHint(app.Usagef("session: missing: the session of the facts"),
			"give --session, or a field \"session\"")
	}
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	most, err := conf.Int("facts.maxPerSession")
	if err != nil {
		return err
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.ResolveSession(ctx, session)
		if err != nil {
			return err
		}
		saved, err := knowledge.SaveFacts(ctx, run.DB, rev, given, knowledge.SaveOptions{MaxFacts: most, DryRun: e.Opt.DryRun})
		if err != nil && !errors.Is(err, knowledge.ErrAllRejected) {
			var input *forms.Error
			if errors.As(err, &input) {
				return app.WithHint(err, term.Shell("mem", "facts", "draft", term.ShortID(rev.Session.ID)))
			}
			return err
		}
		done := printSavedFacts(e, saved, err)
		if !next || err != nil || e.Opt.JSON || e.Opt.DryRun {
			return done
		}
		if err := printNext(ctx, run, rev); err != nil {
			return err
		}
		return done
	})
}

// A savedAnswer is the JSON form of mem facts save.
type savedAnswer struct {
	Session  string      `json:"session"`
	Through  int         `json:"through"`
	Accepted int         `json:"accepted"`
	Rejected int         `json:"rejected"`
	Facts    []SavedFact `json:"facts"`
	Dropped  []string    `json:"dropped"`
	Notes    []string    `json:"notes"`
	DryRun   bool        `json:"dryRun"`
}

// A SavedFact is the JSON form of a fact that was accepted and saved, or rejected.
type SavedFact struct {
	At    string `json:"at"`
	Known bool   `json:"known,omitempty"`
	facts.Fact
}

func printSavedFacts(e *app.Env, s knowledge.SavedFacts, failed error) error {
	a := savedAnswer{
		Session: s.Session.ID, Through: s.Through, Accepted: s.Accepted(), Rejected: s.Count(facts.Rejected),
		Facts: []SavedFact{}, Dropped: append([]string{}, s.Dropped...), Notes: append([]string{}, s.Notes...),
		DryRun: e.Opt.DryRun,
	}
	for _, f := range s.Facts {
		a.Facts = append(a.Facts, SavedFact{f.Path, f.Known, f.Fact})
	}
	if e.Opt.JSON {
		if err := e.PrintJSON("facts.save", a); err != nil {
			return err
		}
	} else {
		printSaved(e, s, a, failed != nil)
	}
	switch {
	case failed != nil:
		return app.Exit(app.ExitNo)
	case s.Partly():
		return app.Exit(app.ExitPartial)
	}
	return nil
}

func printSaved(e *app.Env, s knowledge.SavedFacts, a savedAnswer, none bool) {
	for _, f := range s.Facts {
		id := f.Fact.ID
		if f.Fact.Verdict == facts.Rejected {
			id = f.Path
		}
		e.Printf("%s\t%s\t%s\n", id, f.Fact.Verdict, e.Safe(tokens.OneLine(f.Fact.Text, 80)))
		for _, n := range f.Fact.Notes {
			e.Printf("\t%s\n", e.Safe(n))
		}
	}
	for _, d := range slices.Concat(s.Notes, s.Dropped) {
		e.Printf("%s\n", e.Safe(d))
	}
	did := "saved"
	if e.Opt.DryRun {
		did = "would save"
	}
	if none {
		did = "nothing saved"
	}
	e.Note("%s: %d accepted, %d rejected; %s is distilled through message %d", did, a.Accepted, a.Rejected,
		term.ShortID(s.Session.ID), s.Through)
	if a.Rejected > 0 {
		e.Hint("correct the rejected facts and save them again: quotes must be exact copies")
	}
}
