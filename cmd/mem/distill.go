package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/engines"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

type distillOptions struct {
	backlog bool
	again   bool
	engine  engineChoice
}

// distill is the command that lets a model distil sessions.
func (e *Env) distill() *cli.Command {
	var o distillOptions
	return &cli.Command{
		Name:      "distill",
		Usage:     "distil sessions into facts, concepts and rules with a model",
		ArgsUsage: "[<session>]",
		Description: "Without a session it is the newest one. No model is asked unless an engine is named or distill.engine is set. Every quote is\n" +
			"looked up as in \"mem facts save\", each part is saved as it comes, and what a model was asked and answered is stored with it.\n" +
			"In the end it is shown what \"mem reflect\" finds. What it would make a rule of holds at once only if all the evidence is what the\n" +
			"user said; else it is proposed (mem rules review). No rule is ended by it, and nothing the user asked for is dismissed.\n" +
			"When a cap of the day is reached the exit status is 5, and what was saved stays.",
		Flags: []*cli.Flag{
			cli.Bool(&o.backlog, "backlog", "distil every session of the project that is not distilled"),
			cli.Bool(&o.again, "again", "distil the whole session, as if nobody had"),
			cli.Choice(&o.engine.name, "engine", "let `NAME` do it: claude, anthropic, openai, command or replay", engineNames()[1:]...),
			cli.String(&o.engine.model, "model", "let the engine ask the model `NAME`"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			if o.backlog && len(e.operands) > 0 {
				return usagef("--backlog is every session: name none")
			}
			return e.runDistill(ctx, o, orNewest(e.operand(0)))
		},
	}
}

// asker returns what asks the model that was chosen.
func (e *Env) asker(ctx context.Context, m *layers.Memory, p state.Project, choice engineChoice) (*engines.Asker, error) {
	conf, err := e.settings()
	if err != nil {
		return nil, err
	}
	if choice.name == "" {
		if choice.name, err = conf.String("distill.engine"); err != nil {
			return nil, err
		}
	}
	if choice.name == "" {
		return nil, withHint(usagef("no engine is chosen: no model is asked unless you say so"), "mem distill --engine claude", "mem config set distill.engine claude")
	}
	if choice.model == "" {
		if choice.model, err = conf.String("llm.model"); err != nil {
			return nil, err
		}
	}
	window, err := conf.Int("llm.window")
	if err != nil {
		return nil, err
	}
	if choice.name == "replay" {
		recorded, err := m.Knowledge().Witnessed(ctx, p.ID)
		if err != nil {
			return nil, withHint(err, "let a model distil a session once: mem distill --engine claude")
		}
		return engines.NewAsker(engines.NewReplay("", recorded), engines.Options{Window: window}), nil
	}
	s := setup{e: e, conf: conf, model: choice.model}
	if s.timeout, err = conf.Duration("llm.timeout"); err != nil {
		return nil, err
	}
	model, err := s.of(ctx, m, state.Rev{}, choice.name)
	if err != nil {
		return nil, err
	}
	price, err := s.price(choice.name)
	return engines.NewAsker(model, engines.Options{Window: window, Price: price}), err
}

func (e *Env) runDistill(ctx context.Context, o distillOptions, name string) error {
	conf, err := e.settings()
	if err != nil {
		return err
	}
	most, err := conf.Int("facts.maxPerSession")
	if err != nil {
		return err
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		revs, err := e.toDistill(ctx, m, &sc, o, name)
		if err != nil {
			return err
		}
		var answer distillAnswer
		answer.Sessions, answer.Reflection = []distilled{}, reflectedOf(knowledge.Pondered{})
		for _, rev := range revs {
			asker, err := e.asker(ctx, m, sc.Project, o.engine)
			if err != nil {
				return err
			}
			d, err := m.Knowledge().Distill(ctx, rev, asker, knowledge.DistillOptions{Most: most, Again: o.again, DryRun: e.opt.dryRun})
			answer.add(rev, d, e.opt.dryRun)
			if err == nil || len(d.Saved) > 0 {
				e.sayDistilled(rev, d)
			}
			if err != nil {
				return distillError(err, rev)
			}
		}
		if err := e.distillRules(ctx, m, sc.Project, o, &answer); err != nil {
			return err
		}
		if e.opt.json {
			return e.printJSON("distill", answer)
		}
		if len(revs) == 0 && answer.Reflection.Candidates == 0 {
			e.note("every session is distilled")
		}
		return nil
	})
}

// distillRules lets the model look back, once for all sessions.
func (e *Env) distillRules(ctx context.Context, m *layers.Memory, p state.Project, o distillOptions, answer *distillAnswer) error {
	asker, err := e.asker(ctx, m, p, o.engine)
	if errors.Is(err, derive.ErrNoWitnesses) && len(answer.Sessions) == 0 {
		return nil // no model was ever asked, and there is nothing to ask one
	}
	if err != nil {
		return err
	}
	found, err := m.Knowledge().DistillRules(ctx, p, asker, knowledge.DistillOptions{Again: o.again, DryRun: e.opt.dryRun})
	if errors.Is(err, engines.ErrRecorded) { // what the sessions hold was replayed
		e.note("no answer about the %d candidates is recorded: they wait for somebody (mem reflect)", found.Candidates)
		return nil
	}
	if err != nil {
		return distillError(err, state.Rev{})
	}
	answer.Reflection = reflectedOf(found)
	if e.opt.json || found.Candidates == 0 {
		return nil
	}
	cost := costLine(found.Receipt)
	if e.opt.dryRun {
		e.printf("Would look back at %d candidate%s: at most %s\n", found.Candidates, plural(found.Candidates), cost)
		return nil
	}
	for _, r := range found.Rules {
		e.note("%s is %s, %s sure: %s", r.ID, r.State, hundredths(r.Confidence), firstWords(r.Text, 80))
	}
	for _, l := range found.Left {
		e.detail("left %s: %s", l.ID, firstWords(l.Why, 100))
	}
	e.did("[%s] reflect  %d candidate%s: %d rule%s made, %d dismissed, %d to look at, %d left\n  %s\n", e.safe(p.Name), found.Candidates, plural(found.Candidates),
		len(found.Rules), plural(len(found.Rules)), len(found.Dismissed), len(found.Doubted), len(found.Left), cost)
	return nil
}

