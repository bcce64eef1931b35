package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/permanent"
	layerstate "github.com/memvcs/mem/layers/state"
)

// rules is the command about what a project knows for good.
func (e *Env) rules() *cli.Command {
	var kind, state string
	var all bool
	return &cli.Command{
		Name:  "rules",
		Usage: "list and edit permanent rules",
		Description: "A rule is something to hold to, the solution of a problem that comes back, or how the heart of the project works. \"mem reflect\" prints\n" +
			"what may become one. A rule is trusted no more than the least trusted fact it rests on; what only tools, files, the web or scripts said\n" +
			"needs the user's word: typed at a terminal, or a message that they typed in a session, with --said.",
		Commands: append([]*cli.Command{
			{Name: "list", Usage: "list the rules", Flags: []*cli.Flag{
				cli.Choice(&kind, "type", "only of a `TYPE`: rule, solution or core_logic", permanent.Types()...),
				cli.Choice(&state, "state", "only in a `STATE`: proposed, active, review or retired", permanent.States()...),
				cli.Bool(&all, "all,a", "also those that were retired or hidden by \"mem revoke\""),
			}, Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				states := []string{permanent.Active, permanent.Proposed, permanent.Review}
				switch {
				case state != "":
					states = []string{state}
				case all:
					states = permanent.States()
				}
				return e.runRulesList(ctx, kind, states, all, "rules.list")
			}},
			{Name: "show", Usage: "print a rule with its evidence", ArgsUsage: "<rule>", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 1); err != nil {
					return err
				}
				return e.withMemory(ctx, func(m *layers.Memory, sc layerstate.Scope) error {
					r, err := e.rule(ctx, m, sc.Project, e.operand(0))
					if err != nil {
						return err
					}
					return e.showRule(ctx, m, sc.Project, r)
				})
			}},
		}, e.ruleChanges()...),
	}
}

// A ruleAnswer is a rule as --json prints it.
type ruleAnswer struct {
	*permanent.Rule
	Confidence string `json:"confidence"`
}

func ruleAnswerOf(r *permanent.Rule) ruleAnswer { return ruleAnswer{r, hundredths(r.Confidence)} }

func hundredths(n int) string { return fmt.Sprintf("%d.%02d", n/100, n%100) }

// rule finds a rule by what the user typed.
func (e *Env) rule(ctx context.Context, m *layers.Memory, p layerstate.Project, name string) (*permanent.Rule, error) {
	r, err := m.Revision().FindRule(ctx, p.ID, name)
	if err != nil && strings.HasPrefix(name, "p:") {
		return nil, withHint(err, "p: is a candidate: mem rules promote "+name)
	}
	if err != nil {
		return nil, withHint(err, "mem rules list --all")
	}
	return r, nil
}

// A listedRule is a rule as lists print it with --json.
type listedRule struct {
	ruleAnswer
	Project string `json:"project,omitempty"` // with --all-projects
}

func (e *Env) runRulesList(ctx context.Context, kind string, states []string, hidden bool, what string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc layerstate.Scope) error {
		projects, err := e.listedProjects(ctx, m, sc)
		if err != nil {
			return err
		}
		list := []listedRule{}
		for _, p := range projects {
			set, err := m.Revision().Rules(ctx, p.ID)
			if err != nil {
				return err
			}
			for _, r := range set.Rules {
				if (kind == "" || r.Type == kind) && (r.Revoked == "" || hidden) && slices.Contains(states, r.State) {
					list = append(list, listedRule{ruleAnswerOf(r), e.projectName(p)})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b listedRule) int { return slices.Index(states, a.State) - slices.Index(states, b.State) })
		if e.opt.json {
			return e.printJSON(what, struct {
				Rules []listedRule `json:"rules"`
			}{list})
		}
		if len(list) == 0 {
			e.note("no rules")
			e.hint("see what may become one: mem reflect")
			return nil
		}
		return e.ruleTable(ctx, m, list)
	})
}

