package layers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// SummaryStep is the name of the step that makes the summary of a week or month, in recipes.
const (
	SummaryStep        = "summary"
	summaryStepVersion = 2
)

// A summaryPlan is the parameters of a summary. Which sessions and facts it is of decides whether it is current.
type summaryPlan struct {
	Tier    string        `json:"tier"`
	Period  string        `json:"period"`
	Asked   int           `json:"asked"`  // tokens; the budget of the composition may be more, for pinned texts
	Budget  int           `json:"budget"` //
	Counter string        `json:"counter"`
	Parts   []summaryPart `json:"parts"`
	Left    []summaryPart `json:"left,omitempty"` // sessions that had no room, without cuts
	Facts   objects.Hash  `json:"facts,omitzero"` // the input behind those of the parts
}

type summaryPart struct {
	Session  string         `json:"session"`
	Label    string         `json:"label"`
	Original objects.Hash   `json:"original"`       // the session as it was
	Base     *compress.Plan `json:"base,omitempty"` // of an original: how it became segments
	Cut      *tier.Cut      `json:"cut,omitempty"`
}

// of returns what a summary is of, to compare.
func (p summaryPlan) of() string {
	var ids []string
	for _, part := range append(slices.Clone(p.Parts), p.Left...) {
		ids = append(ids, part.Session+" "+part.Original.String())
	}
	slices.Sort(ids)
	return fmt.Sprintln(p.Tier, p.Period, p.Asked, p.Facts, strings.Join(ids, "\n"))
}

// summarise makes the summary that is due and stages it; nil if there is a current one, or nothing to say.
func (a *aging) summarise(ctx context.Context, stage *refs.Stage, due tier.Due) (*TierSummary, *Composition, error) {
	counter := a.counterOf(due.Sessions)
	plan := summaryPlan{Tier: string(due.Tier), Period: due.Name, Asked: a.o.Policy.WeeklyTokens, Counter: counter.ID()}
	if due.Tier == tier.Monthly {
		plan.Asked = a.o.Policy.MonthlyTokens
	}
	out := &TierSummary{Due: due, Label: due.Label()}
	var sources []tier.Source
	for _, id := range due.Sessions {
		s := a.st.session(id)
		plan.Parts = append(plan.Parts, summaryPart{Session: id, Original: s.Now().Original})
		sources = append(sources, tier.Source{Facts: a.facts[id]})
	}
	var known []byte
	plan.Facts, known = factsObject(sources)
	if was := a.st.composition(out.Label); was != nil {
		if was.Tier != string(due.Tier) {
			return nil, nil, fmt.Errorf("there is a composition of that name that is no summary")
		}
		old, err := was.summaryPlan()
		if err != nil || was.Revoked == "" && old.of() == plan.of() {
			return nil, nil, err
		}
		out.Anew = true
	}
	if a.o.DryRun {
		for _, s := range a.sessions {
			if slices.Contains(due.Sessions, s.ID) {
				out.TokensIn += s.Tokens
			}
		}
		return out, nil, nil
	}
	for i, id := range due.Sessions {
		if err := a.source(ctx, a.st.session(id), counter, &plan.Parts[i], &sources[i]); err != nil {
			return nil, nil, err
		}
		out.TokensIn += sources[i].Tokens
	}
	sum, err := tier.Summarise(ctx, due.Tier, out.Label, plan.Asked, counter, sources)
	if err != nil {
		return nil, nil, err
	}
	c, err := a.composition(plan, sum)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range [][]byte{sum.Encode(), known} {
		if len(b) > 0 {
			if _, err := stage.Put(b); err != nil {
				return nil, nil, err
			}
		}
	}
	out.Tokens, out.Left = c.Tokens, len(sum.Left)
	return out, c, nil
}