// reflectedJSON is what a model made of candidates, as --json prints it.
type reflectedJSON struct {
	Candidates int                       `json:"candidates"`
	Rules      []ruleAnswer              `json:"rules"`
	Dismissed  []string                  `json:"dismissed"`
	Doubted    []string                  `json:"doubted"`
	Left       []knowledge.LeftCandidate `json:"left"`
	Receipt    engines.Receipt           `json:"receipt"`
}

func reflectedOf(p knowledge.Pondered) reflectedJSON {
	x := reflectedJSON{p.Candidates, []ruleAnswer{}, append([]string{}, p.Dismissed...), append([]string{}, p.Doubted...), append([]knowledge.LeftCandidate{}, p.Left...), p.Receipt}
	for _, r := range p.Rules {
		x.Rules = append(x.Rules, ruleAnswerOf(r))
	}
	return x
}

func costLine(r engines.Receipt) string {
	return fmt.Sprintf("%s, %s tokens in and %s out, %s", count(r.Requests, "request"), tokens.Commas(r.Usage.Input), tokens.Commas(r.Usage.Output), engines.FormatDollars(r.Usage.Micros))
}

// toDistill returns the sessions to distil.
func (e *Env) toDistill(ctx context.Context, m *layers.Memory, sc *state.Scope, o distillOptions, name string) ([]state.Rev, error) {
	if !o.backlog {
		rev, err := e.resolveSession(ctx, m, *sc, name)
		sc.Project = rev.Project
		return []state.Rev{rev}, err
	}
	sessions, err := m.Knowledge().Backlog(ctx, sc.Project.ID)
	if err != nil {
		return nil, err
	}
	var revs []state.Rev
	for _, s := range sessions {
		revs = append(revs, state.Rev{Kind: state.IsSession, Project: sc.Project, Session: s})
	}
	return revs, nil
}

func distillError(err error, rev state.Rev) error {
	switch {
	case errors.Is(err, engines.ErrRecorded):
		return withHint(err, "the session has grown, or the settings differ; --again distils a session once more")
	case errors.Is(err, knowledge.ErrAnswer) && rev.Session == nil:
		return withHint(err, "try another model with --model", "or by hand: mem reflect")
	case errors.Is(err, knowledge.ErrAnswer):
		return withHint(err, "try another model with --model", "or by hand: mem facts draft "+shortID(rev.Session.ID))
	}
	return err
}

// A distillAnswer is what became of sessions, as --json prints it.
type distillAnswer struct {
	Sessions   []distilled   `json:"sessions"`
	Reflection reflectedJSON `json:"reflection"`
	DryRun     bool          `json:"dry_run"`
}

type distilled struct {
	Session  string          `json:"session"`
	Parts    int             `json:"parts"`
	Verified int             `json:"verified"`
	Inferred int             `json:"inferred"`
	Rejected int             `json:"rejected"`
	Assigned int             `json:"assigned"`
	Left     int             `json:"tokens_left"`
	Facts    []savedFactJSON `json:"facts"`
	Receipt  engines.Receipt `json:"receipt"`
}

func (a *distillAnswer) add(rev state.Rev, d knowledge.Distillation, dryRun bool) {
	x := distilled{Session: rev.Session.ID, Parts: len(d.Saved), Assigned: d.Assigned, Left: d.Left, Receipt: d.Receipt, Facts: []savedFactJSON{}}
	for _, s := range d.Saved {
		x.Verified, x.Inferred, x.Rejected = x.Verified+s.Count(facts.Verified), x.Inferred+s.Count(facts.Inferred), x.Rejected+s.Count(facts.Rejected)
		for _, f := range s.Facts {
			x.Facts = append(x.Facts, savedFactJSON{f.At, f.Known, f.Fact})
		}
	}
	a.Sessions, a.DryRun = append(a.Sessions, x), dryRun
}

func (e *Env) sayDistilled(rev state.Rev, d knowledge.Distillation) {
	if e.opt.json {
		return
	}
	r := d.Receipt
	cost := costLine(r)
	if e.opt.dryRun {
		e.printf("Would distill %s: at most %s\n", e.safe(shortID(rev.Session.ID)), cost)
		return
	}
	if r.Requests == 0 {
		e.note("%s is distilled already", shortID(rev.Session.ID))
		return
	}
	var verified, inferred, rejected int
	for _, s := range d.Saved {
		verified, inferred, rejected = verified+s.Count(facts.Verified), inferred+s.Count(facts.Inferred), rejected+s.Count(facts.Rejected)
		for _, f := range s.Facts {
			if f.Fact.Verdict == facts.Rejected {
				e.detail("rejected: %s: %s", f.Fact.Reason, firstWords(f.Fact.Text, 80))
			}
		}
	}
	e.did("[%s] distill %s  %d facts: %d verified, %d inferred, %d rejected; %d exchanges in concepts\n  %s\n", e.safe(rev.Project.Name), e.safe(shortID(rev.Session.ID)),
		verified+inferred+rejected, verified, inferred, rejected, d.Assigned, cost)
}
