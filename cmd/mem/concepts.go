package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/state"
)

// concepts is the command about the jobs of a project.
func (e *Env) concepts() *cli.Command {
	var all bool
	return &cli.Command{
		Name:  "concepts",
		Usage: "list and edit concepts",
		Description: "A concept is one job of the project, with all exchanges about it in any session. What belongs to it is decided by meaning, by\n" +
			"whoever has read it; nothing is ever put together because of the files or words it shares. \"candidates\" prints what there is to\n" +
			"decide, \"assign\" says what was decided.",
		Commands: append([]*cli.Command{
			{Name: "list", Usage: "list the concepts", Flags: []*cli.Flag{
				cli.Bool(&all, "all,a", "also those that were merged or removed"),
			}, Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 0, 0); err != nil {
					return err
				}
				return e.runConceptsList(ctx, all)
			}},
			{Name: "show", Usage: "print a concept with its exchanges", ArgsUsage: "<concept>", Action: func(ctx context.Context, c *cli.Command) error {
				if err := e.wantOperands(c, 1, 1); err != nil {
					return err
				}
				return e.runConceptsShow(ctx, e.operand(0))
			}},
			{Name: "candidates", Usage: "print unassigned members and the instruction to assign them", ArgsUsage: "[<session>]",
				Description: "Without a session: all exchanges of the project that nobody has assigned.",
				Action: func(ctx context.Context, c *cli.Command) error {
					if err := e.wantOperands(c, 0, 1); err != nil {
						return err
					}
					return e.runConceptsCandidates(ctx, e.operand(0))
				}},
		}, e.conceptChanges()...),
	}
}

// A conceptAnswer is a concept as --json prints it.
type conceptAnswer struct {
	*concepts.Concept
	As      string `json:"as"`                // as it is typed here
	Project string `json:"project,omitempty"` // with --all-projects
}

// concept finds a concept by what the user typed.
func (e *Env) concept(ctx context.Context, m *layers.Memory, p state.Project, name string) (*concepts.Concept, error) {
	c, err := m.Revision().FindConcept(ctx, p.ID, name)
	var missing *state.NotFoundError
	switch {
	case errors.As(err, &missing) && len(missing.Candidates) == 0:
		return nil, withHint(err, "make one: mem concepts assign SESSION --new NAME --topic TOPIC")
	case err != nil:
		return nil, withHint(err, "mem concepts list")
	}
	return c, nil
}

func (e *Env) runConceptsList(ctx context.Context, all bool) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects, err := e.listedProjects(ctx, m, sc)
		if err != nil {
			return err
		}
		strangers, err := e.strangers(ctx, m)
		if err != nil {
			return err
		}
		columns := []column{{name: "concept"}, {name: "name"}, {name: "sessions", right: true}, {name: "exchanges", right: true}, {name: "updated"}}
		if e.opt.allProjects {
			columns = append(columns, column{name: "project", most: 16})
		}
		t := e.table(append(columns, column{name: "topic", shrinks: true})...)
		answers := []conceptAnswer{}
		for _, p := range projects {
			set, err := m.Revision().Concepts(ctx, p.ID)
			if err != nil {
				return err
			}
			list := set.Live()
			if all {
				list = set.Concepts
			}
			for _, c := range list {
				as := set.Shown(c, m.Repo().Device().ID)
				answers = append(answers, conceptAnswer{c, as, e.projectName(p)})
				row := []cell{{full: as, paint: e.style().yellow}, {full: c.Name}, {full: fmt.Sprint(len(c.Sessions))}, {full: fmt.Sprint(len(c.Exchanges))}, e.timeCell(c.Updated)}
				if e.opt.allProjects {
					row = append(row, cell{full: p.Name})
				}
				t.row(append(row, cell{full: conceptText(set, c, m.Repo().Device().ID, strangers)})...)
			}
		}
		if e.opt.json {
			return e.printJSON("concepts.list", struct {
				Concepts []conceptAnswer `json:"concepts"`
			}{answers})
		}
		if len(answers) == 0 {
			e.note("no concepts")
			e.hint("see what there is to decide: mem concepts candidates")
			return nil
		}
		if err := e.page("concepts"); err != nil {
			return err
		}
		return t.flush()
	})
}

// conceptText says what a concept is about, or what became of it.
func conceptText(set *concepts.Set, c *concepts.Concept, device string, s strangers) string {
	switch {
	case c.MergedInto != "":
		return "merged into " + set.Shown(set.Record(c.MergedInto), device)
	case c.Removed:
		return "removed"
	case c.Revoked != "":
		return hiddenText(c.Topic, c.Revoked)
	case s.of(c.Device) != "":
		return c.Topic + " (device " + s.of(c.Device) + " is not trusted)"
	}
	return c.Topic
}

func (e *Env) runConceptsShow(ctx context.Context, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		c, err := e.concept(ctx, m, sc.Project, name)
		if err != nil {
			return err
		}
		return e.showConcept(ctx, m, sc.Project, c)
	})
}

// showConcept prints a concept with what belongs to it.
func (e *Env) showConcept(ctx context.Context, m *layers.Memory, p state.Project, c *concepts.Concept) error {
	set, err := m.Revision().Concepts(ctx, p.ID)
	if err != nil {
		return err
	}
	c = set.Record(c.Record)
	known, err := m.Revision().Facts(ctx, p.ID)
	if err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("concepts.show", conceptAnswer{c, set.Shown(c, m.Repo().Device().ID), ""})
	}
	if err := e.page("concepts"); err != nil {
		return err
	}
	e.printf("%s  %s\n", e.style().yellow(set.Shown(c, m.Repo().Device().ID)+" "+c.ID), e.style().bold(e.safe(c.Name)))
	e.about("Topic", c.Topic)
	e.about("Summary", c.Summary)
	if c.MergedInto != "" {
		e.field("Merged", "into "+set.Shown(set.Record(c.MergedInto), m.Repo().Device().ID))
	}
	if c.Removed {
		e.field("Removed", "yes")
	}
	e.about("Files", strings.Join(c.Files, " "))
	e.about("Words", strings.Join(c.Keywords, ", "))
	e.field("Made", timeText(c.Made))
	e.field("Updated", timeText(c.Updated))
	for _, id := range c.Sessions {
		if got := set.OfSession(id); got.Concept == c {
			e.field("Session", strings.TrimSpace(shortID(id)+"  "+got.Reason))
		}
	}
	for i := range known.Exchanges {
		if x := &known.Exchanges[i]; set.Of(x.ID, x.Session).Concept == c {
			e.printf("\n")
			e.showExchange(x)
		}
	}
	return nil
}

// showExchange prints an exchange with the facts in it that stand.
func (e *Env) showExchange(x *facts.Exchange) {
	head := fmt.Sprintf("%s  %s#%d..%d", x.ID, shortID(x.Session), x.From, x.To)
	e.printf("%s  %s\n", e.style().yellow(e.safe(head)), e.safe(oneLine(cmp.Or(x.Summary, x.Topic))))
	for _, f := range x.Facts {
		if f.Stands() {
			e.printf("    %-10s %s\n", f.Kind, e.safe(oneLine(f.Text)))
		}
	}
}

// about is field for a value that may be missing.
func (e *Env) about(name, value string) {
	if value != "" {
		e.field(name, value)
	}
}
