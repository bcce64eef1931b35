package knowledgecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/view"
)

// Rules returns mem rules.
func Rules(e *app.Env) *cli.Command {
	o := rulesQuery{what: "rules.list"}
	var state string
	return &cli.Command{
		Name:  "rules",
		Usage: "list and edit permanent rules",
		Description: "A rule is a constraint, the solution of a recurring problem, or the way the core of the\n" +
			"project works. \"mem reflect\" prints candidates. A rule is trusted as much as its least\n" +
			"trusted fact. Evidence that comes only from tools, files, the web or scripts needs the\n" +
			"user: the command typed at a terminal, or --said with a message that the user typed.",
		Subcommands: append([]*cli.Command{
			{Name: "list", Usage: "list the rules", Flags: []cli.Flag{
				app.ChoiceFlag(&o.kind, "type", "only of a `TYPE`: rule, solution or core_logic", permanent.Types()...),
				app.ChoiceFlag(&state, "state", "only in a `STATE`: proposed, active, review or retired", permanent.States()...),
				app.BoolFlag(&o.hidden, "all,a", "also those that were retired or hidden by \"mem revoke\""),
			}, Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error {
				o.states = []string{permanent.Active, permanent.Proposed, permanent.Review}
				switch {
				case state != "":
					o.states = []string{state}
				case o.hidden:
					o.states = permanent.States()
				}
				return listRules(ctx, run, o)
			})},
			{Name: "show", Usage: "print a rule with its evidence", ArgsUsage: "<rule>",
				Action: app.Action(e, 1, 1, func(ctx context.Context, run app.Run) error {
					r, err := rule(ctx, run, e.Operand(0))
					if err != nil {
						return err
					}
					return ShowRule(ctx, run, r)
				})},
		}, ruleChanges(e)...),
	}
}

// rule returns the rule of an operand.
func rule(ctx context.Context, run app.Run, name string) (*permanent.Rule, error) {
	r, err := revision.FindRule(ctx, run.DB, run.Project.ID, name)
	if err != nil && strings.HasPrefix(name, "p:") {
		return nil, app.WithHint(err, "p: is a candidate: mem rules promote "+name)
	}
	if err != nil {
		return nil, app.WithHint(err, "mem rules list --all")
	}
	return r, nil
}

// A rulesQuery selects rules to list.
type rulesQuery struct {
	kind   string // "" is any
	states []string
	hidden bool   // also those that a revocation hides
	what   string // the list with --json
}

func listRules(ctx context.Context, run app.Run, o rulesQuery) error {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return err
	}
	var list []view.Rule
	for _, p := range projects {
		set, err := revision.Rules(ctx, run.DB, p.ID)
		if err != nil {
			return err
		}
		for _, r := range set.Rules {
			if (o.kind == "" || r.Type == o.kind) && (r.Revoked == "" || o.hidden) && slices.Contains(o.states, r.State) {
				x := view.RuleOf(r)
				x.Project = app.ProjectName(run.Env, p)
				list = append(list, x)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b view.Rule) int {
		return slices.Index(o.states, a.State) - slices.Index(o.states, b.State)
	})
	l := run.List(o.what, "rules", "rule", "type", "state", app.Column{Name: "sure", Right: true}, "trust", "validated",
		run.ProjectColumn(), app.Column{Name: "text", Shrinks: true})
	l.Page, l.None, l.Hint = "rules", "no rules", "see what may become one: mem reflect"
	for _, r := range list {
		l.Add(r, app.Cell{Full: r.ID, Paint: run.Style().Yellow}, r.Type, r.State, term.Hundredths(int(r.Confidence)), r.Trust,
			r.LastValidated, r.Project, app.HiddenText(ruleText(r.Rule), r.Revoked))
	}
	return l.Print()
}

// ruleText returns the text of a rule in one line.
func ruleText(r *permanent.Rule) string {
	if r.Problem == "" {
		return r.Text
	}
	return r.Problem + ": " + r.Text
}

// ShowRule prints a rule with its evidence.
func ShowRule(ctx context.Context, run app.Run, r *permanent.Rule) error {
	if run.Opt.JSON {
		return run.PrintJSON("rules.show", view.RuleOf(r))
	}
	known, err := revision.Facts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	run.Page("rules")
	run.Printf("%s  %s  %s\n", run.Style().Yellow(r.ID), r.Type, run.Style().Bold(run.Safe(app.OneLine(r.Text))))
	run.Describe("About", app.OneLine(r.Problem), "State", r.State, "Hidden", r.Revoked,
		"Sure", fmt.Sprintf("%s, contradicted %d times since it was validated", term.Hundredths(r.Confidence), r.Contradictions),
		"Trust", r.Trust.String()+app.If(r.Stated, ", who stated it"), "Made", term.TimeText(r.Created),
		"Valid", term.TimeText(r.LastValidated), "Files", strings.Join(r.Files, " "), "Reason", app.OneLine(r.Reason))
	for _, w := range r.Quotes {
		run.Describe("Said", fmt.Sprintf("%s#%d  %q", term.ShortID(w.Session), w.Message, w.Text))
	}
	for _, id := range r.Evidence {
		line := id + "  has not arrived"
		if f, ok := known.Fact(id); ok {
			line = Line(f)
			if !f.Live() {
				line += " (no longer active)"
			}
		}
		run.Describe("Evidence", line)
	}
	return nil
}

// ruleError adds hints to an error about a rule.
func ruleError(err error, name string) error {
	switch {
	case errors.Is(err, knowledge.ErrNotSaid):
		return app.WithHint(err, "name a message in which the user states it, or type the command at a terminal")
	case errors.Is(err, markers.ErrNotTyped):
		return app.WithHint(err, "only typed text counts as the user's word")
	case errors.Is(err, knowledge.ErrUsersRule):
		return app.WithHint(err, "the user types, at a terminal: "+term.Shell("mem", "rules", "retire", name),
			"or name a message of the user that speaks of it: --said abc1#12")
	case errors.Is(err, knowledge.ErrNeedsUser):
		return app.WithHint(err, "the user types, at a terminal: "+term.Shell("mem", "rules", "promote", name),
			"or name a message of the user that states it: --said abc1#12")
	}
	return err
}

// factOf resolves the name of a fact.
func factOf(ctx context.Context, run app.Run, name string) (facts.Fact, error) {
	f, err := revision.FindFact(ctx, run.DB, run.Project.ID, name)
	if err != nil {
		return f, app.WithHint(err, "mem facts list")
	}
	return f, nil
}
