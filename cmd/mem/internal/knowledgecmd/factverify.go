package knowledgecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/flags"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

type factsVerifyOptions struct {
	answers string
	by      string
	tokens  int
	next    bool
}

// factsVerify returns mem facts verify.
func factsVerify(e *app.Env) *cli.Command {
	var o factsVerifyOptions
	return &cli.Command{
		Name: "verify", Usage: "print questions about new facts, and record the answers", ArgsUsage: "[<session>|<fact>]...",
		Description: "Code can tell that a quote exists, not that it supports a sentence. The command prints\n" +
			"each new fact and summary with its quotes and the messages around them; a model or a\n" +
			"person answers supported, partly (with a better wording) or not. --answers records the\n" +
			"answers: supported facts become verified, a better wording takes the place of the fact,\n" +
			"other facts are removed and remain in the log. Without an operand, asks about the\n" +
			"newest session that has unverified facts.",
		Flags: []cli.Flag{
			flags.String(&o.answers, "answers", "record the answers in the JSON `FILE`, - for standard input"),
			flags.Parsed(&o.by, "by", "who was asked: `NAME`; default claude in a session of Claude Code, else user or script",
				flags.Line("a name", 80)),
			flags.Parsed(&o.tokens, "tokens", "print at most about `T` tokens; default 7k", flags.Tokens),
			flags.Bool(&o.next, "next", "with --answers: print the questions that are left"),
		},
		Action: func(c *cli.Context) error {
			return runFactsVerify(c.Context, e, o, e.Operands)
		},
	}
}

// readerName returns the name of the reader who answers.
func (o factsVerifyOptions) readerName(e *app.Env) string {
	switch {
	case o.by != "":
		return o.by
	case e.Getenv("CLAUDECODE") != "":
		return "claude"
	case e.Term.Stderr:
		return "user"
	}
	return "script"
}

func runFactsVerify(ctx context.Context, e *app.Env, o factsVerifyOptions, operands []string) error {
	if o.tokens == 0 {
		o.tokens = draftTokens
	}
	return names.WithMemory(ctx, e, func(run names.Run) error {
		session, ids, err := questioned(ctx, &run, operands)
		if err != nil {
			return err
		}
		if o.answers != "" {
			return recordAnswers(ctx, run, o)
		}
		if session == "" && e.Opt.JSON {
			return printQuestions(e, &knowledge.Questionnaire{})
		}
		if session == "" {
			e.Note("every fact of project %s is verified", run.Project.Name)
			return nil
		}
		n, err := knowledge.Questions(ctx, run.DB, run.Project.ID, session, knowledge.QuestionOptions{IDs: ids, MaxTokens: o.tokens})
		if err != nil {
			return err
		}
		return printQuestions(e, n)
	})
}

// questioned returns the session and the facts to ask about, and sets the project of the run.
func questioned(ctx context.Context, run *names.Run, operands []string) (session string, ids []string, err error) {
	if len(operands) == 0 {
		list, err := knowledge.Unverified(ctx, run.DB, run.Project.ID)
		if err != nil || len(list) == 0 {
			return "", nil, err
		}
		return list[0], nil, nil
	}
	for i, name := range operands {
		var of string
		var p state.Project
		if knowledge.IsFactID(name) {
			f, home, err := oneFact(ctx, *run, name)
			if err != nil {
				return "", nil, err
			}
			of, p, ids = f.Session, home, append(ids, f.ID)
		} else {
			rev, err := run.ResolveSession(ctx, name)
			if err != nil {
				return "", nil, err
			}
			of, p = rev.Session.ID, rev.Project
		}
		if i > 0 && of != session {
			return "", nil, app.Usagef("%s is of another session than %s", name, operands[0])
		}
		session, run.Project = of, p
	}
	if session == "" {
		return "", nil, app.WithHint(errors.New("a fact without quotes cannot be verified"), "mem facts confirm "+ids[0])
	}
	return session, ids, nil
}

