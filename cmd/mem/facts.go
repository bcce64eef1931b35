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
	"github.com/memvcs/mem/layers/state"
)

type factsOptions struct {
	kinds      []facts.Kind
	verdict    string
	unverified bool
	open       bool
	all        bool
	number     int
}

// facts is the command about what was established in sessions.
func (e *Env) facts() *cli.Command {
	return &cli.Command{
		Name:  "facts",
		Usage: "distil sessions into facts with evidence, look them up and check them",
		Description: "A fact is one sentence with the quotes that say it. \"mem facts draft\" prints what nobody distilled yet, with\n" +
			"the instruction; \"mem facts save\" reads the answer and looks every quote up: what is not there is rejected, what cannot be\n" +
			"told from it is marked as inferred. Nothing is edited in place: \"mem log\" shows every change.",
		Commands: slices.Concat(e.factsLook(), e.factsMake(), e.factsChange()),
	}
}

func (o *factsOptions) flags() []*cli.Flag {
	return []*cli.Flag{
		cli.Parsed(&o.kinds, "kind,k", "only facts of `KIND`: request, action, decision, issue, solution, preference; several with commas", parseKinds),
		cli.Choice(&o.verdict, "verdict", "only facts that are `VERDICT`: verified or inferred", "verified", "inferred"),
		cli.Bool(&o.unverified, "unverified", "only facts that are not verified"),
		cli.Bool(&o.open, "open", "only issues that nothing has resolved"),
		cli.Bool(&o.all, "all,a", "also facts that were superseded, refuted, removed or hidden by \"mem revoke\""),
		cli.Int(&o.number, "number,n", "print the newest `N` only"),
	}
}

func parseKinds(s string) ([]facts.Kind, error) {
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

func (o *factsOptions) wants(f facts.Fact) bool {
	switch {
	case !o.all && !f.Stands(),
		len(o.kinds) > 0 && !slices.Contains(o.kinds, f.Kind),
		o.verdict != "" && string(f.Verdict) != o.verdict,
		o.unverified && f.Verdict == facts.Verified,
		o.open && !f.Open():
		return false
	}
	return true
}

// factsLook are the subcommands that only look.
func (e *Env) factsLook() []*cli.Command {
	var o, found factsOptions
	var all bool
	return []*cli.Command{
		{Name: "list", Usage: "list facts, the newest first", ArgsUsage: "[<session>]", Flags: o.flags(), Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 1); err != nil {
				return err
			}
			return e.runFactsList(ctx, o, e.operand(0))
		}},
		{Name: "show", Usage: "print facts with their evidence", ArgsUsage: "<fact>|<session>", Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 1); err != nil {
				return err
			}
			return e.runFactsShow(ctx, e.operand(0))
		}},
		{Name: "search", Usage: "find facts by their words", ArgsUsage: "<word>...", Flags: found.flags(), Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, 100); err != nil {
				return err
			}
			return e.runFactsSearch(ctx, found, strings.Join(e.operands, " "))
		}},
		{Name: "verify", Usage: "verify facts against the transcripts again", ArgsUsage: "[<fact>|<session>]...",
			Flags: []*cli.Flag{cli.Bool(&all, "all", "check every fact of the project")},
			Action: func(ctx context.Context, _ *cli.Command) error {
				if all == (len(e.operands) > 0) {
					return withHint(usagef("say which facts to check: name them, or give --all"), "mem facts verify --all")
				}
				return e.runFactsVerify(ctx, e.operands)
			}},
		e.factsCheck(),
	}
}

func (e *Env) runFactsList(ctx context.Context, o factsOptions, name string) error {
	if o.number < 0 {
		return usagef("option --number cannot be %d: want a whole number from 0", o.number)
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects, err := e.listedProjects(ctx, m, sc)
		session := ""
		if err == nil && name != "" {
			var rev state.Rev
			if rev, err = e.resolveSession(ctx, m, sc, name); err == nil {
				projects, session = []state.Project{rev.Project}, rev.Session.ID
			}
		}
		if err != nil {
			return err
		}
		var list []listedFact
		for _, p := range projects {
			set, err := m.Revision().Facts(ctx, p.ID)
			if err != nil {
				return err
			}
			for f := range set.All() {
				if o.wants(*f) && (session == "" || f.Session == session) {
					list = append(list, listedFact{Fact: *f, Project: e.projectName(p)})
				}
			}
		}
		slices.SortStableFunc(list, func(a, b listedFact) int { return b.Time.Compare(a.Time) })
		if o.number > 0 {
			list = list[:min(len(list), o.number)]
		}
		switch {
		case len(list) > 0 || e.opt.json:
		case len(projects) == 1:
			e.note("no such facts in the project %s", projects[0].Name)
			e.hint("mem facts draft; of another project: -p NAME, of all: --all-projects")
		default:
			e.note("no such facts in any project")
			e.hint("mem facts draft")
		}
		return e.printFacts(ctx, m, "facts.list", list)
	})
}

