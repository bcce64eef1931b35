package knowledgecmd

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// factsVerify returns mem facts verify.
func factsVerify(e *app.Env) *cli.Command {
	most := draftTokens
	return &cli.Command{
		Name: "verify", Usage: "print questions about new facts", ArgsUsage: "[<session>|<fact>]...",
		Description: "Code can tell that a quote exists, not that it supports a sentence. The command prints\n" +
			"each new fact and summary with its quotes and the messages around them; a model or a\n" +
			"person answers supported, partly (with a better wording) or not. \"mem facts save\" records\n" +
			"the answers: supported facts become verified, a better wording takes the place of the\n" +
			"fact, other facts are removed and remain in the log. Without an operand, asks about the\n" +
			"newest session that has unverified facts.",
		Flags: []cli.Flag{app.ParsedFlag(&most, "tokens", "print at most about `T` tokens; default 7.8k", app.ParseTokens)},
		Action: app.Action(e, 0, -1, func(ctx context.Context, run app.Run) error {
			return runFactsVerify(ctx, run, most)
		}),
	}
}

func runFactsVerify(ctx context.Context, run app.Run, most int) error {
	session, ids, err := questioned(ctx, &run, run.Operands)
	if err != nil {
		return err
	}
	n := &knowledge.Questionnaire{}
	if session != "" {
		n, err = knowledge.Questions(ctx, run.DB, run.Project.ID, session, knowledge.QuestionOptions{IDs: ids, MaxTokens: most})
	}
	switch {
	case err != nil:
		return err
	case run.Opt.JSON:
		return questionsJSON(run.Env, n)
	case session == "":
		run.Note("every fact of project %s is verified", run.Project.Name)
	case len(n.Questions) == 0:
		run.Note("every fact of %s is verified", term.ShortID(session))
	default:
		printTask(run.Env, knowledge.Task{Questions: []*knowledge.Questionnaire{n}}, false, knowledge.Seen{})
	}
	return nil
}

func questionsJSON(e *app.Env, n *knowledge.Questionnaire) error {
	session := ""
	if n.Session != nil {
		session = n.Session.ID
	}
	return e.PrintJSON("facts.questions", nil, "session", session,
		"questions", append([]knowledge.Question{}, n.Questions...),
		"lines", append([]knowledge.DraftLine{}, n.Lines...), "left", n.Left, "tokens", n.Tokens)
}

// questioned returns the session and the facts to ask about, and sets the project of the run.
func questioned(ctx context.Context, run *app.Run, operands []string) (session string, ids []string, err error) {
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