func (e *Env) ruleTable(ctx context.Context, m *layers.Memory, list []listedRule) error {
	strangers, err := e.strangers(ctx, m)
	if err != nil {
		return err
	}
	columns := []column{{name: "rule"}, {name: "type"}, {name: "state"}, {name: "sure", right: true}, {name: "trust"}, {name: "validated"}}
	if e.opt.allProjects {
		columns = append(columns, column{name: "project"})
	}
	t := e.table(append(columns, column{name: "text", shrinks: true})...)
	for _, r := range list {
		row := []cell{{full: r.ID, paint: e.style().yellow}, {full: r.Type}, {full: r.State}, {full: r.Confidence}, trustCell(r.Trust.String(), strangers.of(r.Device)), e.timeCell(r.LastValidated)}
		if e.opt.allProjects {
			row = append(row, cell{full: r.Project})
		}
		t.row(append(row, cell{full: hiddenText(ruleText(r.Rule), r.Revoked)})...)
	}
	if err := e.page("rules"); err != nil {
		return err
	}
	return t.flush()
}

// ruleText writes what a rule says in one line.
func ruleText(r *permanent.Rule) string {
	if r.Problem == "" {
		return r.Text
	}
	return r.Problem + ": " + r.Text
}

// showRule prints a rule with what it rests on.
func (e *Env) showRule(ctx context.Context, m *layers.Memory, p layerstate.Project, r *permanent.Rule) error {
	if e.opt.json {
		return e.printJSON("rules.show", ruleAnswerOf(r))
	}
	known, err := m.Revision().Facts(ctx, p.ID)
	if err != nil {
		return err
	}
	if err := e.page("rules"); err != nil {
		return err
	}
	e.printf("%s  %s  %s\n", e.style().yellow(r.ID), r.Type, e.style().bold(e.safe(oneLine(r.Text))))
	e.about("About", oneLine(r.Problem))
	state := r.State
	if r.Removal {
		state += ", its removal was proposed: the user decides"
	}
	e.field("State", state)
	e.about("Hidden", r.Revoked)
	e.field("Sure", fmt.Sprintf("%s, contradicted %d times since it was validated", hundredths(r.Confidence), r.Contradictions))
	by := r.Trust.String()
	if r.Stated {
		by += ", who stated it"
	}
	e.field("Trust", by)
	e.field("Made", timeText(r.Made))
	e.field("Valid", timeText(r.LastValidated))
	e.about("Files", strings.Join(r.Files, " "))
	e.about("Reason", oneLine(r.Reason))
	for _, w := range r.Words {
		e.field("Said", fmt.Sprintf("%s#%d  %q", shortID(w.Session), w.Message, w.Quote))
	}
	for _, id := range r.Evidence {
		line := id + "  has not arrived"
		if f, ok := known.Fact(id); ok {
			line = factLine(f)
			if !f.Stands() {
				line += " (does not stand any more)"
			}
		}
		e.field("Evidence", line)
	}
	return nil
}

// ruleError adds to an error about a rule what can be done.
func ruleError(err error, name string) error {
	switch {
	case errors.Is(err, knowledge.ErrNotSaid):
		return withHint(err, "name the message in which the user says it, or let the user type the command at a terminal")
	case errors.Is(err, markers.ErrNotTyped):
		return withHint(err, "only what the user typed is their word")
	case errors.Is(err, knowledge.ErrUsersRule):
		return withCode(exitPartial, withHint(err, "it waits for review now; the user types, at a terminal: mem rules retire "+name, "or name the message that says so: --said abc1#12"))
	case errors.Is(err, knowledge.ErrNeedsUser):
		return withHint(err, "the user types, at a terminal: mem rules promote "+name, "or name the message that says so: --said abc1#12")
	}
	return err
}

// factOf finds the fact that a name stands for.
func (e *Env) factOf(ctx context.Context, m *layers.Memory, p layerstate.Project, name string) (facts.Fact, error) {
	f, err := m.Revision().FindFact(ctx, p.ID, name)
	if err != nil {
		return f, withHint(err, "mem facts list")
	}
	return f, nil
}