// printFacts prints a list of facts.
func (e *Env) printFacts(ctx context.Context, m *layers.Memory, what string, list []listedFact) error {
	strangers, err := e.strangers(ctx, m)
	if err != nil {
		return err
	}
	all := false
	for i, f := range list {
		list[i].Stranger = strangers.of(f.Device)
		all = all || f.Project != ""
	}
	if e.opt.json {
		return e.printJSON(what, struct {
			Facts []listedFact `json:"facts"`
		}{append([]listedFact{}, list...)})
	}
	columns := []column{{name: "fact"}, {name: "kind"}, {name: "verdict"}, {name: "trust"}, {name: "at"}}
	if all {
		columns = append(columns, column{name: "project", most: 16})
	}
	t := e.table(append(columns, column{name: "text", shrinks: true})...)
	for _, f := range list {
		row := []cell{{full: f.ID, paint: e.style().yellow}, {full: string(f.Kind)}, e.verdictCell(f.Fact), trustCell(f.Trust.String(), f.Stranger), placeCell(f.Fact)}
		if all {
			row = append(row, cell{full: f.Project})
		}
		t.row(append(row, cell{full: f.Text})...)
	}
	return t.flush()
}

// verdictCell shows the verdict on a fact, and what became of it.
func (e *Env) verdictCell(f facts.Fact) cell {
	c := cell{full: fateOf(f)}
	if c.full != string(facts.Verified) {
		c.paint = e.style().dim
	}
	return c
}

func fateOf(f facts.Fact) string {
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

// placeCell shows where the evidence of a fact is, as "mem show" takes it.
func placeCell(f facts.Fact) cell {
	if f.Session == "" {
		return cell{full: "-"}
	}
	var numbers []string
	for _, v := range f.Evidence {
		if n := fmt.Sprint(v.Message); !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	list := strings.Join(numbers, ",")
	return cell{full: f.Session + "#" + list, short: shortID(f.Session) + "#" + list}
}

// oneFact finds the fact that a name stands for.
func (e *Env) oneFact(ctx context.Context, m *layers.Memory, sc state.Scope, id string) (facts.Fact, state.Project, error) {
	f, p, err := m.Revision().FactNamed(ctx, sc, id)
	var missing *state.NotFoundError
	var many *state.AmbiguousError
	switch {
	case errors.As(err, &missing):
		return f, p, withHint(err, "IDs of facts begin with f:, see \"mem facts list\"")
	case errors.As(err, &many):
		return f, p, withHint(err, "write more of the name")
	}
	return f, p, err
}

func (e *Env) runFactsSearch(ctx context.Context, o factsOptions, query string) error {
	if o.number < 0 {
		return usagef("option --number cannot be %d: want a whole number from 0", o.number)
	}
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		projects, err := e.listedProjects(ctx, m, sc)
		if err != nil {
			return err
		}
		type hit struct {
			facts.Hit
			project string
		}
		var hits []hit
		for _, p := range projects {
			set, err := m.Revision().Facts(ctx, p.ID)
			if err != nil {
				return err
			}
			for _, h := range set.Search(query, o.wants) {
				hits = append(hits, hit{h, e.projectName(p)})
			}
		}
		slices.SortStableFunc(hits, func(a, b hit) int { return a.Compare(b.Hit) })
		if o.number > 0 {
			hits = hits[:min(len(hits), o.number)]
		}
		var list []listedFact
		for _, h := range hits {
			list = append(list, listedFact{Fact: h.Fact, Project: h.project})
		}
		if err := e.printFacts(ctx, m, "facts.search", list); err != nil {
			return err
		}
		if len(list) == 0 {
			return exit(exitNo)
		}
		return nil
	})
}
