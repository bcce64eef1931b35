package layers

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/objects"
)

// A tracer builds the sides of a comparison.
type tracer struct {
	m        *Memory
	sessions map[string]*Session // by source
}

func (t *tracer) compare(a, b Compared) Comparison {
	return Comparison{A: a, B: b, Difference: trace.Diff(a.Side, b.Side, t.m.counterOf(a.Rev, b.Rev)), Sessions: t.sessions}
}

// counterOf returns the counter that a comparison counts by: that of the first side that has been counted.
func (m *Memory) counterOf(revs ...Rev) tokens.Counter {
	for _, r := range revs {
		id := ""
		switch {
		case r.Version != nil:
			id = r.Version.Counter
		case r.Composition != nil:
			id = r.Composition.Counter
		}
		if c, err := tokens.ByID(id); err == nil && id != "" {
			return c
		}
	}
	for _, r := range revs {
		if r.Session != nil {
			return m.counter(r.Session.Now())
		}
	}
	return tokens.For(m.opts.Model)
}

// source names the conversation that the messages of a growth point are counted in: a rewritten file counts anew.
func (t *tracer) source(s *Session, p *Point) string {
	key := fmt.Sprintf("%s %d", s.ID, p.Generation)
	t.sessions[key] = s
	return key
}

func (t *tracer) compared(ctx context.Context, rev Rev) (Compared, error) {
	c := Compared{Rev: rev, Name: nameOf(rev)}
	var err error
	switch rev.Kind {
	case IsSession, IsOriginal:
		p := rev.Session.Now()
		if rev.Kind == IsOriginal {
			if q := rev.Session.point(rev.Hash); q != nil {
				p = q
			}
		}
		c.Side, err = t.original(ctx, rev, p, 1, p.Scan.Values)
	case IsEarlier:
		c.Side, err = t.original(ctx, rev, rev.Point, 1, rev.Point.Scan.Values)
	case IsMessages:
		c.Side, err = t.original(ctx, rev, rev.Session.Now(), rev.From, rev.To)
	case IsL1:
		c.Side, err = t.refined(ctx, rev)
	case IsVersion:
		c.Side, err = t.version(ctx, rev)
	case IsComposition:
		if c.Side, err = t.composition(ctx, rev); err == nil {
			c.Name, err = t.m.stateName(ctx, rev)
		}
	default:
		err = fmt.Errorf("a %s %w", rev.Kind, ErrNotComparable)
	}
	return c, err
}

// original is what was said and what tools returned in some messages.
func (t *tracer) original(ctx context.Context, rev Rev, p *Point, from, to int) (trace.Side, error) {
	items, err := t.m.items(ctx, rev.Project.ID, rev.Session, p)
	if err != nil {
		return trace.Side{}, err
	}
	items = slices.Clone(items)
	for it, err := range t.m.toolOutput(ctx, rev.Project.ID, p, nil)(from, to) {
		if err != nil {
			return trace.Side{}, err
		}
		items = append(items, it)
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].N < items[j].N })
	side := t.fromItems(t.source(rev.Session, p), items, rev.Session.marks(compress.Input{Items: items}, p), from, to)
	if from == 1 && to == p.Scan.Values {
		counts, err := t.m.counts(ctx, rev.Project.ID, rev.Session, p)
		if err != nil {
			return side, err
		}
		side.Tokens = t.m.counter(p).Scale(counts.Raw)
	}
	return side, nil
}

func (t *tracer) refined(ctx context.Context, rev Rev) (trace.Side, error) {
	p := rev.Session.Now()
	items, err := t.m.items(ctx, rev.Project.ID, rev.Session, p)
	return t.fromItems(t.source(rev.Session, p), items, rev.Session.marks(compress.Input{Items: items}, p), 1, p.Scan.Values), err
}

// fromItems returns the entries of some messages as pieces; the markers in them are all kept.
func (t *tracer) fromItems(source string, items []compress.Item, marks []compress.Mark, from, to int) trace.Side {
	var side trace.Side
	put := func(it compress.Item, role, text, keep string) {
		if keep != "" || strings.TrimSpace(text) != "" {
			seg := compress.Segment{Role: role, Text: text, Src: [][2]int{{it.N, max(it.N, it.To)}}, Keep: keep}
			side.Pieces = append(side.Pieces, trace.Piece{Source: source, Segment: seg})
		}
	}
	for _, it := range items {
		if it.N < from || it.N > to {
			continue
		}
		if it.Kind != compress.User {
			put(it, roleOf(it.Kind), itemText(it), "")
			continue
		}
		at := 0
		for _, k := range marks {
			if k.Message != it.N || k.Start < at || k.End > len(it.Text) {
				continue
			}
			put(it, "user", it.Text[at:k.Start], "")
			put(it, "user", k.Text, k.Weight.String())
			at = k.End
			side.Marks = append(side.Marks, trace.Mark{Source: source, Fate: compress.Fate{Mark: k, Kept: true}})
		}
		put(it, "user", it.Text[at:], "")
	}
	return side
}

// roleOf returns the role that a segment of an item has.
func roleOf(k compress.Kind) string {
	switch k {
	case compress.User, compress.Answer:
		return "user"
	case compress.Assistant, compress.Recap:
		return "assistant"
	}
	return "tool"
}

