package tier

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

// A Source is a session for a summary: the segments of a version, and its facts.
type Source struct {
	Part     compose.Part // without segments
	Segments []compress.Segment
	Tokens   int // of the conversation, by the counter of the summary
	Distance int
	Facts    []Fact
}

// A Fact is a fact of a session.
type Fact struct {
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Src     [][2]int `json:"src"` // the messages of its evidence
}

// A Cut says how the segments of a source were reduced to those of its part. The recipe of a summary contains one for
// each part.
type Cut struct {
	Whole bool           `json:"whole,omitempty"` // all facts and segments are included
	Facts int            `json:"facts,omitempty"` // limit for facts in tokens
	Plan  *compress.Plan `json:"plan,omitempty"`  // of the compression of the segments; nil if only facts have room
}

// A Summary is a finished summary.
type Summary struct {
	compose.Composition
	Cuts    []Cut // of the parts
	Omitted []int // sources without text, and those without room: the smallest ones without pinned texts
}

// A Request describes a summary.
type Request struct {
	Tier    Tier
	Name    string
	Budget  int // tokens
	Counter tokens.Counter
	Sources []Source
}

// Summarise creates a summary. It always contains pinned texts: the budget is raised for them, and for the summary of a
// single session.
func Summarise(ctx context.Context, r Request) (Summary, error) {
	s := &builder{Request: r, minTokens: make([]int, len(r.Sources))}
	for i, x := range r.Sources {
		if len(x.Segments) > 0 || len(x.Facts) > 0 {
			s.in = append(s.in, i)
		}
		s.minTokens[i] = s.pinned(i)
	}
	if len(s.in) == 0 && len(r.Sources) > 0 {
		s.in = []int{0}
	}
	for {
		out, err := s.try(ctx)
		var short *compose.BudgetError
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, errRetry):
		case errors.As(err, &short):
			if !s.dropSmallest() {
				s.Budget = max(short.Need, s.Budget+s.Budget/8+16)
			}
		default:
			return Summary{}, err
		}
	}
}

// A builder creates one summary.
type builder struct {
	Request
	in        []int // included sources
	minTokens []int // of each source, for texts that may not be dropped
}

// errRetry means that a part needs more room than expected.
var errRetry = errors.New("try again")

// pinned returns the cost of the pinned texts of source i.
func (s *builder) pinned(i int) int {
	var pins []compress.Segment
	for _, x := range s.Sources[i].Segments {
		if w, err := keepit.ParseWeight(x.Keep); err == nil && w >= keepit.Pinned {
			pins = append(pins, x)
		}
	}
	if len(pins) == 0 {
		return 0
	}
	return compose.Charge(s.Counter, i, pins)
}

// dropSmallest removes the smallest source without pinned texts, unless it is the last one, and reports whether it did.
func (s *builder) dropSmallest() bool {
	smallest := -1
	for k, i := range s.in {
		if s.minTokens[i] == 0 && (smallest < 0 || s.Sources[i].Tokens < s.Sources[s.in[smallest]].Tokens) {
			smallest = k
		}
	}
	if smallest < 0 || len(s.in) == 1 {
		return false
	}
	s.in = slices.Delete(s.in, smallest, smallest+1)
	return true
}

func (s *builder) try(ctx context.Context) (Summary, error) {
	out := Summary{Composition: compose.Composition{Name: s.Name, Budget: s.Budget}}
	ask := compose.Request{Budget: s.Budget, Strategy: compose.Proportional}
	for k, i := range s.in {
		x := s.Sources[i]
		out.Parts = append(out.Parts, x.Part)
		ask.Sources = append(ask.Sources, compose.Source{
			Session: x.Part.Session, Original: compose.Charge(s.Counter, k, x.segments()), Distance: max(1, x.Distance),
			MinTokens: s.minTokens[i],
		})
	}
	ask.Overhead = compose.Reserve(s.Counter, s.Name, out.Parts)
	plan, err := compose.Choose(ask)
	if err != nil {
		return out, err
	}
	for k, pick := range plan.Picks {
		cut := Cut{Whole: true}
		segs := s.Sources[s.in[k]].segments()
		if pick.Kind != compose.PickOriginal {
			if cut, segs, err = s.cut(ctx, k, pick.Tokens); err != nil {
				return out, err
			}
		}
		out.Cuts, out.Parts[k].Segments = append(out.Cuts, cut), segs
	}
	for i := range s.Sources {
		if !slices.Contains(s.in, i) {
			out.Omitted = append(out.Omitted, i)
		}
	}
	return out, out.Measure(s.Counter)
}

// segments returns the facts and then the segments of a source.
func (x Source) segments() []compress.Segment { return append(factSegments(x.Facts), x.Segments...) }

