package knowledgecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

type assignOptions struct {
	name    string
	topic   string
	summary string
	reason  string
	none    bool
	undo    bool
}

// conceptChanges returns the subcommands that change concepts.
func conceptChanges(e *app.Env) []*cli.Command {
	var o assignOptions
	topic := app.ParsedFlag(&o.topic, "topic,t", "the topic, in 3 to 5 `WORDS`", app.LineParser("a topic", 80))
	summary := app.ParsedFlag(&o.summary, "summary", "set the summary `TEXT`", app.LineParser("a summary", 1000))
	reason := app.ParsedFlag(&o.reason, "reason", "record `WHY` it belongs there", app.LineParser("a reason", 500))
	undo := func(usage string) cli.Flag {
		return app.BoolFlag(&o.undo, "undo", usage)
	}
	return []*cli.Command{
		{Name: "assign", Usage: "assign sessions or exchanges to a concept", ArgsUsage: "<session|exchange>... [<concept>]",
			Description: "An exchange is named by its id, such as e:9f2c61ab. The assignment of an exchange\n" +
				"overrides that of its session.",
			Flags: []cli.Flag{
				app.ParsedFlag(&o.name, "new", "create the concept `NAME`", app.LineParser("a name", 80)), topic, summary, reason,
				app.BoolFlag(&o.none, "none", "remove the assignment"),
			},
			Action: app.Action(e, 1, -1, o.assign)},
		{Name: "rename", Usage: "rename or edit a concept", ArgsUsage: "<concept> [<name>]",
			Flags:  []cli.Flag{topic, summary},
			Action: app.Action(e, 1, 2, o.rename)},
		{Name: "merge", Usage: "merge concepts into the last one named", ArgsUsage: "<concept>... <concept>",
			Flags: []cli.Flag{reason, undo("part the concepts again")},
			Action: func(c *cli.Context) error {
				least := 2
				if o.undo {
					least = 1
				}
				return app.Action(e, least, -1, o.merge)(c)
			}},
		{Name: "split", Usage: "split a concept: move members to a new one", ArgsUsage: "<concept> <session|exchange>...",
			Flags: []cli.Flag{app.ParsedFlag(&o.name, "new", "call the new concept `NAME`", app.LineParser("a name", 80)), topic,
				summary, reason},
			Action: app.Action(e, 2, -1, o.split)},
		{Name: "rm", Usage: "delete concepts; their members become unassigned", ArgsUsage: "<concept>...",
			Flags:  []cli.Flag{undo("bring them back")},
			Action: app.Action(e, 1, -1, o.rm)},
	}
}

func (o *assignOptions) assign(ctx context.Context, run app.Run) error {
	operands, concept := run.Operands, ""
	switch last := operands[len(operands)-1]; {
	case o.name != "" && o.none:
		return app.Usagef("--new and --none do not go together")
	case (o.name != "" || o.none) && concepts.IsLabel(last):
		return app.Usagef("%s is a concept, but --new makes another one", last)
	case o.name != "" || o.none:
	case len(operands) == 1:
		return app.WithHint(app.Usagef("the concept of %s is missing", last), "mem concepts list",
			"or make one: --new NAME --topic TOPIC")
	default:
		concept, operands = last, operands[:len(operands)-1]
	}
	if o.summary != "" && o.name == "" {
		return app.WithHint(app.Usagef("--summary requires --new"), "mem concepts rename CONCEPT --summary TEXT")
	}
	members, err := members(ctx, &run, operands)
	if err != nil {
		return err
	}
	to := o.target()
	if concept != "" {
		if to.Concept, err = conceptNamed(ctx, run, concept); err != nil {
			return err
		}
		if !to.Concept.Live() {
			return app.WithHint(fmt.Errorf("%s is no longer active", concept), "mem concepts list --all")
		}
	}
	return assign(ctx, run, members, to)
}

// members resolves sessions and exchanges of one project and sets the project of the run.
func members(ctx context.Context, run *app.Run, operands []string) ([]knowledge.Member, error) {
	var list []knowledge.Member
	for _, name := range operands {
		x, err := knowledge.FindMember(ctx, run.DB, run.Scope, name)
		var missing *state.NotFoundError
		switch {
		case errors.Is(err, knowledge.ErrNotMember):
			return nil, app.WithHint(app.Usagef("%v", err), "an exchange is named as in mem concepts candidates: e:9f2c61ab")
		case errors.As(err, &missing) && missing.What == "exchange":
			return nil, app.WithHint(err, "mem concepts candidates")
		case err != nil:
			return nil, err
		}
		if len(list) > 0 && x.Project.ID != list[0].Project.ID {
			return nil, app.Usagef("%s and %s are of two projects", operands[0], name)
		}
		list = append(list, x)
	}
	run.Project = list[0].Project
	return list, nil
}

// maxTopicWords is the maximum number of words in a topic.
const maxTopicWords = 5

// assign assigns members to a concept and prints the result.
func assign(ctx context.Context, run app.Run, members []knowledge.Member, to knowledge.Target) error {
	set, err := revision.Concepts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	c, err := knowledge.Assign(ctx, run.DB, run.Project, members, to, run.Opt.DryRun)
	if err != nil {
		return err
	}
	var concept *view.Concept
	allMembers := app.Each(members, knowledge.Member.String)
	where := "to no concept"
	if c != nil {
		x := conceptOf(run, set, c)
		where, concept = fmt.Sprintf("to %s %s", x.As, c.Name), &x
	}
	if n := len(strings.Fields(to.Topic)); n > maxTopicWords {
		defer run.Warn("the topic has %d words: 3 to %d tell jobs apart", n, maxTopicWords)
	}
	return run.Did("concepts.assign", app.Object{"members", allMembers, "concept", concept}, "%s %s %s",
		run.Verb("assigned", "would assign"), strings.Join(allMembers, " "), where)
}