// source reads the fullest version of a session, or the session itself if it has none.
func (a *aging) source(ctx context.Context, s *Session, counter tokens.Counter, part *summaryPart, x *tier.Source) (err error) {
	now := s.Now()
	x.Part = compose.Part{Session: s.ID, Project: a.p.Name, Title: now.Scan.Title, Date: now.Scan.Last, Messages: now.Scan.Messages}
	x.Distance = max(1, a.st.Distance(s))
	var full *Version
	for _, v := range a.st.countedOf(s.ID) {
		if v.Origin() == now.Original && v.Since == "" && (full == nil || v.TokensOut > full.TokensOut) {
			full = v
		}
	}
	if full != nil {
		x.Part.Version, x.Part.Hash, x.Tokens = full.Label, full.Derivation.Output, full.TokensIn
		if from, err := tokens.ByID(full.Counter); err == nil && from.Scale(1000) > 0 {
			x.Tokens = full.TokensIn * counter.Scale(1000) / from.Scale(1000)
		}
		x.Segments, err = a.m.VersionSegments(ctx, a.p.ID, full)
	} else {
		x.Part.Version, x.Part.Hash = "original", now.Original
		err = a.asItIs(ctx, s, counter, part, x)
	}
	part.Label = x.Part.Version
	return err
}

// asItIs reads a session that has no version: all of its L1, with its markers.
func (a *aging) asItIs(ctx context.Context, s *Session, counter tokens.Counter, part *summaryPart, x *tier.Source) error {
	without, err := a.m.leaveOut(ctx, a.p.ID, s, s.Now().Original)
	if err != nil {
		return err
	}
	mat, err := a.m.material(ctx, a.p.ID, s, s.Now(), without)
	if err != nil {
		return err
	}
	plan, _, err := compress.Resolve(compress.Settings{Ratio: 1, Keepit: compress.PreserveAll, Counter: counter}, mat.stats, mat.marks)
	if errors.Is(err, compress.ErrEmpty) || errors.Is(err, compress.ErrSettings) {
		return nil // nothing was said in it
	}
	if err != nil {
		return err
	}
	plan.Without = without
	res, err := compress.Run(ctx, mat.input, plan, compress.Extract{})
	x.Segments, x.Tokens, part.Base = res.Segments, counter.Scale(mat.stats.Raw()), &plan
	return err
}

// composition returns the record of a summary.
func (a *aging) composition(plan summaryPlan, sum tier.Summary) (*Composition, error) {
	c := &Composition{
		Name: sum.Name, Budget: sum.Budget, Strategy: compose.Proportional.String(), Tokens: sum.Tokens, Counter: sum.Counter,
		Messages: sum.Messages(), Tier: plan.Tier,
	}
	all := plan.Parts
	plan.Parts, plan.Budget = nil, sum.Budget
	next := 0
	for i, part := range all {
		if slices.Contains(sum.Left, i) {
			part.Base = nil
			plan.Left = append(plan.Left, part)
			continue
		}
		part.Cut = &sum.Cuts[next]
		p := sum.Parts[next]
		next++
		plan.Parts = append(plan.Parts, part)
		c.Parts = append(c.Parts, CompositionPart{a.p.ID, p.Session, p.Version, p.Hash, p.Tokens})
		c.Derivation.Inputs = append(c.Derivation.Inputs, p.Hash)
	}
	if !plan.Facts.IsZero() {
		c.Derivation.Inputs = append(c.Derivation.Inputs, plan.Facts)
	}
	var err error
	c.Derivation.Recipe, err = lineage.NewRecipe(SummaryStep, summaryStepVersion, plan)
	c.Derivation.Output = objects.Sum(sum.Encode())
	c.Typed = typedKeys(sum.Transcript())
	return c, err
}

// summaryPlan reads the parameters of a summary.
func (c *Composition) summaryPlan() (summaryPlan, error) {
	var p summaryPlan
	err := json.Unmarshal(c.Derivation.Recipe.Params, &p)
	if err == nil && len(p.Parts) != len(c.Parts) {
		err = fmt.Errorf("%d parts in its recipe, %d in its record", len(p.Parts), len(c.Parts))
	}
	if err != nil {
		return p, fmt.Errorf("recipe of %s: %w", c.Name, err)
	}
	return p, nil
}

