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
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/view"
)

// FactOptions select facts.
type FactOptions struct {
	Kinds      []facts.Kind
	verdict    string
	unverified bool
	Open       bool
	all        bool
	number     int
}

// Facts returns mem facts.
func Facts(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:  "facts",
		Usage: "list facts that Claude or a model found",
		Description: "A fact is one sentence with its evidence, quotes of messages. \"mem facts draft\" prints\n" +
			"undistilled messages with the instruction; \"mem facts save\" reads the answer and looks\n" +
			"each quote up: a fact whose quotes exist is quoted, other facts are refused. \"mem facts\n" +
			"verify\" prints the question whether the quotes support the fact, and reads the answers:\n" +
			"a yes makes the fact verified, a no removes it. Facts are never edited in place: \"mem\n" +
			"log\" lists every change.",
		Subcommands: slices.Concat(factsReadCommands(e), factsWriteCommands(e), factsChange(e)),
	}
}

func (o *FactOptions) flags() []cli.Flag {
	return []cli.Flag{
		app.ParsedFlag(&o.Kinds, "kind,k",
			"only facts of `KIND`: request, action, decision, issue, solution, preference; several with commas", ParseKinds),
		app.ChoiceFlag(&o.verdict, "verdict", "only facts that are `VERDICT`: verified, quoted or stated", "verified",
			"quoted", "stated"),
		app.BoolFlag(&o.unverified, "unverified", "only facts that are not verified"),
		app.BoolFlag(&o.Open, "open", "only issues that nothing has resolved"),
		app.BoolFlag(&o.all, "all,a", "also facts that were superseded, refuted, removed or hidden by \"mem revoke\""),
		app.IntFlag(&o.number, "number,n", "print the newest `N` only"),
	}
}

// ParseKinds parses kinds of facts, separated by commas.
func ParseKinds(s string) ([]facts.Kind, error) {
	var out []facts.Kind
	for word := range strings.SplitSeq(s, ",") {
		k, err := facts.ParseKind(strings.TrimSuffix(strings.TrimSpace(word), "s"))
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

// Wants reports whether the options select f.
func (o *FactOptions) Wants(f facts.Fact) bool {
	switch {
	case !o.all && !f.Live(),
		len(o.Kinds) > 0 && !slices.Contains(o.Kinds, f.Kind),
		o.verdict != "" && string(f.Verdict) != o.verdict,
		o.unverified && f.Verdict == facts.Verified,
		o.Open && !f.Open():
		return false
	}
	return true
}

// factsReadCommands returns the subcommands that only read.
func factsReadCommands(e *app.Env) []*cli.Command {
	var o FactOptions
	return []*cli.Command{
		{Name: "list", Usage: "list facts, the newest first", ArgsUsage: "[<session>]", Flags: o.flags(),
			Action: app.Action(e, 0, 1, o.list)},
		{Name: "show", Usage: "print facts with their evidence", ArgsUsage: "<fact>|<session>",
			Action: app.Action(e, 1, 1, runFactsShow)},
		factsVerify(e),
	}
}

func (o *FactOptions) list(ctx context.Context, run app.Run) error {
	if o.number < 0 {
		return app.Usagef("option --number cannot be %d: want a whole number from 0", o.number)
	}
	projects, err := run.ListedProjects(ctx)
	session := ""
	if name := run.Operand(0); err == nil && name != "" {
		var rev state.Rev
		if rev, err = run.ResolveSession(ctx, name); err == nil {
			projects, session = []state.Project{rev.Project}, rev.Session.ID
		}
	}
	if err != nil {
		return err
	}
	var list []view.Fact
	for _, p := range projects {
		set, err := revision.Facts(ctx, run.DB, p.ID)
		if err != nil {
			return err
		}
		for f := range set.All() {
			if o.Wants(*f) && (session == "" || f.Session == session) {
				list = append(list, view.Fact{Fact: *f, Project: app.ProjectName(run.Env, p)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b view.Fact) int { return b.Time.Compare(a.Time) })
	if o.number > 0 {
		list = list[:min(len(list), o.number)]
	}
	l := run.List("facts.list", "facts", "fact", "kind", "verdict", "trust", "at", run.ProjectColumn(),
		app.Column{Name: "text", Shrinks: true})
	l.None, l.Hint = "no matching facts in any project", "mem facts draft"
	if len(projects) == 1 {
		l.None = "no matching facts in project " + projects[0].Name
		l.Hint = "mem facts draft; of another project: -p NAME, of all: --all-projects"
	}
	for _, f := range list {
		l.Add(f, app.Cell{Full: f.ID, Paint: run.Style().Yellow}, string(f.Kind), verdictCell(run.Env, f.Fact), f.Trust,
			placeCell(f.Fact), f.Project, f.Text)
	}
	return l.Print()
}

// verdictCell returns the verdict on a fact and its state.
func verdictCell(e *app.Env, f facts.Fact) app.Cell {
	c := app.Cell{Full: FateOf(f)}
	if c.Full != string(facts.Verified) {
		c.Paint = e.Style().Dim
	}
	return c
}

// FateOf returns the verdict on a fact, or what happened to it since.
func FateOf(f facts.Fact) string {
	switch {
	case f.Removed:
		return "removed"
	case f.Revoked != "":
		return "revoked"
	case f.Refuted:
		return "refuted"
	case f.SupersededBy != "":
		return "superseded"
	case f.Resolved:
		return "resolved"
	}
	return string(f.Verdict)
}

// placeCell returns the place of a fact's evidence as a revision.
func placeCell(f facts.Fact) app.Cell {
	if f.Session == "" {
		return app.Cell{Full: "-"}
	}
	var numbers []string
	for _, v := range f.Evidence {
		if n := fmt.Sprint(v.Message); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	list := strings.Join(numbers, ",")
	return app.Cell{Full: f.Session + "#" + list, Short: term.ShortID(f.Session) + "#" + list}
}

// oneFact resolves the name of one fact.
func oneFact(ctx context.Context, run app.Run, id string) (facts.Fact, state.Project, error) {
	f, p, err := revision.FactNamed(ctx, run.DB, run.Scope, id)
	var missing *state.NotFoundError
	var many *state.AmbiguousError
	switch {
	case errors.As(err, &missing):
		return f, p, app.WithHint(err, "IDs of facts begin with f:, see \"mem facts list\"")
	case errors.As(err, &many):
		return f, p, app.WithHint(err, "write more of the name")
	}
	return f, p, err
}

// Line describes a fact in one line: kind, text, place and author.
func Line(f facts.Fact) string {
	at := term.ShortID(f.Session)
	if len(f.Evidence) > 0 {
		at += fmt.Sprintf("#%d", f.Evidence[0].Message)
	}
	return fmt.Sprintf("%s  %s, %s, %s: %s", f.ID, at, f.Trust, f.Kind, app.OneLine(cmp.Or(f.Shown(), f.Text)))
}
