package derive

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
	"github.com/memvcs/mem/layers/copies"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tier"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// Name and version of the step in recipes that summarises a week or month.
const (
	SummaryStep        = "summary"
	SummaryStepVersion = 3
)

// summarise computes a summary that is due and stages it. It returns nil if the summary is up to date.
func (a *tierRun) summarise(ctx context.Context, stage *refs.Stage, due tier.Due) (*TierSummary,
	*records.Composition, error) {
	sessions := make([]*state.Session, len(due.Sessions))
	for i, id := range due.Sessions {
		sessions[i] = a.st.Session(id)
	}
	counter := largestCounter(a.m, sessions)
	plan := records.SummaryPlan{Tier: string(due.Tier), Period: due.Name, Asked: a.o.Policy.WeeklyTokens,
		Counter: counter.ID()}
	if due.Tier == tier.Monthly {
		plan.Asked = a.o.Policy.MonthlyTokens
	}
	out := &TierSummary{Due: due, Label: due.Label()}
	var sources []tier.Source
	for _, s := range sessions {
		plan.Parts = append(plan.Parts, records.SummaryPart{Session: s.ID, Original: s.Now().Original})
		sources = append(sources, tier.Source{Facts: a.facts[s.ID]})
	}
	var known []byte
	plan.Facts, known = factsObject(sources)
	if was := a.st.Composition(out.Label); was != nil {
		if was.Tier != string(due.Tier) {
			return nil, nil, errors.New("a composition with that name exists and is not a summary")
		}
		old, err := was.SummaryPlan()
		if err != nil || was.Revoked == "" && old.Of() == plan.Of() {
			return nil, nil, err
		}
		out.Replaced = true
	}
	if a.o.DryRun {
		out.TokensIn = a.estimate(due)
		return out, nil, nil
	}
	same, err := copies.Among(ctx, a.m, a.p.ID, sessions)
	if err != nil {
		return nil, nil, err
	}
	for i, s := range sessions {
		if err := a.source(ctx, s, copiedUpTo(s, same), counter, &plan.Parts[i], &sources[i]); err != nil {
			return nil, nil, err
		}
		out.TokensIn += sources[i].Tokens
	}
	sum, err := tier.Summarise(ctx, tier.Request{Tier: due.Tier, Name: out.Label, Budget: plan.Asked, Counter: counter,
		Sources: sources})
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
	out.Tokens = c.Tokens
	for _, i := range sum.Omitted {
		if len(sources[i].Segments) > 0 {
			out.Omitted++
		}
	}
	return out, c, nil
}

// estimate returns the estimated tokens of the sessions of a summary.
func (a *tierRun) estimate(due tier.Due) (n int) {
	for _, s := range a.sessions {
		if slices.Contains(due.Sessions, s.ID) {
			n += s.Tokens
		}
	}
	return n
}

// source reads the longest version of a session, or the session itself if it has none. The messages up to after are
// those of another session of the summary.
func (a *tierRun) source(ctx context.Context, s *state.Session, after int, counter tokens.Counter, part *records.SummaryPart,
	x *tier.Source) (err error) {
	now := s.Now()
	x.Part = compose.Part{Session: s.ID, Project: a.p.Name, Title: s.Title(), Date: now.Ended(),
		Messages: now.Scan.Messages}
	x.Distance = max(1, a.st.Distance(s))
	var full *records.Version
	for _, v := range a.st.VersionsOf(s.ID) {
		if v.Origin() == now.Original && v.Since == "" && v.After == after && (full == nil || v.TokensOut > full.TokensOut) {
			full = v
		}
	}
	if full != nil {
		x.Part.Version, x.Part.Hash, x.Tokens = full.Label, full.Derivation.Output, full.TokensIn
		if from, err := tokens.ByID(full.Counter); err == nil && from.Scale(1000) > 0 {
			x.Tokens = full.TokensIn * counter.Scale(1000) / from.Scale(1000)
		}
		x.Segments, err = segments(ctx, a.m, a.p.ID, full.Derivation.Output)
	} else {
		x.Part.Version, x.Part.Hash = "original", now.Original
		err = a.readOriginal(ctx, s, after, counter, part, x)
	}
	part.Label = x.Part.Version
	return err
}

// readOriginal reads the L1 of a session after a message, with its markers.
func (a *tierRun) readOriginal(ctx context.Context, s *state.Session, after int, counter tokens.Counter, part *records.SummaryPart,
	x *tier.Source) error {
	without, err := trust.LeaveOut(ctx, a.m, a.p.ID, s, s.Now().Original)
	if err != nil {
		return err
	}
	mat, err := markers.ReadMaterial(ctx, a.m, a.p.ID, s, s.Now(), without)
	if err != nil {
		return err
	}
	plan, _, err := compress.Resolve(compress.Settings{Ratio: 1, Keepit: compress.PreserveAll, Counter: counter, Since: after},
		mat.Stats, mat.Marks)
	if errors.Is(err, compress.ErrEmpty) {
		return nil // no text
	}
	if err != nil {
		return err
	}
	plan.Without = without
	res, err := compress.Run(ctx, mat.Input, plan, compress.Extract{})
	x.Segments, x.Tokens, part.Base = res.Segments, counter.Scale(mat.Stats.After(after).Raw()), &plan
	return err
}

