package knowledgecmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/view"
)

type DistillOptions struct {
	backlog bool
	again   bool
	engine  versioncmd.EngineChoice
}

// Distill returns mem distill.
func Distill(e *app.Env) *cli.Command {
	var o DistillOptions
	return &cli.Command{
		Name:      "distill",
		Usage:     "distil sessions into facts, concepts and rules with a model",
		ArgsUsage: "[<session>]",
		Description: "Without an operand, distils the newest session. No model is asked unless --engine or\n" +
			"distill.engine names one. Every quote is looked up as in \"mem facts save\", each part\n" +
			"is saved as it arrives, the model is asked about each fact as in \"mem facts verify\", and\n" +
			"the questions and answers of the model are stored. At the end the model reviews the candidates of \"mem reflect\". A rule that it proposes is\n" +
			"active at once only if all its evidence is text of the user; otherwise it waits for\n" +
			"\"mem rules review\". The model never retires a rule, and never dismisses a request of\n" +
			"the user. If a daily cap is reached, the exit status is 5, and saved parts stay.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.backlog, "backlog", "distil every session of the project that is not distilled"),
			app.BoolFlag(&o.again, "again", "distil the whole session again"),
			app.ChoiceFlag(&o.engine.Name, "engine", "use the engine `NAME`: claude, anthropic, openai, command or replay",
				versioncmd.EngineNames()[1:]...),
			app.StringFlag(&o.engine.Model, "model", "use the model `NAME`"),
		},
		Action: e.Action(0, 1, func(c *cli.Context) error {
			if o.backlog && len(e.Operands) > 0 {
				return app.Usagef("--backlog is every session: name none")
			}
			return RunDistill(c.Context, e, o, app.OrNewest(e.Operand(0)))
		}),
	}
}

// asker returns the chosen model.
func asker(ctx context.Context, run app.Run, choice versioncmd.EngineChoice) (*engines.Asker, error) {
	conf, err := run.Settings()
	if err != nil {
		return nil, err
	}
	if choice.Name == "" {
		choice.Name = conf.String("distill.engine")
	}
	if choice.Name == "" {
		return nil, app.WithHint(app.Usagef("no engine is configured; mem asks no model by default"),
			"mem distill --engine claude", "mem config set distill.engine claude")
	}
	if choice.Name == "replay" {
		recorded, err := knowledge.ModelExchanges(ctx, run.DB, run.Project.ID)
		if err != nil {
			return nil, app.WithHint(err, "distil a session with a model: mem distill --engine claude")
		}
		return engines.NewAsker(engines.NewReplay("", recorded), engines.Options{Window: conf.Int("llm.window")}), nil
	}
	model, o, err := versioncmd.Model(ctx, run, state.Rev{}, choice, conf)
	return engines.NewAsker(model, o), err
}

func RunDistill(ctx context.Context, e *app.Env, o DistillOptions, name string) error {
	conf, err := e.Settings()
	if err != nil {
		return err
	}
	most := conf.Int("facts.maxPerSession")
	return app.WithMemory(ctx, e, func(run app.Run) error {
		revs, err := toDistill(ctx, &run, o, name)
		if err != nil {
			return err
		}
		sessions := []app.Object{}
		for _, rev := range revs {
			asker, err := asker(ctx, run, o.engine)
			if err != nil {
				return err
			}
			d, err := knowledge.Distill(ctx, run.DB, rev, asker, knowledge.DistillOptions{MaxFacts: most, Again: o.again,
				DryRun: e.Opt.DryRun})
			sessions = append(sessions, distilledObject(rev, d))
			if err == nil || len(d.Saved) > 0 {
				printDistilled(e, rev, d)
			}
			if err != nil {
				return distillError(err, rev)
			}
		}
		reflected, err := distillRules(ctx, run, o, len(revs) > 0)
		if err != nil {
			return err
		}
		if e.Opt.JSON {
			return e.PrintJSON("distill", nil, "sessions", sessions, "reflection", reflectedObject(reflected), "dryRun", e.Opt.DryRun)
		}
		if len(revs) == 0 && reflected.Candidates == 0 {
			e.Note("every session is distilled")
		}
		return nil
	})
}

