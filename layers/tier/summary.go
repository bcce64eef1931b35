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

// A Source is a session as a summary takes it: the segments of a version of it, and what was established in it.
type Source struct {
	Part     compose.Part // without segments
	Segments []compress.Segment
	Tokens   int // of the conversation, by the counter of the summary
	Distance int
	Facts    []Fact
}

// A Fact is a sentence that was established in a session.
type Fact struct {
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Src     [][2]int `json:"src"` // the messages of its evidence
}

// A Cut says how the segments of a source became those of its part: the parameters of a summary hold one for each part.
type Cut struct {
	Whole bool           `json:"whole,omitempty"` // they are all there, and all facts before them
	Facts int            `json:"facts,omitempty"` // tokens that facts may take
	Plan  *compress.Plan `json:"plan,omitempty"`  // that the segments were compressed by; none if only facts have room
}

// A Summary is a finished one.
type Summary struct {
	compose.Composition
	Cuts []Cut // of the parts
	Left []int // sources that had no room: the smallest ones without pinned texts
}

// A Request is what a summary is asked to be.
type Request struct {
	Tier    Tier
	Name    string
	Budget  int // tokens
	Counter tokens.Counter
	Sources []Source
}

// Summarise makes a summary. Pinned texts are in it whatever the budget: it is raised for them, and for the summary of
// a single session.
func Summarise(ctx context.Context, r Request) (Summary, error) {
	s := &summary{Request: r, least: make([]int, len(r.Sources))}
	for i := range r.Sources {
		s.in = append(s.in, i)
		s.least[i] = s.pinned(i)
	}
	for {
		out, err := s.try(ctx)
		var short *compose.BudgetError
		switch {
		case err == nil:
			return out, nil
		case errors.Is(err, errAgain):
		case errors.As(err, &short):
			if !s.leaveOut() {
				s.Budget = max(short.Need, s.Budget+s.Budget/8+16)
			}
		default:
			return Summary{}, err
		}
	}
}

// summary is a summary on its way.
type summary struct {
	Request
	in    []int // the sources that are in it
	least []int // tokens that a source needs for what it may not drop
}

// errAgain says that a part needs more room than was known.
var errAgain = errors.New("try again")

// pinned returns what the pinned texts of source i cost.
func (s *summary) pinned(i int) int {
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

// leaveOut takes the smallest source out that has no pinned texts, unless it is the last one.
func (s *summary) leaveOut() bool {
	smallest := -1
	for k, i := range s.in {
		if s.least[i] == 0 && (smallest < 0 || s.Sources[i].Tokens < s.Sources[s.in[smallest]].Tokens) {
			smallest = k
		}
	}
	if smallest < 0 || len(s.in) == 1 {
		return false
	}
	s.in = slices.Delete(s.in, smallest, smallest+1)
	return true
}

func (s *summary) try(ctx context.Context) (Summary, error) {
	out := Summary{Composition: compose.Composition{Name: s.Name, Budget: s.Budget}}
	ask := compose.Request{Budget: s.Budget, Strategy: compose.Proportional}
	for k, i := range s.in {
		x := s.Sources[i]
		out.Parts = append(out.Parts, x.Part)
		ask.Sources = append(ask.Sources, compose.Source{
			Session: x.Part.Session, Original: compose.Charge(s.Counter, k, x.all()), Distance: max(1, x.Distance),
			MinTokens: s.least[i],
		})
	}
	ask.Overhead = compose.Reserve(s.Counter, s.Name, out.Parts)
	plan, err := compose.Choose(ask)
	if err != nil {
		return out, err
	}
	for k, pick := range plan.Picks {
		cut := Cut{Whole: true}
		segs := s.Sources[s.in[k]].all()
		if pick.Kind != compose.PickOriginal {
			if cut, segs, err = s.cut(ctx, k, pick.Tokens); err != nil {
				return out, err
			}
		}
		out.Cuts, out.Parts[k].Segments = append(out.Cuts, cut), segs
	}
	for i := range s.Sources {
		if !slices.Contains(s.in, i) {
			out.Left = append(out.Left, i)
		}
	}
	return out, out.Measure(s.Counter)
}

// all returns all that is known of a source: what was established, then what was said.
func (x Source) all() []compress.Segment { return append(sentences(x.Facts), x.Segments...) }

// cut compresses part k to at most limit tokens, half of them for facts.
func (s *summary) cut(ctx context.Context, k, limit int) (Cut, []compress.Segment, error) {
	i := s.in[k]
	x := s.Sources[i]
	cut := Cut{Facts: limit / 2}
	known := fitting(x.Facts, cut.Facts, s.Counter)
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
	case errors.As(err, &pins), errors.As(err, &short) && s.least[i] > 0:
		s.least[i] = max(limit, s.least[i]) + limit/8 + 16
		return cut, nil, errAgain
	case err != nil:
		return cut, nil, fmt.Errorf("summarise %s: %w", x.Part.Session, err)
	}
	return cut, append(known, segs...), nil
}

// plan resolves the compression of a source to so many tokens. Its ratio is that to the conversation, so that
// markers are under the same pressure as in a version of that size.
func (s *summary) plan(x Source, budget int) (compress.Plan, error) {
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

// kept returns the texts of segments that were kept word for word as marks. Where in its message each was is not known:
// they stand one behind the other.
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

// Again makes the segments of a part once more, from those of its source.
func (c Cut) Again(ctx context.Context, segs []compress.Segment, known []Fact,
	count tokens.Counter) ([]compress.Segment, error) {
	if c.Whole {
		return Source{Segments: segs, Facts: known}.all(), nil
	}
	out := fitting(known, c.Facts, count)
	if c.Plan == nil {
		return out, nil
	}
	more, err := recompress(ctx, segs, *c.Plan)
	return append(out, more...), err
}

// sentences are facts as segments, in the order of their messages.
func sentences(known []Fact) []compress.Segment {
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

// kinds are the kinds of facts, those first that count most in a summary.
var kinds = []string{"decision", "preference", "issue", "solution", "request", "action"}

// fitting returns facts in at most limit tokens: by kind, and of each kind the latest first.
func fitting(known []Fact, limit int, count tokens.Counter) []compress.Segment {
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
		if n := compose.Charge(count, 0, sentences([]Fact{f})); used+n <= limit {
			in, used = append(in, f), used+n
		}
	}
	return sentences(in)
}