func (a *tierRun) composition(plan records.SummaryPlan, sum tier.Summary) (*records.Composition, error) {
	c := &records.Composition{
		Name: sum.Name, Budget: sum.Budget, Strategy: compose.Proportional.String(), Tokens: sum.Tokens, Counter: sum.Counter,
		Messages: sum.Messages(), Tier: plan.Tier,
	}
	all := plan.Parts
	plan.Parts, plan.Budget = nil, sum.Budget
	next := 0
	for i, part := range all {
		if slices.Contains(sum.Omitted, i) {
			part.Base = nil
			plan.Left = append(plan.Left, part)
			continue
		}
		part.Cut = &sum.Cuts[next]
		p := sum.Parts[next]
		next++
		plan.Parts = append(plan.Parts, part)
		c.Parts = append(c.Parts, records.CompositionPart{Project: a.p.ID, Session: p.Session, Label: p.Version,
			Output: p.Hash, Tokens: p.Tokens})
		c.Derivation.Inputs = append(c.Derivation.Inputs, p.Hash)
	}
	if !plan.Facts.IsZero() {
		c.Derivation.Inputs = append(c.Derivation.Inputs, plan.Facts)
	}
	var err error
	c.Derivation.Recipe, err = lineage.NewRecipe(SummaryStep, SummaryStepVersion, plan)
	c.Derivation.Output = objects.Sum(sum.Encode())
	c.Typed = typedKeys(sum.Transcript())
	return c, err
}

// RebuildSummary computes the parts of a summary again from its inputs.
func RebuildSummary(ctx context.Context, db *state.DB, rev state.Rev, was compose.Composition,
	counter tokens.Counter) (compose.Composition, error) {
	c := rev.Composition
	now := compose.Composition{Name: c.Name, Budget: c.Budget}
	plan, err := c.SummaryPlan()
	if err == nil && len(was.Parts) != len(plan.Parts) {
		err = fmt.Errorf("%s has %d parts in its recipe, %d in its text", c.Name, len(plan.Parts), len(was.Parts))
	}
	if err != nil {
		return now, err
	}
	known := map[string][]tier.Fact{}
	if !plan.Facts.IsZero() {
		b, err := originals.Object(ctx, db, rev.Project.ID, plan.Facts)
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
		segs, err := summarySource(ctx, db, rev.Project.ID, p, part.Hash)
		if err == nil {
			part.Segments, err = p.Cut.Rebuild(ctx, segs, known[p.Session], counter)
		}
		if err != nil {
			return now, fmt.Errorf("part %d, %s:%s: %w", i+1, records.ShortID(p.Session), p.Label, err)
		}
		now.Parts = append(now.Parts, part)
	}
	return now, nil
}

// summarySource reads the input segments of a part of a summary.
func summarySource(ctx context.Context, db *state.DB, project refs.Project, p records.SummaryPart,
	input objects.Hash) ([]compress.Segment, error) {
	if p.Label != "original" {
		return segments(ctx, db, project, input)
	}
	if p.Base == nil {
		return nil, nil
	}
	st, err := trust.State(ctx, db, project)
	if err != nil {
		return nil, err
	}
	s := st.Session(p.Session)
	if s == nil || s.Point(input) == nil {
		return nil, fmt.Errorf("its source %s: %w", input.Short(), objects.ErrNotFound)
	}
	mat, err := markers.ReadMaterial(ctx, db, project, s, s.Point(input), p.Base.Without)
	if err != nil {
		return nil, err
	}
	res, err := compress.Run(ctx, mat.Input, *p.Base, compress.Extract{})
	return res.Segments, err
}

// tierFacts returns the facts that summaries may repeat, by session: live, verified and with a trust above tool.
func tierFacts(ctx context.Context, db *state.DB, p refs.Project) (map[string][]tier.Fact, error) {
	set, err := revision.Facts(ctx, db, p)
	if err != nil {
		return nil, err
	}
	out := map[string][]tier.Fact{}
	for f := range set.All() {
		if !f.Current() || f.Verdict != facts.Verified || f.Trust < facts.Assistant || len(f.Evidence) == 0 ||
			f.Session == "" {
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

// factsObject encodes the facts of sources and returns the hash and the bytes, nil if there are none.
func factsObject(sources []tier.Source) (objects.Hash, []byte) {
	var all []tier.Fact
	for _, s := range sources {
		all = append(all, s.Facts...)
	}
	if len(all) == 0 {
		return objects.Hash{}, nil
	}
	b := encodeFacts(all)
	return objects.Sum(b), b
}

// encodeFacts encodes facts as JSON lines, an input of a summary.
func encodeFacts(list []tier.Fact) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for _, f := range list {
		if err := e.Encode(f); err != nil {
			panic("derive: a fact does not marshal: " + err.Error()) // it is made of strings and numbers
		}
	}
	return b.Bytes()
}

// decodeFacts decodes the facts of a summary by session.
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
