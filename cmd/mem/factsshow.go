package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/state"
)

// A shownFact is a fact as --json prints it, with who said each quote.
type shownFact struct {
	facts.Fact
	Said []string `json:"said_by"`
}

func (e *Env) runFactsShow(ctx context.Context, name string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		if knowledge.IsFactID(name) {
			f, p, err := e.oneFact(ctx, m, sc, name)
			if err != nil {
				return err
			}
			return e.showFact(ctx, m, p, f)
		}
		rev, err := e.resolveSession(ctx, m, sc, name)
		if err != nil {
			return err
		}
		return e.showDistilled(ctx, m, rev)
	})
}

// showFact prints all that is known of a fact.
func (e *Env) showFact(ctx context.Context, m *layers.Memory, p state.Project, f facts.Fact) error {
	said, err := m.Knowledge().Evidence(ctx, p.ID, f)
	if err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("facts.show", shownFact{f, said})
	}
	e.headLine("fact "+f.ID, string(f.Kind)+"  "+fateOf(f))
	e.field("Text", f.Text)
	if f.Reason != "" {
		e.field("Verdict", string(f.Verdict)+": "+f.Reason)
	}
	e.field("Trust", f.Trust.String())
	if f.Confirmed {
		e.field("Confirmed", "by the user")
	}
	e.about("Hidden", f.Revoked)
	for i, v := range f.Evidence {
		who := said[i]
		if who == "" {
			who = "not there"
		}
		e.field("Evidence", fmt.Sprintf("%s#%d  %s: %s", shortID(f.Session), v.Message, who, quoteText(v.Quote)))
	}
	for _, line := range [][2]string{
		{"Keywords", strings.Join(f.Keywords, ", ")}, {"Files", strings.Join(f.Files, ", ")}, {"Superseded", f.SupersededBy},
		{"Refuted", byWhom(f.Refuted, f.RefutedBy)}, {"Resolved", byWhom(f.Resolved, f.ResolvedBy)}, {"Resolution", f.Resolution},
	} {
		if line[1] != "" {
			e.field(line[0], line[1])
		}
	}
	if !f.Time.IsZero() {
		e.field("Date", e.dateText(f.Time))
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
func (e *Env) showDistilled(ctx context.Context, m *layers.Memory, rev state.Rev) error {
	set, err := m.Revision().Facts(ctx, rev.Project.ID)
	if err != nil {
		return err
	}
	list := set.Of(rev.Session.ID)
	if e.opt.json {
		return e.printJSON("facts.show", struct {
			Session   string           `json:"session"`
			Through   int              `json:"through"`
			Exchanges []facts.Exchange `json:"exchanges"`
		}{rev.Session.ID, set.ThroughOf(rev.Session.ID, rev.Session.Now().Generation), append([]facts.Exchange{}, list...)})
	}
	if len(list) == 0 {
		e.note("%s has no facts yet", shortID(rev.Session.ID))
		e.hint("%s", shell("mem", "facts", "draft", shortID(rev.Session.ID)))
		return nil
	}
	var w io.Writer = e.out
	if e.Term.Stdout {
		w = &safeWriter{w: e.out}
	}
	return m.Checkout().Write(ctx, state.Rev{Kind: state.IsL2, Project: rev.Project, Session: rev.Session}, checkout.Text, w)
}

// A recheck is a fact that was checked once more, as --json prints it.
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

func (e *Env) runFactsVerify(ctx context.Context, names []string) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		list, err := e.factsNamed(ctx, m, &sc, names)
		if err != nil {
			return err
		}
		var checked []knowledge.CheckedFact
		if len(list) > 0 || len(names) == 0 {
			if checked, err = m.Knowledge().VerifyFacts(ctx, sc.Project.ID, list); err != nil {
				return err
			}
		}
		return e.printChecked(checked)
	})
}

// factsNamed returns the facts that names stand for; of a session all that stand. They are all of one project.
func (e *Env) factsNamed(ctx context.Context, m *layers.Memory, sc *state.Scope, names []string) ([]facts.Fact, error) {
	var list []facts.Fact
	for i, name := range names {
		var some []facts.Fact
		var p state.Project
		if knowledge.IsFactID(name) {
			f, home, err := e.oneFact(ctx, m, *sc, name)
			if err != nil {
				return nil, err
			}
			some, p = []facts.Fact{f}, home
		} else {
			rev, err := e.resolveSession(ctx, m, *sc, name)
			if err != nil {
				return nil, err
			}
			set, err := m.Revision().Facts(ctx, rev.Project.ID)
			if err != nil {
				return nil, err
			}
			p = rev.Project
			for _, x := range set.Of(rev.Session.ID) {
				some = append(some, x.Facts...)
			}
		}
		if i > 0 && p.ID != sc.Project.ID {
			return nil, usagef("%s is of another project than %s", name, names[0])
		}
		sc.Project, list = p, append(list, some...)
	}
	return list, nil
}

func (e *Env) printChecked(checked []knowledge.CheckedFact) error {
	answer := struct {
		Checked int       `json:"checked"`
		Worse   int       `json:"not_as_stored"`
		Facts   []recheck `json:"facts"`
	}{Checked: len(checked), Facts: []recheck{}}
	t := e.table(column{name: "fact"}, column{name: "was"}, column{name: "now"}, column{name: "why", shrinks: true})
	counts := map[facts.Verdict]int{}
	for _, c := range checked {
		r := recheck{c.Fact.ID, c.Fact.Session, c.Fact.Text, c.Fact.Verdict, c.Now.Verdict, c.Now.Trust, c.Now.Reason, c.Problem}
		answer.Facts = append(answer.Facts, r)
		counts[c.Now.Verdict]++
		if !c.Worse() {
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
		t.row(cell{full: r.ID, paint: e.style().yellow}, cell{full: string(r.Was)}, cell{full: now, paint: e.style().red}, cell{full: why})
	}
	if e.opt.json {
		if err := e.printJSON("facts.verify", answer); err != nil {
			return err
		}
	} else {
		if err := t.flush(); err != nil {
			return err
		}
		if len(checked) == 0 {
			e.note("there are no facts to check")
			return nil
		}
		var parts []string
		for _, v := range []facts.Verdict{facts.Verified, facts.Inferred, facts.Rejected} {
			if counts[v] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
			}
		}
		e.note("%d fact%s checked: %s; %d not as stored", len(checked), plural(len(checked)), strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "), answer.Worse)
	}
	if answer.Worse > 0 {
		return exit(exitNo)
	}
	return nil
}