func printQuestions(e *app.Env, n *knowledge.Questionnaire) error {
	if e.Opt.JSON {
		session := ""
		if n.Session != nil {
			session = n.Session.ID
		}
		return e.PrintJSON("facts.questions", nil, "session", session,
			"questions", append([]knowledge.Question{}, n.Questions...),
			"lines", append([]knowledge.DraftLine{}, n.Lines...), "left", n.Left, "tokens", n.Tokens)
	}
	if len(n.Questions) == 0 {
		e.Note("every fact of %s is verified", term.ShortID(n.Session.ID))
		return nil
	}
	e.Printf("Session %s%s: %s", e.Safe(term.ShortID(n.Session.ID)), titleText(n.Session.Title()),
		term.Count(len(n.Questions), "question"))
	if n.Left > 0 {
		e.Printf("; %d more follow once these are answered", n.Left)
	}
	e.Printf("\n\n%s", e.Safe(n.Instruction("mem facts verify "+term.ShortID(n.Session.ID)+" --next --answers - <<'END'")))
	return nil
}

// recordAnswers reads answers and saves them, session by session.
func recordAnswers(ctx context.Context, run names.Run, o factsVerifyOptions) error {
	b, err := factsInput(run.Env, o.answers)
	if err != nil {
		return err
	}
	set, err := revision.Facts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	sessionOf := map[string]string{}
	for _, x := range set.Exchanges {
		sessionOf[x.ID] = x.Session
		for _, f := range x.Facts {
			sessionOf[f.ID] = f.Session
		}
	}
	answers, err := facts.DecodeAnswers(b, func(id string) bool { return sessionOf[id] != "" })
	if err != nil {
		return app.WithHint(err, "mem facts verify")
	}
	groups := map[string][]facts.Answer{}
	var sessions []string
	for _, a := range answers {
		id := sessionOf[a.ID]
		if groups[id] == nil {
			sessions = append(sessions, id)
		}
		groups[id] = append(groups[id], a)
	}
	total := knowledge.NewVerification()
	for _, id := range sessions {
		var ids []string
		for _, a := range groups[id] {
			ids = append(ids, a.ID)
		}
		n, err := knowledge.Questions(ctx, run.DB, run.Project.ID, id, knowledge.QuestionOptions{IDs: ids})
		if err != nil {
			return err
		}
		v, err := knowledge.SaveAnswers(ctx, run.DB, n, groups[id], o.readerName(run.Env),
			knowledge.SaveOptions{DryRun: run.Opt.DryRun})
		if err != nil {
			return err
		}
		total.Add(v)
	}
	if err := printVerification(run.Env, total, o.readerName(run.Env)); err != nil || !o.next || len(sessions) == 0 ||
		run.Opt.JSON {
		return err
	}
	n, err := knowledge.Questions(ctx, run.DB, run.Project.ID, sessions[len(sessions)-1],
		knowledge.QuestionOptions{MaxTokens: o.tokens})
	if err != nil || len(n.Questions) == 0 {
		return err
	}
	return printQuestions(run.Env, n)
}

func printVerification(e *app.Env, v knowledge.Verification, by string) error {
	if e.Opt.JSON {
		if err := e.PrintJSON("facts.verify", v, "by", by, "dryRun", e.Opt.DryRun); err != nil {
			return err
		}
	} else {
		for _, f := range v.Reworded {
			e.Printf("%s\t%s\t%s\n", f.ID, facts.Verified, e.Safe(f.Text))
		}
		for _, line := range v.Refused {
			e.Printf("%s\n", e.Safe(line))
		}
		parts := []string{fmt.Sprintf("%d verified", len(v.Verified)), fmt.Sprintf("%d reworded", len(v.Reworded)),
			fmt.Sprintf("%d removed", len(v.Removed))}
		if len(v.Removed) > 0 {
			parts[2] += " (" + strings.Join(slices.Clone(v.Removed), ", ") + ")"
		}
		did := "recorded"
		if e.Opt.DryRun {
			did = "would record"
		}
		e.Note("%s, asked %s: %s", did, by, strings.Join(parts, ", "))
	}
	if len(v.Refused) > 0 {
		return app.Exit(app.ExitPartial)
	}
	return nil
}
