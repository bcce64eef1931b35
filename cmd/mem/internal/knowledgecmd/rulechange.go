package knowledgecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/view"
)

type ruleOptions struct {
	kind     string
	text     string
	problem  string
	files    []string
	evidence []string
	said     string
	reason   string
}

// ruleChanges returns the subcommands that create and change rules.
func ruleChanges(e *app.Env) []*cli.Command {
	var o ruleOptions
	said := app.StringFlag(&o.said, "said", "the user states it in the message `REV`, such as abc1#12")
	reason := app.ParsedFlag(&o.reason, "reason", "record the reason `WHY`", app.LineParser("a reason", 500))
	problem := app.ParsedFlag(&o.problem, "problem", "the `PROBLEM` that it solves, or the feature that it implements",
		app.LineParser("a problem", 500))
	evidence := func(usage string) cli.Flag {
		return app.RepeatedFlag(&o.evidence, "evidence", usage)
	}
	each := func(act string) cli.ActionFunc {
		return app.Action(e, 1, -1, func(ctx context.Context, run app.Run) error { return o.act(ctx, run, act) })
	}
	return []*cli.Command{
		{Name: "add", Usage: "state a rule", ArgsUsage: "<text>",
			Description: "A rule is active at once if the user types the command at a terminal, if --said names\n" +
				"the message in which the user states it, or if all its evidence is verified text of the\n" +
				"user. Otherwise, also if it is in other words than its evidence, it is proposed, and\n" +
				"\"promote\" activates it; without facts as evidence only the user can activate a rule.",
			Flags: []cli.Flag{
				app.ChoiceFlag(&o.kind, "type", "set the `TYPE`: rule, solution or core_logic; default rule", permanent.Types()...),
				problem,
				app.RepeatedFlag(&o.files, "file", "it is about `FILE`"),
				evidence("it rests on the `FACT`, such as f:9f2c61ab"), said, reason,
			},
			Action: app.Action(e, 1, 1, o.add)},
		{Name: "promote", Usage: "activate candidates or proposed rules", ArgsUsage: "<candidate|rule>...",
			Flags: []cli.Flag{
				app.ParsedFlag(&o.text, "text", "use this better `TEXT`", app.LineParser("a rule", 500)), problem,
				app.ChoiceFlag(&o.kind, "type", "change the `TYPE`: rule, solution or core_logic", permanent.Types()...),
				said, reason,
			},
			Action: app.Action(e, 0, -1, o.promote)},
		{Name: "dismiss", Usage: "dismiss candidates", ArgsUsage: "<candidate>...", Flags: []cli.Flag{reason},
			Action: app.Action(e, 1, -1, o.dismiss)},
		{Name: "validate", Usage: "confirm rules", ArgsUsage: "<rule>...", Flags: []cli.Flag{said, reason},
			Action: each(permanent.Validate)},
		{Name: "contradict", Usage: "report a contradicted rule; two reports start a review", ArgsUsage: "<rule>...",
			Flags:  []cli.Flag{evidence("the `FACT` that speaks against it, such as f:9f2c61ab; it counts once"), reason},
			Action: each(permanent.Contradict)},
		{Name: "retire", Aliases: []string{"rm"}, Usage: "retire rules; promote restores them", ArgsUsage: "<rule>...",
			Flags: []cli.Flag{said, reason}, Action: each(permanent.Retire)},
		{Name: "review", Usage: "list rules under review, or add rules to the review", ArgsUsage: "[<rule>...]",
			Flags: []cli.Flag{reason}, Action: app.Action(e, 0, -1, func(ctx context.Context, run app.Run) error {
				if len(e.Operands) == 0 {
					return listRules(ctx, run, rulesQuery{what: "rules.review", states: []string{permanent.Review, permanent.Proposed}})
				}
				return o.act(ctx, run, permanent.Question)
			})},
	}
}