// cut compresses part k to at most limit tokens, half of them for facts.
func (s *builder) cut(ctx context.Context, k, limit int) (Cut, []compress.Segment, error) {
	i := s.in[k]
	x := s.Sources[i]
	cut := Cut{Facts: limit / 2}
	known := fitFacts(x.Facts, cut.Facts, s.Counter)
	charge := func(segs []compress.Segment) int { return compose.Charge(s.Counter, k, segs) }
	var segs []compress.Segment
	err := compose.Fit(limit, charge, func(ask int) ([]compress.Segment, error) {
		cut.Plan, segs = nil, nil
		room := ask
		if len(known) > 0 {
			room -= charge(known)
		}
		if room > 0 {
			plan, err := s.plan(x, room)
			if err != nil {
				return nil, err
			}
			if segs, err = recompress(ctx, x.Segments, plan); err != nil {
				return nil, err
			}
			cut.Plan = &plan
		}
		return append(slices.Clone(known), segs...), nil
	})
	var pins *compress.PinError
	var short *compose.BudgetError
	switch {
	// markers that survive at this size need more room
	case errors.As(err, &pins), errors.As(err, &short) && s.minTokens[i] > 0:
		s.minTokens[i] = max(limit, s.minTokens[i]) + limit/8 + 16
		return cut, nil, errRetry
	case err != nil:
		return cut, nil, fmt.Errorf("summarise %s: %w", x.Part.Session, err)
	}
	return cut, append(known, segs...), nil
}

// plan resolves the compression of a source to budget tokens. Its ratio is relative to the conversation, so that
// markers have the same pressure as in a version of that size.
func (s *builder) plan(x Source, budget int) (compress.Plan, error) {
	level := keepit.Moderate
	if s.Tier == Monthly {
		level = keepit.Aggressive
	}
	last := 1
	for _, g := range x.Segments {
		last = max(last, g.Src[len(g.Src)-1][1])
	}
	raw := x.Tokens
	if unit := s.Counter.Scale(1000); unit > 0 {
		raw = x.Tokens * 1000 / unit
	}
	stats := compress.Stats{Messages: []compress.Message{{First: 1, Last: last, Raw: raw}}}
	plan, _, err := compress.Resolve(compress.Settings{Tokens: budget, Level: &level, Distance: x.Distance,
		Counter: s.Counter}, stats, kept(x.Segments))
	return plan, err
}

// kept returns the kept texts of segments as marks. Their offsets in the message are unknown, so they are placed one
// after the other.
func kept(segs []compress.Segment) []compress.Mark {
	var out []compress.Mark
	end := map[int]int{}
	for _, g := range segs {
		w, err := keepit.ParseWeight(g.Keep)
		if err != nil {
			continue
		}
		k := compress.Mark{Message: g.Src[0][0]}
		k.Weight, k.Text = w, g.Text
		k.Start = end[k.Message]
		k.End = k.Start + len(g.Text)
		k.TextStart, k.TextEnd, end[k.Message] = k.Start, k.End, k.End+1
		out = append(out, k)
	}
	return out
}

func recompress(ctx context.Context, segs []compress.Segment, plan compress.Plan) ([]compress.Segment, error) {
	res, err := compress.Run(ctx, compress.Input{Items: compress.Recall(segs)}, plan, compress.Extract{})
	return res.Segments, err
}

// Rebuild computes the segments of a part again from those of its source.
func (c Cut) Rebuild(ctx context.Context, segs []compress.Segment, known []Fact,
	count tokens.Counter) ([]compress.Segment, error) {
	if c.Whole {
		return Source{Segments: segs, Facts: known}.segments(), nil
	}
	out := fitFacts(known, c.Facts, count)
	if c.Plan == nil {
		return out, nil
	}
	more, err := recompress(ctx, segs, *c.Plan)
	return append(out, more...), err
}

// factSegments returns facts as segments, in the order of their messages.
func factSegments(known []Fact) []compress.Segment {
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(a.Src[0][0], b.Src[0][0]), cmp.Compare(a.ID, b.ID))
	})
	var out []compress.Segment
	for _, f := range known {
		out = append(out, compress.Segment{Role: "assistant",
			Text: fmt.Sprintf("- %s: %s (%s)", f.Kind, strings.Join(strings.Fields(f.Text), " "), f.ID), Src: f.Src})
	}
	return out
}

// kinds are the kinds of facts in the order of their importance in a summary.
var kinds = []string{"decision", "preference", "issue", "solution", "request", "action"}

// fitFacts returns facts of at most limit tokens: by kind, and within a kind the latest first.
func fitFacts(known []Fact, limit int, count tokens.Counter) []compress.Segment {
	rank := func(f Fact) int {
		if i := slices.Index(kinds, f.Kind); i >= 0 {
			return i
		}
		return len(kinds)
	}
	ordered := slices.Clone(known)
	slices.SortStableFunc(ordered, func(a, b Fact) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(b.Src[0][0], a.Src[0][0]), cmp.Compare(a.ID, b.ID))
	})
	var in []Fact
	used := 0
	for _, f := range ordered {
		if n := compose.Charge(count, 0, factSegments([]Fact{f})); used+n <= limit {
			in, used = append(in, f), used+n
		}
	}
	return factSegments(in)
}
