package provenance

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strings"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trace"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
)

// A tracer builds the sides of a comparison.
type tracer struct {
	m        *state.DB
	sessions map[string]*state.Session // by source
}

func (t *tracer) compare(a, b Operand) Comparison {
	if x, y := a.Rev.Session, b.Rev.Session; x != nil && y != nil && x != y && x.FileID() == y.FileID() {
		source := t.source(x, pointOf(a.Rev)) // the messages of branches have the same numbers in their common beginning
		for i := range b.Side.Pieces {
			b.Side.Pieces[i].Source = source
		}
		for i := range b.Side.Marks {
			b.Side.Marks[i].Source = source
		}
	}
	return Comparison{A: a, B: b, Difference: trace.Diff(a.Side, b.Side, counterOf(t.m, a.Rev, b.Rev)), Sessions: t.sessions}
}

// counterOf returns the counter for a comparison: that of the first operand that has one.
func counterOf(db *state.DB, revs ...state.Rev) tokens.Counter {
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
			return markers.Counter(db, r.Session.Now())
		}
	}
	return tokens.For(db.Opts.Model)
}

// source names the conversation in which the messages of a growth point are numbered: a rewritten file is another one.
func (t *tracer) source(s *state.Session, p *records.Point) string {
	key := fmt.Sprintf("%s %d", s.ID, p.Generation)
	t.sessions[key] = s
	return key
}

func (t *tracer) operand(ctx context.Context, rev state.Rev) (Operand, error) {
	c := Operand{Rev: rev, Name: rev.Name()}
	var err error
	switch rev.Kind {
	case state.IsSession, state.IsOriginal:
		p := rev.Session.Now()
		if rev.Kind == state.IsOriginal {
			if q := rev.Session.Point(rev.Hash); q != nil {
				p = q
			}
		}
		c.Side, err = t.original(ctx, rev, p, 1, p.Scan.Values)
	case state.IsEarlier:
		c.Side, err = t.original(ctx, rev, rev.Point, 1, rev.Point.Scan.Values)
	case state.IsMessages:
		c.Side, err = t.original(ctx, rev, rev.Session.Now(), rev.From, rev.To)
	case state.IsL1:
		c.Side, err = t.refined(ctx, rev)
	case state.IsVersion:
		c.Side, err = t.version(ctx, rev)
	case state.IsComposition:
		if c.Side, err = t.composition(ctx, rev); err == nil {
			c.Name, err = stateName(ctx, t.m, rev)
		}
	default:
		err = fmt.Errorf("a %s %w", rev.Kind, ErrNotComparable)
	}
	return c, err
}

// original returns the conversation and the tool output of some messages.
func (t *tracer) original(ctx context.Context, rev state.Rev, p *records.Point, from, to int) (trace.Side, error) {
	side := trace.Side{}
	items, err := markers.Items(ctx, t.m, rev.Project.ID, rev.Session, p)
	if err != nil {
		return side, err
	}
	for msg, err := range markers.Messages(ctx, t.m, rev.Project.ID, p, [2]int{from, to}, nil) {
		if err != nil {
			return side, err
		}
		for _, b := range msg.Blocks {
			if b.Kind == transcript.ToolResult {
				items = append(items, version.Item{N: msg.N, Kind: version.Call, Text: b.Result()})
			}
		}
	}
	sort.SliceStable(items, func(i, j int) bool { return items[i].N < items[j].N })
	t.fromItems(&side, rev.Session, p, items, [2]int{from, to})
	if from == 1 && to == p.Scan.Values {
		counts, err := markers.Counts(ctx, t.m, rev.Project.ID, rev.Session, p)
		if err != nil {
			return side, err
		}
		side.Tokens = markers.Counter(t.m, p).Scale(counts.Raw)
	}
	return side, nil
}

func (t *tracer) refined(ctx context.Context, rev state.Rev) (trace.Side, error) {
	p, side := rev.Session.Now(), trace.Side{}
	items, err := markers.Items(ctx, t.m, rev.Project.ID, rev.Session, p)
	t.fromItems(&side, rev.Session, p, items, [2]int{1, p.Scan.Values})
	return side, err
}

// fromItems adds the items of the messages in span to a side that contains their texts; all markers count as kept.
func (t *tracer) fromItems(side *trace.Side, of *state.Session, p *records.Point, items []version.Item, span [2]int) {
	in, source := compress.Input{Items: items}, t.source(of, p)
	marks := of.Marks(in, p)
	put := func(it *version.Item, role, text, keep string) {
		if keep != "" || strings.TrimSpace(text) != "" {
			side.Pieces = append(side.Pieces, pieceOf(source, it, role, text, keep))
		}
	}
	for i := range items {
		it := &items[i]
		if it.N < span[0] || it.N > span[1] {
			continue
		}
		these := marks[sort.Search(len(marks), func(k int) bool { return marks[k].Message >= it.N }):]
		marked := it.Kind == version.User && len(these) > 0 && these[0].Message == it.N
		if !marked {
			put(it, roleOf(it.Kind), it.String(), "")
			continue
		}
		at, text := 0, it.Text
		for _, k := range these {
			if k.Message != it.N {
				break
			}
			if k.Start < at || k.End > len(text) {
				continue
			}
			put(it, "user", text[at:k.Start], "")
			put(it, "user", k.Text, k.Weight.String())
			at = k.End
			side.Marks = append(side.Marks, trace.Mark{Source: source, Fate: planning.Fate{Mark: k, Kept: true}})
		}
		put(it, "user", text[at:], "")
	}
}