// saidIn returns the message of --said; without the option it names no session.
func saidIn(ctx context.Context, run app.Run, o ruleOptions) (state.Rev, error) {
	if o.said == "" {
		return state.Rev{}, nil
	}
	rev, err := run.Resolve(ctx, o.said)
	if err == nil && (rev.Kind != state.IsMessages || rev.From != rev.To) {
		err = app.WithHint(app.Usagef("--said %s is not a message", o.said), "name one by its number: abc1#12")
	}
	return rev, err
}

// userQuote returns the quote of the user in the message of --said that states text, or is about it if mention is set;
// nil without the option.
func userQuote(ctx context.Context, run app.Run, o ruleOptions, text string, mention bool) (*permanent.Quote, error) {
	rev, err := saidIn(ctx, run, o)
	if err != nil || rev.Session == nil {
		return nil, err
	}
	w, err := knowledge.UserQuote(ctx, run.DB, rev, text, mention)
	return &w, ruleError(err, "")
}

func (o *ruleOptions) add(ctx context.Context, run app.Run) error {
	text, err := app.LineParser("a rule", 500)(run.Operand(0))
	if err != nil {
		return app.Usagef("%v", err)
	}
	made := permanent.Definition{
		Type: cmp.Or(o.kind, permanent.TypeRule), Text: text, Problem: o.problem, Files: o.files, ByUser: app.UserTypes(run.Env),
		Trust: facts.Tool, Confidence: 70, State: permanent.Proposed, Reason: o.reason,
	}
	said, err := saidIn(ctx, run, *o)
	if err != nil {
		return err
	}
	if said.Session != nil {
		if err := knowledge.FromUser(ctx, run.DB, said, &made); err != nil {
			return ruleError(err, "")
		}
	}
	evidence, err := evidenceOf(ctx, run, *o)
	if err != nil {
		return err
	}
	made.Evidence = append(made.Evidence, app.Each(evidence, func(f facts.Fact) string { return f.Key().String() })...)
	set, err := revision.Rules(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	if r := set.WithText(text); r != nil {
		return app.WithHint(fmt.Errorf("%s has the same text", r.ID), "mem rules show "+r.ID)
	}
	switch {
	case made.ByUser:
		made.State, made.Trust, made.Confidence, made.Derived = permanent.Active, facts.User, 100, false
	case said.Session != nil || len(made.Evidence) == 0:
	default:
		if made.Trust, made.Derived = permanent.Basis(text, evidence); made.Trust == facts.User && o.problem == "" {
			made.State, made.Confidence = permanent.Active, 80
		}
	}
	has, err := projects.HasProject(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	if !has && strings.HasPrefix(run.Project.Identity, "path ") { // no repository either
		ok, err := run.Confirm("%s is in no project of this memory: make it project %s with this rule?", run.Dir, run.Project.Name)
		if err != nil || !ok {
			return err
		}
	}
	r, err := knowledge.AddRule(ctx, run.DB, run.Project, made, run.Opt.DryRun)
	if err != nil {
		return err
	}
	if err := printRuleChange(run.Env, []*permanent.Rule{r}); err != nil || run.Opt.JSON {
		return err
	}
	run.Note("it %s a rule of project %s", run.Verb("is", "would be"), run.Project.Name)
	return nil
}

// evidenceOf resolves the facts that support a rule.
func evidenceOf(ctx context.Context, run app.Run, o ruleOptions) ([]facts.Fact, error) {
	var list []facts.Fact
	for _, name := range o.evidence {
		f, err := factOf(ctx, run, name)
		if err != nil {
			return nil, err
		}
		if !f.Live() {
			return nil, app.WithHint(fmt.Errorf("%s is not in force: it cannot be evidence", f.ID), "mem show "+f.ID)
		}
		list = append(list, f)
	}
	return list, nil
}

// sourceOf says whether the user stated a rule, or it was derived from other words, and how sure it is.
func sourceOf(r *permanent.Rule) string {
	sure := "confidence " + term.Hundredths(r.Confidence)
	switch {
	case r.Stated && r.Confidence == 100:
		return "stated by the user"
	case r.Stated:
		return "stated by the user, " + sure
	case r.Derived:
		return "derived from its evidence, " + sure
	}
	return sure
}

// stateText says in which state a rule is, after "is".
func stateText(r *permanent.Rule) string {
	return cmp.Or(app.If(r.State == permanent.Review, "under review"), r.State)
}

// printRuleChange prints the changed rules.
func printRuleChange(e *app.Env, list []*permanent.Rule) error {
	if e.Opt.JSON {
		return e.PrintJSON("rules.change", nil, "dryRun", e.Opt.DryRun, "rules", app.Each(list, view.RuleOf))
	}
	for _, r := range list {
		if e.Opt.DryRun {
			e.Note("would do: %s: %s", strings.TrimSpace(r.ID+" is "+r.State), tokens.OneLine(r.Text, 80))
			continue
		}
		e.Note("%s is %s (%s): %s", r.ID, stateText(r), sourceOf(r), tokens.OneLine(r.Text, 80))
		if r.State == permanent.Proposed {
			e.Hint("sessions get it when you promote it, on a terminal: mem rules promote %s", r.ID)
		}
	}
	return nil
}

func (o *ruleOptions) promote(ctx context.Context, run app.Run) error {
	if o.text != "" && len(run.Operands) > 1 {
		return app.Usagef("--text is for one candidate, not %d", len(run.Operands))
	}
	if len(run.Operands) == 0 {
		return nothingNamed(ctx, run)
	}
	for _, name := range run.Operands { // all or none
		if _, err := promote(ctx, run, *o, name, true); err != nil {
			return err
		}
	}
	var done []*permanent.Rule
	for _, name := range run.Operands {
		r, err := promote(ctx, run, *o, name, run.Opt.DryRun)
		if err != nil {
			return err
		}
		done = append(done, r)
	}
	return printRuleChange(run.Env, done)
}

// nothingNamed is the error of a promotion of nothing; its hints are the proposed rules.
func nothingNamed(ctx context.Context, run app.Run) error {
	err := app.Usagef("mem rules promote requires <candidate|rule>...")
	set, serr := revision.Rules(ctx, run.DB, run.Project.ID)
	if serr != nil {
		return serr
	}
	const most = 5
	var hints []string
	for _, r := range set.Rules {
		if r.State == permanent.Proposed && r.Revoked == "" && len(hints) < most {
			hints = append(hints, fmt.Sprintf("mem rules promote %s  # %s", r.ID, tokens.OneLine(r.Text, 60)))
		}
	}
	if len(hints) == 0 {
		hints = []string{"no rule is proposed; candidates are in: mem reflect -n"}
	}
	return app.WithHint(err, hints...)
}

func promote(ctx context.Context, run app.Run, o ruleOptions, name string, dryRun bool) (*permanent.Rule, error) {
	if strings.HasPrefix(name, "p:") {
		return promoteCandidate(ctx, run, o, name, dryRun)
	}
	r, err := rule(ctx, run, name)
	if err != nil {
		return nil, err
	}
	if o.text != "" || o.problem != "" || o.kind != "" {
		return nil, app.WithHint(app.Usagef("%s is a rule already: its words stay", r.ID),
			"state another one: mem rules add TEXT", "mem rules retire "+r.ID)
	}
	w, err := userQuote(ctx, run, o, r.Text, false)
	if err != nil {
		return nil, err
	}
	act := permanent.Act{Act: permanent.Promote, Quote: w, ByUser: app.UserTypes(run.Env), Reason: o.reason}
	r, err = knowledge.Act(ctx, run.DB, run.Project, r, act, dryRun)
	return r, ruleError(err, name)
}

func promoteCandidate(ctx context.Context, run app.Run, o ruleOptions, name string, dryRun bool) (*permanent.Rule, error) {
	c, err := candidate(ctx, run, name)
	if err != nil {
		return nil, err
	}
	if c.Rule != "" {
		return nil, app.WithHint(app.Usagef("%s is about an existing rule: %s", c.ID, c.Rule), "mem rules validate "+
			c.Rule, "mem rules contradict "+c.Rule, "mem rules retire "+c.Rule)
	}
	made := knowledge.RuleOf(c)
	made.ByUser = app.UserTypes(run.Env)
	if o.text != "" {
		made.Text = o.text
	}
	if o.problem != "" {
		made.Problem = o.problem
	}
	if o.kind != "" {
		made.Type = o.kind
	}
	if o.reason != "" {
		made.Reason = o.reason
	}
	w, err := userQuote(ctx, run, o, made.Text, false)
	if err != nil {
		return nil, err
	}
	if w != nil {
		made.Quotes = append(made.Quotes, *w)
	}
	if !made.ByUser && w == nil && (o.text != "" || o.problem != "") { // in words of the model
		made.Derived, made.State, made.Trust, made.Confidence = true, permanent.Proposed, facts.Tool, 70
		if o.problem == "" && permanent.Verbatim(c.Text, o.text) != "" {
			made.Derived, made.State, made.Trust, made.Confidence = false, permanent.Active, c.Trust, 100
		}
	}
	return knowledge.AddRule(ctx, run.DB, run.Project, made, dryRun)
}

// candidate returns the candidate with the id.
func candidate(ctx context.Context, run app.Run, name string) (permanent.Candidate, error) {
	c, err := knowledge.FindCandidate(ctx, run.DB, run.Project, name)
	var missing *state.NotFoundError
	if errors.As(err, &missing) {
		return c, app.WithHint(err, "mem reflect -n")
	}
	return c, err
}

func (o *ruleOptions) dismiss(ctx context.Context, run app.Run) error {
	var list []permanent.Candidate
	for _, name := range run.Operands { // all or none
		c, err := candidate(ctx, run, name)
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	dismissed := []string{}
	for _, c := range list {
		if !run.Opt.DryRun {
			if err := knowledge.DismissCandidate(ctx, run.DB, run.Project, c,
				permanent.Act{ByUser: app.UserTypes(run.Env), Reason: o.reason}); err != nil {
				return err
			}
		}
		dismissed = append(dismissed, c.ID)
	}
	return run.Did("rules.dismiss", app.Object{"dismissed", dismissed}, "%s %s", run.Verb("dismissed", "would dismiss"),
		strings.Join(dismissed, " "))
}

// act applies the same act to several rules.
func (o *ruleOptions) act(ctx context.Context, run app.Run, act string) error {
	operands := run.Operands
	a := permanent.Act{Act: act, ByUser: app.UserTypes(run.Env), Reason: o.reason}
	evidence := o.evidence
	if len(evidence) > 1 {
		return app.WithHint(app.Usagef("one fact at a time: %d were named", len(evidence)),
			"each may count as a contradiction of its own")
	}
	if len(evidence) == 1 {
		f, err := factOf(ctx, run, evidence[0])
		if err != nil {
			return err
		}
		a.Evidence = f.Key().String()
		if f.Trust < facts.Assistant && !a.ByUser {
			return app.WithHint(fmt.Errorf(
				"%s: it is only supported by tools, files, the web or scripts, so it cannot contradict a rule", f.ID),
				fmt.Sprintf("ask for a look: mem rules review %s", operands[0]))
		}
	}
	var list []*permanent.Rule
	for _, name := range operands {
		r, err := rule(ctx, run, name)
		if err != nil {
			return err
		}
		list = append(list, r)
	}
	acts := make([]permanent.Act, len(list))
	for i, r := range list { // all or none
		quote, err := userQuote(ctx, run, *o, r.Text, true)
		if err != nil {
			return err
		}
		acts[i] = a
		acts[i].Quote = quote
		if err := knowledge.Allowed(r, acts[i]); err != nil {
			return ruleError(err, r.ID)
		}
	}
	for i, r := range list {
		var err error
		if list[i], err = knowledge.Act(ctx, run.DB, run.Project, r, acts[i], run.Opt.DryRun); err != nil {
			return ruleError(err, r.ID)
		}
	}
	return printRuleChange(run.Env, list)
}
