package factcmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// A shownFact is the JSON form of a fact with the authors of its quotes.
type shownFact struct {
	facts.Fact
	Said []string `json:"said_by"`
}

func runFactsShow(ctx context.Context, e *app.Env, name string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		if knowledge.IsFactID(name) {
			f, p, err := oneFact(ctx, run, name)
			if err != nil {
				return err
			}
			run.Project = p
			return Show(ctx, run, f)
		}
		rev, err := run.ResolveSession(ctx, name)
		if err != nil {
			return err
		}
		return showDistilled(ctx, run, rev)
	})
}

// Show prints a fact with its evidence.
func Show(ctx context.Context, run names.Run, f facts.Fact) error {
	said, err := run.Knowledge().Evidence(ctx, run.Project.ID, f)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		return run.PrintJSON("facts.show", shownFact{f, said})
	}
	names.HeadLine(run.Env, "fact "+f.ID, string(f.Kind)+"  "+FateOf(f))
	names.Field(run.Env, "Text", f.Text)
	if f.Reason != "" {
		names.Field(run.Env, "Verdict", string(f.Verdict)+": "+f.Reason)
	}
	names.Field(run.Env, "Trust", f.Trust.String())
	if f.Confirmed {
		names.Field(run.Env, "Confirmed", "by the user")
	}
	names.OptionalField(run.Env, "Hidden", f.Revoked)
	for i, v := range f.Evidence {
		who := said[i]
		if who == "" {
			who = "not there"
		}
		names.Field(run.Env, "Evidence",
			fmt.Sprintf("%s#%d  %s: %s", term.ShortID(f.Session), v.Message, who, quoteText(v.Quote)))
	}
	for _, line := range [][2]string{
		{"Keywords", strings.Join(f.Keywords, ", ")}, {"Files", strings.Join(f.Files, ", ")}, {"Superseded", f.SupersededBy},
		{"Refuted", byWhom(f.Refuted, f.RefutedBy)}, {"Resolved", byWhom(f.Resolved, f.ResolvedBy)},
		{"Resolution", f.Resolution},
	} {
		if line[1] != "" {
			names.Field(run.Env, line[0], line[1])
		}
	}
	if !f.Time.IsZero() {
		names.Field(run.Env, "Date", run.DateText(f.Time))
	}
	return nil
}

func byWhom(is bool, by string) string {
	if is && by == "" {
		return "by hand"
	}
	return by
}

func quoteText(s string) string { return `"` + strings.Join(strings.Fields(s), " ") + `"` }

