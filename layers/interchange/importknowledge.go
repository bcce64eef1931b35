package interchange

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
)

// Limits of texts, the same as for facts and rules that are added by hand.
const (
	maxFact  = 1000
	maxRule  = 500
	maxWord  = 300
	maxWords = 50
	minQuote = 12 // bytes of a fact that is searched verbatim in its session
)

// A knowledgeImport imports the facts, concepts and rules of one project.
type knowledgeImport struct {
	*projectImport
	project   state.Project
	facts     *facts.Set
	out       knowledge.Foreign
	taken     map[string]bool             // keys of facts in out
	of        map[string][]facts.Exchange // by exchange ID of the store
	ambiguous map[string]bool             // exchange IDs that several sessions use
	items     map[string][]version.Item   // of sessions, by id
}

// knowledge imports facts, concepts and rules in one commit.
func (w *projectImport) knowledge(ctx context.Context) error {
	if len(w.p.Facts)+len(w.p.Concepts)+len(w.p.Rules) == 0 {
		return nil
	}
	p, err := w.project(ctx)
	if err != nil {
		return err
	}
	g := &knowledgeImport{projectImport: w, project: p, of: map[string][]facts.Exchange{}, ambiguous: map[string]bool{},
		items: map[string][]version.Item{}, taken: map[string]bool{}}
	g.out.Tool = w.store.Tool
	if g.facts, err = revision.Facts(ctx, w.m, p.ID); err != nil {
		return err
	}
	g.findAmbiguous()
	first := len(w.report.Items)
	if err = g.importAll(ctx); err == nil {
		return nil
	}
	w.report.Items = w.report.Items[:first] // nothing was stored
	return err
}

// importAll checks the facts, concepts and rules and commits those that are new.
func (g *knowledgeImport) importAll(ctx context.Context) error {
	for _, step := range []func(context.Context) error{g.importFacts, g.importConcepts, g.importRules} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if g.o.DryRun {
		return nil
	}
	return knowledge.SaveForeign(ctx, g.m, g.project, g.out)
}

// findAmbiguous finds exchange IDs that several sessions use. They identify no exchange.
func (g *knowledgeImport) findAmbiguous() {
	session := map[string]string{}
	for _, f := range g.p.Facts {
		if f.Exchange == "" {
			continue
		}
		if s, ok := session[f.Exchange]; ok && s != f.Session {
			g.ambiguous[f.Exchange] = true
		}
		session[f.Exchange] = f.Session
	}
}

func (g *knowledgeImport) record(it Item) {
	it.Project = g.project.Name
	g.projectImport.record(it)
}

func (g *knowledgeImport) importFacts(ctx context.Context) error {
	for _, f := range g.p.Facts {
		it := Item{Kind: "fact", Name: f.ID, Project: g.project.Name}
		given, s, err := g.factOf(ctx, f)
		if err == nil {
			var found knowledge.ForeignFact
			found, err = knowledge.CheckForeign(ctx, g.m, g.project, given, s)
			if errors.Is(err, knowledge.ErrAllRejected) && s != nil { // the quote exists but does not support the fact
				given.Evidence = nil
				found, err = knowledge.CheckForeign(ctx, g.m, g.project, given, nil)
			}
			if err == nil {
				g.addFact(it, f, found)
				continue
			}
		}
		if err := g.reject(it, err); err != nil {
			return err
		}
	}
	return nil
}

// addFact adds a checked fact.
func (g *knowledgeImport) addFact(it Item, f storeFact, found knowledge.ForeignFact) {
	fact := found.Exchange.Facts[0]
	it.As = fact.Name()
	old, known := g.facts.Fact(fact.Name())
	key, exchange := fact.Key().String(), found.Exchange
	switch {
	case known:
		it.Status = Unchanged
		if i := slices.IndexFunc(g.facts.Exchanges, func(x facts.Exchange) bool { return x.ID == old.Exchange }); i >= 0 {
			exchange = g.facts.Exchanges[i]
		}
		if old.Removed {
			it.Why = "it was removed here"
		}
	case g.taken[key]:
		it.Status, it.Why = skipped, "another entry says the same"
	default:
		it.Status, it.Why = New, string(fact.Verdict)
		if len(fact.Evidence) == 0 {
			it.Why += ": it has no evidence; mem facts confirm makes it count"
		}
		found.Resolved, found.Resolution = f.Resolved && fact.Kind == facts.Issue, g.text(f.Resolution, maxFact)
		g.out.Facts, g.taken[key] = append(g.out.Facts, found), true
	}
	if f.Exchange != "" {
		g.of[f.Exchange] = append(g.of[f.Exchange], exchange)
	}
	g.record(it)
}

