package knowledgecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

// Concepts returns mem concepts.
func Concepts(e *app.Env) *cli.Command {
	var all bool
	return &cli.Command{
		Name:  "concepts",
		Usage: "list and edit concepts",
		Description: "A concept is one task of the project, with all exchanges about it in any session. A\n" +
			"reader assigns exchanges by meaning; mem never groups them by shared files or words.\n" +
			"\"candidates\" prints the open assignments, \"assign\" records a decision.",
		Subcommands: append([]*cli.Command{
			{Name: "list", Usage: "list the concepts", Flags: []cli.Flag{
				app.BoolFlag(&all, "all,a", "also those that were merged or removed"),
			}, Action: e.Action(0, 0, func(c *cli.Context) error {
				return runConceptsList(c.Context, e, all)
			})},
			{Name: "show", Usage: "print a concept with its exchanges", ArgsUsage: "<concept>",
				Action: e.Action(1, 1, func(c *cli.Context) error {
					return runConceptsShow(c.Context, e, e.Operand(0))
				})},
			{Name: "candidates", Usage: "print unassigned members and the instruction to assign them", ArgsUsage: "[<session>]",
				Description: "Without a session, prints all unassigned exchanges of the project.",
				Action: e.Action(0, 1, func(c *cli.Context) error {
					return runConceptsCandidates(c.Context, e, e.Operand(0))
				})},
		}, conceptChanges(e)...),
	}
}

// conceptNamed returns the concept of an operand.
func conceptNamed(ctx context.Context, run names.Run, name string) (*concepts.Concept, error) {
	c, err := revision.FindConcept(ctx, run.DB, run.Project.ID, name)
	var missing *state.NotFoundError
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) == 0:
		return nil, app.WithHint(err, "make one: mem concepts assign SESSION --new NAME --topic TOPIC")
	case err != nil:
		return nil, app.WithHint(err, "mem concepts list")
	}
	return c, nil
}

func runConceptsList(ctx context.Context, e *app.Env, all bool) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		projects, err := run.ListedProjects(ctx)
		if err != nil {
			return err
		}
		t := e.Table(app.Column{Name: "concept"}, app.Column{Name: "name"}, app.Column{Name: "sessions", Right: true},
			app.Column{Name: "exchanges", Right: true}, app.Column{Name: "updated"}, e.ProjectColumn(),
			app.Column{Name: "topic", Shrinks: true})
		answers := []view.Concept{}
		for _, p := range projects {
			set, err := revision.Concepts(ctx, run.DB, p.ID)
			if err != nil {
				return err
			}
			list := set.Live()
			if all {
				list = set.Concepts
			}
			for _, c := range list {
				as := set.DisplayLabel(c, run.Repo().Device().ID)
				x := view.ConceptOf(c, as)
				x.Project = names.ProjectName(e, p)
				answers = append(answers, x)
				t.Row(app.Cell{Full: as, Paint: e.Style().Yellow}, app.Cell{Full: c.Name}, app.Cell{Full: fmt.Sprint(len(c.Sessions))},
					app.Cell{Full: fmt.Sprint(len(c.Exchanges))}, e.TimeCell(c.Updated), app.Cell{Full: p.Name},
					app.Cell{Full: conceptText(set, c, run.Repo().Device().ID)})
			}
		}
		if e.Opt.JSON {
			return e.PrintJSON("concepts.list", nil, "concepts", answers)
		}
		if len(answers) == 0 {
			e.Note("no concepts")
			e.Hint("list the unassigned exchanges: mem concepts candidates")
			return nil
		}
		if err := e.Page("concepts"); err != nil {
			return err
		}
		return t.Flush()
	})
}

// conceptText returns the topic of a concept, or its state if it was merged or removed.
func conceptText(set *concepts.Set, c *concepts.Concept, device string) string {
	switch {
	case c.MergedInto != "":
		return "merged into " + set.DisplayLabel(set.ByRecord(c.MergedInto), device)
	case c.Removed:
		return "removed"
	case c.Revoked != "":
		return app.HiddenText(c.Topic, c.Revoked)
	}
	return c.Topic
}

func runConceptsShow(ctx context.Context, e *app.Env, name string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		c, err := conceptNamed(ctx, run, name)
		if err != nil {
			return err
		}
		return ShowConcept(ctx, run, c)
	})
}

// ShowConcept prints a concept with its members.
func ShowConcept(ctx context.Context, run names.Run, c *concepts.Concept) error {
	set, err := revision.Concepts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	c = set.ByRecord(c.Record)
	known, err := revision.Facts(ctx, run.DB, run.Project.ID)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("concepts.show", view.ConceptOf(c, set.DisplayLabel(c, run.Repo().Device().ID)))
	}
	if err := run.Page("concepts"); err != nil {
		return err
	}
	run.Printf("%s  %s\n", run.Style().Yellow(set.DisplayLabel(c, run.Repo().Device().ID)+" "+c.ID),
		run.Style().Bold(run.Safe(c.Name)))
	names.OptionalField(run.Env, "Topic", c.Topic)
	names.OptionalField(run.Env, "Summary", c.Summary)
	if c.MergedInto != "" {
		names.Field(run.Env, "Merged", "into "+set.DisplayLabel(set.ByRecord(c.MergedInto), run.Repo().Device().ID))
	}
	if c.Removed {
		names.Field(run.Env, "Removed", "yes")
	}
	names.OptionalField(run.Env, "Files", strings.Join(c.Files, " "))
	names.OptionalField(run.Env, "Words", strings.Join(c.Keywords, ", "))
	names.Field(run.Env, "Made", term.TimeText(c.Created))
	names.Field(run.Env, "Updated", term.TimeText(c.Updated))
	for _, id := range c.Sessions {
		if got := set.SessionMembership(id); got.Concept == c {
			names.Field(run.Env, "Session", strings.TrimSpace(term.ShortID(id)+"  "+got.Reason))
		}
	}
	for i := range known.Exchanges {
		if x := &known.Exchanges[i]; set.MembershipOf(x.ID, x.Session).Concept == c {
			run.Printf("\n")
			showExchange(run.Env, x)
		}
	}
	return nil
}

// showExchange prints an exchange with its live facts.
func showExchange(e *app.Env, x *facts.Exchange) {
	head := fmt.Sprintf("%s  %s#%d..%d", x.ID, term.ShortID(x.Session), x.From, x.To)
	e.Printf("%s  %s\n", e.Style().Yellow(e.Safe(head)), e.Safe(app.OneLine(cmp.Or(x.Summary, x.Topic))))
	for _, f := range x.Facts {
		if f.Live() {
			e.Printf("    %-10s %s\n", f.Kind, e.Safe(app.OneLine(f.Text)))
		}
	}
}