// distillRules asks the model for rules, once for all sessions; any reports whether there were some.
func distillRules(ctx context.Context, run app.Run, o DistillOptions, any bool) (found knowledge.RuleDistillation, err error) {
	asker, err := asker(ctx, run, o.engine)
	if errors.Is(err, derive.ErrNoWitnesses) && !any {
		return found, nil // no model was ever asked, and there is nothing to ask one
	}
	if err != nil {
		return found, err
	}
	found, err = knowledge.DistillRules(ctx, run.DB, run.Project, asker,
		knowledge.DistillOptions{Again: o.again, DryRun: run.Opt.DryRun})
	if errors.Is(err, engines.ErrRecorded) { // what the sessions hold was replayed
		if found.Candidates > 0 {
			run.Note("no answer about the %d candidates is recorded: they wait for a decision (mem reflect)", found.Candidates)
		}
		return knowledge.RuleDistillation{}, nil
	}
	if err != nil {
		return found, distillError(err, state.Rev{})
	}
	if run.Opt.JSON || found.Receipt.Requests == 0 {
		return found, nil
	}
	cost := costLine(found.Receipt)
	if run.Opt.DryRun {
		run.Printf("Would look back at %d candidate%s: at most %s\n", found.Candidates, term.Plural(found.Candidates), cost)
		return found, nil
	}
	for _, r := range found.Rules {
		run.Note("%s is %s (%s): %s", r.ID, r.State, sourceOf(r), tokens.OneLine(r.Text, 80))
	}
	for _, l := range found.Skipped {
		run.Detail("left %s: %s", l.ID, tokens.OneLine(l.Why, 100))
	}
	run.Report("[%s] reflect  %d candidate%s: %d rule%s made, %d dismissed, %d to review, %d left\n  %s\n",
		run.Safe(run.Project.Name), found.Candidates, term.Plural(found.Candidates),
		len(found.Rules), term.Plural(len(found.Rules)), len(found.Dismissed), len(found.Changed), len(found.Skipped), cost)
	return found, nil
}

// reflectedObject returns the JSON form of the model's decisions on candidates.
func reflectedObject(p knowledge.RuleDistillation) app.Object {
	return app.Object{"candidates", p.Candidates, "rules", app.Each(p.Rules, view.RuleOf), "dismissed", append([]string{}, p.Dismissed...),
		"doubted", append([]string{}, p.Changed...), "left", append([]knowledge.SkippedCandidate{}, p.Skipped...), "receipt", p.Receipt}
}

func costLine(r engines.Receipt) string {
	return fmt.Sprintf("%s, %s tokens in and %s out, %s", term.Count(r.Requests, "request"), tokens.Commas(r.Usage.Input),
		tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
}

// toDistill returns the sessions to distil and sets the project of the run.
func toDistill(ctx context.Context, run *app.Run, o DistillOptions, name string) ([]state.Rev, error) {
	if !o.backlog {
		rev, err := run.ResolveSession(ctx, name)
		run.Project = rev.Project
		return []state.Rev{rev}, err
	}
	sessions, err := knowledge.Backlog(ctx, run.DB, run.Project.ID)
	if err != nil {
		return nil, err
	}
	revs := app.Each(sessions, func(s *state.Session) state.Rev {
		return state.Rev{Kind: state.IsSession, Project: run.Project, Session: s}
	})
	return revs, nil
}

func distillError(err error, rev state.Rev) error {
	switch {
	case errors.Is(err, engines.ErrRecorded):
		return app.WithHint(err, "the session has grown, or the settings differ; --again distils a session once more")
	case errors.Is(err, engines.ErrAnswer) && rev.Session == nil:
		return app.WithHint(err, "try another model with --model", "or by hand: mem reflect")
	case errors.Is(err, engines.ErrAnswer):
		return app.WithHint(err, "try another model with --model", "or by hand: mem facts draft "+
			term.ShortID(rev.Session.ID))
	}
	return err
}

// distilledObject returns the JSON form of a session that was distilled.
func distilledObject(rev state.Rev, d knowledge.Distillation) app.Object {
	accepted, rejected := d.Counts()
	v, saved := knowledge.NewVerification(), []app.Object{}
	v.Add(d.Verification)
	for _, s := range d.Saved {
		saved = append(saved, savedObjects(s.Facts)...)
	}
	return app.Object{"sessionId", rev.Session.ID, "parts", d.Parts, "accepted", accepted, "rejected", rejected, "", v,
		"assigned", d.Assigned, "tokensLeft", d.Left, "facts", saved, "receipt", d.Receipt}
}

func printDistilled(e *app.Env, rev state.Rev, d knowledge.Distillation) {
	if e.Opt.JSON {
		return
	}
	r := d.Receipt
	cost := costLine(r)
	if e.Opt.DryRun {
		e.Printf("Would distill %s: at most %s\n", e.Safe(term.ShortID(rev.Session.ID)), cost)
		return
	}
	if r.Requests == 0 {
		e.Note("%s is distilled already", term.ShortID(rev.Session.ID))
		return
	}
	accepted, rejected := d.Counts()
	for _, s := range d.Saved {
		for _, f := range s.Facts {
			if f.Fact.Verdict == facts.Rejected {
				e.Detail("rejected: %s: %s", strings.Join(f.Fact.Notes, "; "), tokens.OneLine(f.Fact.Text, 80))
			}
		}
	}
	e.Report("[%s] distill %s  %d facts saved, %d rejected; %d verified, %d reworded, %d removed; %d exchanges in concepts\n  %s\n",
		e.Safe(rev.Project.Name), e.Safe(term.ShortID(rev.Session.ID)), accepted, rejected, len(d.Verified),
		len(d.Reworded), len(d.Removed), d.Assigned, cost)
}