// itemText writes an item as the engine that copies does.
func itemText(it compress.Item) string {
	switch {
	case it.Kind == compress.Edit && it.Text != "":
		return it.Target + ": " + it.Text
	case it.Kind == compress.Edit:
		return it.Target
	}
	return it.Text
}

func (t *tracer) version(ctx context.Context, rev Rev) (trace.Side, error) {
	segs, err := t.m.VersionSegments(ctx, rev.Project.ID, rev.Version)
	if err != nil {
		return trace.Side{}, err
	}
	p := pointOf(rev.Session, rev.Version.Origin())
	side := trace.Side{Tokens: rev.Version.TokensOut}
	source := t.source(rev.Session, p)
	for _, s := range segs {
		side.Pieces = append(side.Pieces, trace.Piece{Source: source, Segment: s})
	}
	fates, err := t.m.Fates(ctx, rev)
	for _, f := range fates {
		side.Marks = append(side.Marks, trace.Mark{Source: source, Fate: f.Fate, Judged: f.Judged})
	}
	return side, err
}

// pointOf returns the growth point with that content, or else the session as it is now.
func pointOf(s *Session, h objects.Hash) *Point {
	if p := s.point(h); p != nil {
		return p
	}
	return s.Now()
}

func (t *tracer) composition(ctx context.Context, rev Rev) (trace.Side, error) {
	side := trace.Side{Tokens: rev.Composition.Tokens}
	c, err := t.m.Composed(ctx, rev)
	if err != nil {
		return side, err
	}
	for i, part := range c.Parts {
		source, marks, err := t.part(ctx, rev.Composition.Parts[i])
		if err != nil {
			return side, err
		}
		if rev.Composition.Tier != "" {
			marks = nil // its version kept more than the summary does
		}
		if marks == nil { // of a session or version that is not here: what was kept is known from the text
			marks = keptMarks(source, part.Segments)
		}
		side.Marks = append(side.Marks, marks...)
		for _, s := range part.Segments {
			side.Pieces = append(side.Pieces, trace.Piece{Source: source, Segment: s})
		}
	}
	return side, nil
}

// part finds out what a part of a composition was made from; marks are nil if that is not known.
func (t *tracer) part(ctx context.Context, p CompositionPart) (source string, marks []trace.Mark, err error) {
	rev, err := t.m.partRev(ctx, p)
	if err != nil || rev.Session == nil {
		return p.Session + " 0", nil, err
	}
	if rev.Kind == IsVersion {
		source = t.source(rev.Session, pointOf(rev.Session, rev.Version.Origin()))
		fates, err := t.m.Fates(ctx, rev)
		marks = []trace.Mark{}
		for _, f := range fates {
			marks = append(marks, trace.Mark{Source: source, Fate: f.Fate, Judged: f.Judged})
		}
		return source, marks, err
	}
	point := pointOf(rev.Session, p.Output)
	source = t.source(rev.Session, point)
	items, err := t.m.items(ctx, rev.Project.ID, rev.Session, point)
	return source, append([]trace.Mark{}, t.fromItems(source, items, rev.Session.marks(compress.Input{Items: items}, point), 1, point.Scan.Values).Marks...), err
}

// partRev returns what a part of a composition is; its Session is nil if the memory does not have it.
func (m *Memory) partRev(ctx context.Context, p CompositionPart) (Rev, error) {
	st, err := m.Outline(ctx, p.Project)
	if err != nil {
		return Rev{}, err
	}
	rev := Rev{Kind: IsOriginal, Project: Project{p.Project, st.Name, st.Identity}, Session: st.session(p.Session), Hash: p.Output}
	if rev.Session == nil || p.Label == "original" {
		return rev, nil
	}
	for _, v := range slices.Backward(st.Versions) {
		if v.Session == p.Session && v.Derivation.Output == p.Output {
			return m.at(ctx, rev, v)
		}
	}
	return Rev{}, nil
}

// keptMarks returns the markers that a text shows to have been kept.
func keptMarks(source string, segs []compress.Segment) []trace.Mark {
	marks := []trace.Mark{}
	for _, s := range segs {
		w, err := keepit.ParseWeight(s.Keep)
		if err != nil {
			continue
		}
		f := compress.Fate{Kept: true, Mark: compress.Mark{Message: s.Src[0][0], Marker: keepit.Marker{Weight: w, Text: s.Text, TextEnd: len(s.Text)}}}
		marks = append(marks, trace.Mark{Source: source, Fate: f})
	}
	return marks
}

// Markdown returns what a revision names as a page, for a comparison by lines.
func (m *Memory) Markdown(ctx context.Context, rev Rev) (string, error) {
	if rev.Kind == IsOriginal || rev.Kind == IsSession {
		segs, err := m.Conversation(ctx, rev.Project.ID, pointOf(rev.Session, rev.Hash))
		return compress.Markdown(segs), err
	}
	if rev.Kind == IsMessages && rev.From > rev.To {
		return "", nil
	}
	var b bytes.Buffer
	err := m.Write(ctx, rev, Markdown, &b)
	return b.String(), err
}