// resummarise makes the parts of a summary once more from its inputs.
func (m *Memory) resummarise(ctx context.Context, rev Rev, was compose.Composition, counter tokens.Counter) (compose.Composition, error) {
	c := rev.Composition
	now := compose.Composition{Name: c.Name, Budget: c.Budget}
	plan, err := c.summaryPlan()
	if err != nil {
		return now, err
	}
	known := map[string][]tier.Fact{}
	if !plan.Facts.IsZero() {
		b, err := m.object(ctx, rev.Project.ID, plan.Facts)
		if err != nil {
			return now, fmt.Errorf("facts: %w", err)
		}
		if known, err = decodeFacts(b); err != nil {
			return now, err
		}
	}
	for i, p := range plan.Parts {
		part := was.Parts[i]
		part.Hash, part.Segments = c.Derivation.Inputs[i], nil
		segs, err := m.summarySource(ctx, rev.Project.ID, p, part.Hash)
		if err == nil {
			part.Segments, err = p.Cut.Again(ctx, segs, known[p.Session], counter)
		}
		if err != nil {
			return now, fmt.Errorf("part %d, %s:%s: %w", i+1, ShortID(p.Session), p.Label, err)
		}
		now.Parts = append(now.Parts, part)
	}
	return now, nil
}

// summarySource reads the segments that a part of a summary was made of.
func (m *Memory) summarySource(ctx context.Context, project refs.Project, p summaryPart, input objects.Hash) ([]compress.Segment, error) {
	if p.Label != "original" {
		b, err := m.object(ctx, project, input)
		if err != nil {
			return nil, err
		}
		return compress.Decode(b)
	}
	if p.Base == nil {
		return nil, nil
	}
	st, err := m.State(ctx, project)
	if err != nil {
		return nil, err
	}
	s := st.session(p.Session)
	if s == nil || s.point(input) == nil {
		return nil, fmt.Errorf("its source %s: %w", input.Short(), objects.ErrNotFound)
	}
	mat, err := m.material(ctx, project, s, s.point(input), p.Base.Without)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, mat.input, *p.Base, compress.Extract{})
	return res.Segments, err
}

// tierFacts returns the facts of a project that summaries may repeat, by session: those that were verified and still stand,
// that more than a tool said, and that a trusted device states.
func (m *Memory) tierFacts(ctx context.Context, p refs.Project, trust Trust) (map[string][]tier.Fact, error) {
	set, err := m.Facts(ctx, p)
	if err != nil {
		return nil, err
	}
	out := map[string][]tier.Fact{}
	for f := range set.All() {
		if !f.Stands() || f.Verdict != facts.Verified || f.Trust < facts.Assistant || len(f.Evidence) == 0 || f.Session == "" || !trust.Of(f.Device) {
			continue
		}
		var src []int
		for _, e := range f.Evidence {
			src = append(src, e.Message)
		}
		slices.Sort(src)
		x := tier.Fact{ID: f.ID, Session: f.Session, Kind: string(f.Kind), Text: f.Text}
		for _, n := range slices.Compact(src) {
			x.Src = append(x.Src, [2]int{n, n})
		}
		out[f.Session] = append(out[f.Session], x)
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b tier.Fact) int { return strings.Compare(a.ID, b.ID) })
	}
	return out, nil
}

// encodeFacts writes facts as JSON lines: an input of a summary.
func encodeFacts(list []tier.Fact) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, f := range list {
		if err := e.Encode(f); err != nil {
			panic("layers: a fact does not marshal: " + err.Error()) // it is made of strings and numbers
		}
	}
	return b.Bytes()
}

func decodeFacts(b []byte) (map[string][]tier.Fact, error) {
	out := map[string][]tier.Fact{}
	d := json.NewDecoder(bytes.NewReader(b))
	for {
		var f tier.Fact
		err := d.Decode(&f)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err == nil && len(f.Src) == 0 {
			err = errors.New("no source")
		}
		if err != nil {
			return nil, fmt.Errorf("facts of a summary: %w", err)
		}
		out[f.Session] = append(out[f.Session], f)
	}
}