// factOf converts a fact. If the session contains the text of the fact verbatim, the fact gets this quote as evidence.
func (g *knowledgeImport) factOf(ctx context.Context, f storeFact) (given facts.Fact, s *state.Session, err error) {
	kinds := map[string]facts.Kind{decisionKind: facts.Decision, patternKind: facts.Decision,
		issueKind: facts.Issue, actionKind: facts.Action}
	given = facts.Fact{From: g.store.Tool, Kind: kinds[f.Kind], Text: flat(g.redacted(f.Text, &redact.Numbers{})),
		Keywords: g.words(f.Keywords), Files: g.words(f.Files)}
	if g.forgotten(f.Text) {
		return given, nil, errForgotten
	}
	if len(given.Text) > maxFact {
		return given, nil, fmt.Errorf("its text has %d bytes: a fact has at most %d", len(given.Text), maxFact)
	}
	h := g.targetOf(f.Session)
	if h == nil || h.project.ID != g.project.ID || h.change == "conflict" || len(given.Text) < minQuote {
		return given, nil, nil
	}
	if s, err = g.session(ctx, h); s == nil || err != nil {
		return given, nil, err
	}
	items, ok := g.items[h.id]
	if !ok {
		if items, err = markers.Items(ctx, g.m, h.project.ID, s, s.Now()); err != nil {
			return given, nil, err
		}
		for i := range items {
			items[i].Text = flat(items[i].Text)
		}
		g.items[h.id] = items
	}
	for _, it := range items {
		if it.Kind <= version.Assistant && strings.Contains(it.Text, given.Text) {
			given.Evidence = []facts.Evidence{{Message: it.N, Quote: given.Text}}
			return given, s, nil
		}
	}
	return given, nil, nil
}

// words returns the keywords or files that are within the limits of facts.
func (g *knowledgeImport) words(list []string) (out []string) {
	for _, s := range list {
		if s = g.text(s, maxWord); s != "" && len(out) < maxWords && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// text returns a text on one line without secrets, or "" if it is too long or contains forgotten text.
func (g *knowledgeImport) text(s string, most int) string {
	if g.forgotten(s) {
		return ""
	}
	if s = flat(g.redacted(s, &redact.Numbers{})); len(s) > most {
		return ""
	}
	return s
}

// from returns the reason for the record of an imported entry.
func (g *knowledgeImport) from(id string) string {
	return fmt.Sprintf("imported from %s (%s)", g.store.Tool, g.text(id, maxWord))
}

func (g *knowledgeImport) importConcepts(ctx context.Context) error {
	set, err := revision.Concepts(ctx, g.m, g.project.ID)
	if err != nil {
		return err
	}
	for _, c := range g.p.Concepts {
		it := Item{Kind: "concept", Name: c.ID + " " + c.Name}
		made := concepts.Definition{Name: g.text(c.Name, maxWord), Topic: g.text(c.Topic, maxWord),
			Summary: g.text(c.Summary, maxFact), Reason: g.from(c.ID)}
		if g.forgotten(c.Name + "\n" + c.Topic + "\n" + c.Summary) {
			it.Status, it.Why = NotMapped, errForgotten.Error()
			g.record(it)
			continue
		}
		if made.Name == "" || c.Summary != "" && made.Summary == "" {
			it.Status, it.Why = NotMapped, "its name or its summary is too long"
			g.record(it)
			continue
		}
		if i := slices.IndexFunc(set.Concepts, func(x *concepts.Concept) bool { return x.Name == made.Name }); i >= 0 {
			x := set.Concepts[i]
			it.As, it.Status = x.Label, Unchanged
			if x.Summary != made.Summary {
				it.Status, it.Why = Conflict, "memory has a concept of that name with another summary"
			}
			g.record(it)
			continue
		}
		named := func(x knowledge.ForeignConcept) bool { return x.Definition.Name == made.Name }
		if slices.ContainsFunc(g.out.Concepts, named) {
			it.Status, it.Why = Conflict, "another entry has the same name"
			g.record(it)
			continue
		}
		exchanges := g.members(c)
		it.Status, it.As = New, set.LabelAfter(len(g.out.Concepts))
		g.out.Concepts = append(g.out.Concepts, knowledge.ForeignConcept{Definition: made, Exchanges: exchanges})
		g.record(it)
	}
	return nil
}

// members returns the exchanges of a concept. It records those that are not imported.
func (g *knowledgeImport) members(c storeConcept) (out []facts.Exchange) {
	for _, id := range c.Exchanges {
		it := Item{Status: NotMapped, Kind: "member", Name: c.ID + " " + id}
		switch list := g.of[id]; {
		case g.ambiguous[id]:
			it.Why = "several sessions have such an exchange"
			g.record(it)
		case len(list) == 0:
			it.Why = "the store has no such exchange"
			g.record(it)
		default:
			out = append(out, list...)
		}
	}
	return out
}

func (g *knowledgeImport) importRules(ctx context.Context) error {
	set, err := revision.Rules(ctx, g.m, g.project.ID)
	if err != nil {
		return err
	}
	for _, r := range g.p.Rules {
		it := Item{Kind: "rule", Name: r.ID}
		made := permanent.Definition{Type: r.Type, Text: g.text(r.Text, maxRule), Problem: g.text(r.Problem, maxRule),
			Files: g.words(r.Files), Trust: facts.Tool, Confidence: min(r.Confidence, 70), State: permanent.Proposed,
			Reason: g.from(r.ID)}
		switch known := set.WithText(made.Text); {
		case g.forgotten(r.Text + "\n" + r.Problem):
			it.Status, it.Why = NotMapped, errForgotten.Error()
		case made.Text == "" || r.Problem != "" && made.Problem == "":
			it.Status, it.Why = NotMapped, fmt.Sprintf("its text is too long: a rule has at most %d bytes", maxRule)
		case known != nil:
			it.Status, it.As = Unchanged, known.ID
		case slices.ContainsFunc(g.out.Rules, func(x permanent.Definition) bool { return x.Text == made.Text }):
			it.Status, it.Why = skipped, "another entry says the same"
		default:
			it.Status, it.Why = New, "proposed: mem rules promote makes it hold"
			g.out.Rules = append(g.out.Rules, made)
		}
		g.record(it)
	}
	return nil
}