// showDistilled prints the exchanges of a session with their facts.
func showDistilled(ctx context.Context, run names.Run, rev state.Rev) error {
	set, err := run.Revision().Facts(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	list := set.LiveExchanges(rev.Session.ID)
	if run.Opt.JSON {
		return run.PrintJSON("facts.show", struct {
			Session   string           `json:"session"`
			Through   int              `json:"through"`
			Exchanges []facts.Exchange `json:"exchanges"`
		}{rev.Session.ID, set.ThroughOf(rev.Session.ID, rev.Session.Now().Generation), append([]facts.Exchange{}, list...)})
	}
	if len(list) == 0 {
		run.Note("%s has no facts yet", term.ShortID(rev.Session.ID))
		run.Hint("%s", term.Shell("mem", "facts", "draft", term.ShortID(rev.Session.ID)))
		return nil
	}
	var w io.Writer = run.Out
	if run.Term.Stdout {
		w = &term.SafeWriter{W: run.Out}
	}
	return run.Checkout().Write(ctx, state.Rev{Kind: state.IsL2, Project: rev.Project, Session: rev.Session},
		checkout.Text, w)
}

// A recheck is the JSON form of a verified fact.
type recheck struct {
	ID      string        `json:"id"`
	Session string        `json:"session"`
	Text    string        `json:"text"`
	Was     facts.Verdict `json:"was"`
	Now     facts.Verdict `json:"now"`
	Trust   facts.Trust   `json:"trust"`
	Reason  string        `json:"reason,omitempty"`
	Problem string        `json:"problem,omitempty"`
}

func runFactsVerify(ctx context.Context, e *app.Env, operands []string) error {
	return names.WithMemory(ctx, e, func(run names.Run) error {
		list, err := factsNamed(ctx, &run, operands)
		if err != nil {
			return err
		}
		var checked []knowledge.CheckedFact
		if len(list) > 0 || len(operands) == 0 {
			if checked, err = run.Knowledge().VerifyFacts(ctx, run.Project.ID, list); err != nil {
				return err
			}
		}
		return printChecked(e, checked)
	})
}

// factsNamed resolves names of facts and of sessions (all their live facts). All must be of one project, which becomes
// the project of the run.
func factsNamed(ctx context.Context, run *names.Run, operands []string) ([]facts.Fact, error) {
	var list []facts.Fact
	for i, name := range operands {
		var some []facts.Fact
		var p state.Project
		if knowledge.IsFactID(name) {
			f, home, err := oneFact(ctx, *run, name)
			if err != nil {
				return nil, err
			}
			some, p = []facts.Fact{f}, home
		} else {
			rev, err := run.ResolveSession(ctx, name)
			if err != nil {
				return nil, err
			}
			set, err := run.Revision().Facts(ctx, rev.Project.ID)
			if err != nil {
				return nil, err
			}
			p = rev.Project
			for _, x := range set.LiveExchanges(rev.Session.ID) {
				some = append(some, x.Facts...)
			}
		}
		if i > 0 && p.ID != run.Project.ID {
			return nil, app.Usagef("%s is of another project than %s", name, operands[0])
		}
		run.Project, list = p, append(list, some...)
	}
	return list, nil
}

func printChecked(e *app.Env, checked []knowledge.CheckedFact) error {
	answer := struct {
		Checked int       `json:"checked"`
		Worse   int       `json:"not_as_stored"`
		Facts   []recheck `json:"facts"`
	}{Checked: len(checked), Facts: []recheck{}}
	t := e.Table(app.Column{Name: "fact"}, app.Column{Name: "was"}, app.Column{Name: "now"},
		app.Column{Name: "why", Shrinks: true})
	counts := map[facts.Verdict]int{}
	for _, c := range checked {
		r := recheck{c.Fact.ID, c.Fact.Session, c.Fact.Text, c.Fact.Verdict, c.Now.Verdict, c.Now.Trust,
			c.Now.Reason, c.Problem}
		answer.Facts = append(answer.Facts, r)
		counts[c.Now.Verdict]++
		if !c.Changed() {
			continue
		}
		answer.Worse++
		now, why := string(r.Now), r.Reason
		switch {
		case r.Problem != "":
			now, why = "unknown", r.Problem
		case r.Was == r.Now:
			why = fmt.Sprintf("trust is %s, was stored as %s", r.Trust, c.Fact.Trust)
		}
		t.Row(app.Cell{Full: r.ID, Paint: e.Style().Yellow}, app.Cell{Full: string(r.Was)},
			app.Cell{Full: now, Paint: e.Style().Red}, app.Cell{Full: why})
	}
	if e.Opt.JSON {
		if err := e.PrintJSON("facts.verify", answer); err != nil {
			return err
		}
	} else {
		if err := t.Flush(); err != nil {
			return err
		}
		if len(checked) == 0 {
			e.Note("there are no facts to check")
			return nil
		}
		var parts []string
		for _, v := range []facts.Verdict{facts.Verified, facts.Inferred, facts.Rejected} {
			if counts[v] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
			}
		}
		e.Note("%d fact%s checked: %s; %d not as stored", len(checked), term.Plural(len(checked)),
			strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "), answer.Worse)
	}
	if answer.Worse > 0 {
		return app.Exit(app.ExitNo)
	}
	return nil
}
