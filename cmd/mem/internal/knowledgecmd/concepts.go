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
			}, Action: app.Action(e, 0, 0, func(ctx context.Context, run app.Run) error {
				return runConceptsList(ctx, run, all)
			})},
			{Name: "show", Usage: "print a concept with its exchanges", ArgsUsage: "<concept>",
				Action: app.Action(e, 1, 1, runConceptsShow)},
			{Name: "candidates", Usage: "print unassigned members and the instruction to assign them", ArgsUsage: "[<session>]",
				Description: "Without a session, prints all unassigned exchanges of the project.",
				Action:      app.Action(e, 0, 1, runConceptsCandidates)},
		}, conceptChanges(e)...),
	}
}

// conceptNamed returns the concept of an operand.
func conceptNamed(ctx context.Context, run app.Run, name string) (*concepts.Concept, error) {
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

func runConceptsList(ctx context.Context, run app.Run, all bool) error {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return err
	}
	l := run.List("concepts.list", "concepts", "concept", "name", app.Column{Name: "sessions", Right: true},
		app.Column{Name: "exchanges", Right: true}, "updated", run.ProjectColumn(), app.Column{Name: "topic", Shrinks: true})
	l.Page, l.None, l.Hint = "concepts", "no concepts", "list the unassigned exchanges: mem concepts candidates"
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
			x := conceptOf(run, set, c)
			x.Project = app.ProjectName(run.Env, p)
			l.Add(x, app.Cell{Full: x.As, Paint: run.Style().Yellow}, c.Name, len(c.Sessions), len(c.Exchanges),
				c.Updated, p.Name, conceptText(set, c, run.Repo().Device().ID))
		}
	}
	return l.Print()
}

// conceptOf returns a concept with its label on this device.
func conceptOf(run app.Run, set *concepts.Set, c *concepts.Concept) view.Concept {
	return view.ConceptOf(c, set.DisplayLabel(c, run.Repo().Device().ID))
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

func runConceptsShow(ctx context.Context, run app.Run) error {
	c, err := conceptNamed(ctx, run, run.Operand(0))
	if err != nil {
		return err
	}
	return ShowConcept(ctx, run, c)
}

// ShowConcept prints a concept with its members.
func ShowConcept(ctx context.Context, run app.Run, c *concepts.Concept) error {
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
		return run.PrintJSON("concepts.show", conceptOf(run, set, c))
	}
	run.Page("concepts")
	run.Printf("%s  %s\n", run.Style().Yellow(set.DisplayLabel(c, run.Repo().Device().ID)+" "+c.ID),
		run.Style().Bold(run.Safe(c.Name)))
	merged := ""
	if c.MergedInto != "" {
		merged = "into " + set.DisplayLabel(set.ByRecord(c.MergedInto), run.Repo().Device().ID)
	}
	run.Describe("Topic", c.Topic, "Summary", c.Summary, "Merged", merged, "Removed", app.If(c.Removed, "yes"),
		"Files", strings.Join(c.Files, " "), "Words", strings.Join(c.Keywords, ", "),
		"Made", term.TimeText(c.Created), "Updated", term.TimeText(c.Updated))
	for _, id := range c.Sessions {
		if got := set.SessionMembership(id); got.Concept == c {
			run.Describe("Session", strings.TrimSpace(term.ShortID(id)+"  "+got.Reason))
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