// change changes concepts and prints their new state.
func change(ctx context.Context, run app.Run, message, note string,
	changes []concepts.Change) error {
	if !run.Opt.DryRun {
		if err := knowledge.ChangeConcept(ctx, run.DB, run.Project, message, changes...); err != nil {
			return err
		}
	}
	set, err := revision.Concepts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	changed := []view.Concept{}
	for _, c := range changes {
		if k := set.ByRecord(c.Concept); !slices.ContainsFunc(changed, func(a view.Concept) bool {
			return a.Concept == k
		}) {
			changed = append(changed, conceptOf(run, set, k))
		}
	}
	return run.Did("concepts.change", app.Object{"concepts", changed}, "%s", run.Verb("", "would do: ")+note)
}

func (o *assignOptions) rename(ctx context.Context, run app.Run) (err error) {
	if len(run.Operands) > 1 {
		if o.name, err = app.LineParser("a name", 80)(run.Operand(1)); err != nil {
			return app.Usagef("%v", err)
		}
	}
	if o.name == "" && o.topic == "" && o.summary == "" {
		return app.WithHint(app.Usagef("nothing to change"), "mem concepts rename "+run.Operand(0)+" NAME")
	}
	c, err := conceptNamed(ctx, run, run.Operand(0))
	if err != nil {
		return err
	}
	var changes []concepts.Change
	for _, f := range [][2]string{{"name", o.name}, {"topic", o.topic}, {"summary", o.summary}} {
		if f[1] != "" {
			changes = append(changes, concepts.Change{Concept: c.Record, Field: f[0], Value: f[1]})
		}
	}
	set, err := revision.Concepts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	label := set.DisplayLabel(c, run.Repo().Device().ID)
	return change(ctx, run, "rename concept "+c.Label, fmt.Sprintf("%s is %s now", label, cmp.Or(o.name, c.Name)), changes)
}

func (o *assignOptions) merge(ctx context.Context, run app.Run) error {
	operands := run.Operands
	var into *concepts.Concept
	if !o.undo {
		var err error
		if into, err = conceptNamed(ctx, run, operands[len(operands)-1]); err != nil {
			return err
		}
		operands = operands[:len(operands)-1]
		if !into.Live() {
			return app.WithHint(fmt.Errorf("%s is no longer active", into.Label), "mem concepts list --all")
		}
	}
	var changes []concepts.Change
	var labels []string
	for _, name := range operands {
		c, err := conceptNamed(ctx, run, name)
		if err != nil {
			return err
		}
		switch {
		case c == nil, into != nil && c.Record == into.Record:
			return app.Usagef("%s cannot become part of itself", name)
		case into == nil && c.MergedInto == "":
			return fmt.Errorf("%s is part of no other", name)
		}
		change := concepts.Change{Concept: c.Record, Field: "into", Reason: o.reason}
		if into != nil {
			change.Value = into.Record
		}
		changes, labels = append(changes, change), append(labels, c.Label)
	}
	list := strings.Join(labels, " ")
	if into == nil {
		return change(ctx, run, "part "+list, list+" is separate again", changes)
	}
	return change(ctx, run, "merge "+list+" into "+into.Label,
		fmt.Sprintf("%s is part of %s %s now", list, into.Label, into.Name), changes)
}

func (o *assignOptions) split(ctx context.Context, run app.Run) error {
	concept, operands := run.Operand(0), run.Operands[1:]
	if o.name == "" {
		return app.WithHint(app.Usagef("mem concepts split requires the name of the new concept"), "--new NAME --topic TOPIC")
	}
	members, err := members(ctx, &run, operands)
	if err != nil {
		return err
	}
	from, err := conceptNamed(ctx, run, concept)
	if err != nil {
		return err
	}
	for i, x := range members {
		id, list := x.Session, from.Sessions
		if x.Exchange != nil {
			id, list = x.Exchange.ID, from.Exchanges
		}
		if !slices.Contains(list, id) {
			return app.WithHint(fmt.Errorf("%s does not belong to %s", operands[i], concept), "mem concepts show "+concept)
		}
	}
	return assign(ctx, run, members, o.target())
}

// target returns the new concept of the options.
func (o *assignOptions) target() knowledge.Target {
	to := knowledge.Target{Topic: o.topic, Reason: o.reason}
	if o.name != "" {
		to.New = &concepts.Definition{Name: o.name, Topic: o.topic, Summary: o.summary, Reason: o.reason}
	}
	return to
}

func (o *assignOptions) rm(ctx context.Context, run app.Run) error {
	var changes []concepts.Change
	var labels []string
	for _, name := range run.Operands {
		c, err := conceptNamed(ctx, run, name)
		if err != nil {
			return err
		}
		changes = append(changes, concepts.Change{Concept: c.Record, Field: "removed", Value: fmt.Sprint(!o.undo)})
		labels = append(labels, c.Label)
	}
	list := strings.Join(labels, " ")
	if o.undo {
		return change(ctx, run, "bring back "+list, list+" is back", changes)
	}
	return change(ctx, run, "remove "+list, "removed "+list, changes)
}