func pieceOf(source string, it *version.Item, role, text, keep string) trace.Piece {
	return trace.Piece{Source: source, Segment: version.Segment{Role: role, Text: text,
		Src: [][2]int{{it.N, max(it.N, it.To)}}, Keep: keep}}
}

// roleOf returns the role of a segment of an item.
func roleOf(k version.Kind) string {
	switch k {
	case version.User, version.Answer:
		return "user"
	case version.Script:
		return "script"
	case version.Assistant, version.Recap:
		return "assistant"
	}
	return "tool"
}

func (t *tracer) version(ctx context.Context, rev state.Rev) (trace.Side, error) {
	side, source := trace.Side{}, t.source(rev.Session, pointOf(rev))
	side.Tokens = rev.Version.TokensOut
	err := originals.Stream(ctx, t.m, rev.Project.ID, rev.Version.Derivation.Output, func(r io.Reader) error {
		for s, err := range version.Segments(r) {
			if err != nil {
				return err
			}
			side.Pieces = append(side.Pieces, trace.Piece{Source: source, Segment: s})
		}
		return nil
	})
	if err != nil {
		return side, err
	}
	side.Marks, err = t.marks(ctx, rev, source)
	return side, err
}

// marks returns the markers of a version with their fates.
func (t *tracer) marks(ctx context.Context, rev state.Rev, source string) ([]trace.Mark, error) {
	fates, err := markers.Fates(ctx, t.m, rev)
	out := []trace.Mark{}
	for _, f := range fates {
		out = append(out, trace.Mark{Source: source, Fate: f.Fate, Judged: f.Judged})
	}
	return out, err
}

// pointOf returns the growth point that a version or original comes from.
func pointOf(rev state.Rev) *records.Point {
	if rev.Kind == state.IsVersion {
		return state.PointOf(rev.Session, rev.Version.Origin())
	}
	return state.PointOf(rev.Session, rev.Hash)
}

func (t *tracer) composition(ctx context.Context, rev state.Rev) (trace.Side, error) {
	side := trace.Side{}
	side.Tokens = rev.Composition.Tokens
	c, err := checkout.Composed(ctx, t.m, rev)
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
func (t *tracer) part(ctx context.Context, p records.CompositionPart) (source string, marks []trace.Mark, err error) {
	rev, err := partRev(ctx, t.m, p)
	if err != nil || rev.Session == nil {
		return p.Session + " 0", nil, err
	}
	point := pointOf(rev)
	source = t.source(rev.Session, point)
	if rev.Kind == state.IsVersion {
		marks, err = t.marks(ctx, rev, source)
		return source, marks, err
	}
	side := trace.Side{}
	items, err := markers.Items(ctx, t.m, rev.Project.ID, rev.Session, point)
	t.fromItems(&side, rev.Session, point, items, [2]int{1, point.Scan.Values})
	return source, append([]trace.Mark{}, side.Marks...), err
}

// partRev returns what a part of a composition is; its Session is nil if the memory does not have it.
func partRev(ctx context.Context, db *state.DB, p records.CompositionPart) (state.Rev, error) {
	st, err := trust.Outline(ctx, db, p.Project)
	if err != nil {
		return state.Rev{}, err
	}
	rev := state.Rev{Kind: state.IsOriginal, Project: st.AsProject(), Session: st.Session(p.Session), Hash: p.Output}
	if rev.Session == nil || p.Label == "original" {
		return rev, nil
	}
	for _, v := range slices.Backward(st.Versions) {
		if v.Session == p.Session && v.Derivation.Output == p.Output {
			return revision.At(rev, v), nil
		}
	}
	return state.Rev{}, nil
}

// keptMarks returns the markers that a text shows to have been kept.
func keptMarks(source string, segs []version.Segment) []trace.Mark {
	marks := []trace.Mark{}
	for _, s := range segs {
		w, err := keepit.ParseWeight(s.Keep)
		if err != nil {
			continue
		}
		f := planning.Fate{Kept: true, Mark: planning.Mark{Message: s.Src[0][0],
			Marker: keepit.Marker{Weight: w, Text: s.Text, TextEnd: len(s.Text)}}}
		marks = append(marks, trace.Mark{Source: source, Fate: f})
	}
	return marks
}

// Markdown returns what WriteMarkdown writes.
func Markdown(ctx context.Context, db *state.DB, rev state.Rev) (string, error) {
	var b strings.Builder
	err := WriteMarkdown(ctx, db, rev, &b)
	return b.String(), err
}

// WriteMarkdown writes what a revision names as a page, for a comparison by lines.
func WriteMarkdown(ctx context.Context, db *state.DB, rev state.Rev, w io.Writer) error {
	if rev.Kind == state.IsOriginal || rev.Kind == state.IsSession {
		rev.Point = state.PointOf(rev.Session, rev.Hash)
		return checkout.WriteSaid(ctx, db, rev, checkout.Markdown, w)
	}
	if rev.Kind == state.IsMessages && rev.From > rev.To {
		return nil
	}
	return checkout.Write(ctx, db, rev, checkout.Markdown, w)
}

// Lines compares what is compared by lines: it yields the lines of [trace.UnifiedDiff]. An error ends it.
func Lines(ctx context.Context, db *state.DB, c Comparison) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		var a, b string
		var err error
		if !c.Since {
			a, err = Markdown(ctx, db, c.A.Rev)
		}
		if err == nil {
			b, err = Markdown(ctx, db, c.B.Rev)
		}
		if err != nil {
			yield("", err)
			return
		}
		for line := range trace.UnifiedDiff("a/"+c.A.Name, "b/"+c.B.Name, a, b) {
			if !yield(line, nil) {
				return
			}
		}
	}
}
