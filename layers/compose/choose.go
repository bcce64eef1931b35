package compose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/memvcs/mem/objects"
)

// Original is the label of a session's original.
const Original = "original"

// A Version is an existing compression of a session.
type Version struct {
	Label            string
	Hash             objects.Hash
	Tokens           int // its own
	Tags             int // tokens added by tags, see Part.Cost
	Ratio            int
	Kept, Summarised int  // markers
	Freshness        int  // the distance for which it was made: 1 = current, 10 = stale
	Auto             bool // nobody asked for it: made for a composition or a tier
}

// A Source is a session of a composition with its possible forms. The zero value of each option leaves the choice to
// [Choose].
type Source struct {
	Session  string
	Original int // tokens of the original
	Tags     int // tokens added by tags of the original, see Part.Cost
	Versions []Version
	Distance int // sessions ago, 1 = the newest; 0 = its place in the list

	Pin        string // label of the required version, or Original
	Share      int    // limit in tokens, instead of a share by strategy
	Recompress bool   // ignore existing versions
	Digest     bool   // a new compression, however short the session is
	MinTokens  int    // tokens of the texts that a new compression may not drop
	Most       int    // tokens beyond which a new compression has nothing more to say; 0 = unknown
}

// A Request contains the sources and the limits of a choice.
type Request struct {
	Sources     []Source
	Budget      int
	Overhead    int // tokens to subtract from the budget, see Reserve
	Strategy    Strategy
	Ratio       int // preferred compression ratio of existing versions; 0 = any
	MaxDistance int // greatest [Version.Freshness] of an existing version that is not pinned; 0 = any
}

// A Kind says which form of a session was picked.
type Kind int

// The kinds.
const (
	PickOriginal Kind = iota // the session as it is
	PickVersion              // a version that exists
	PickNew                  // a new compression of at most Pick.Tokens
)

// A Pick is the choice for one source.
type Pick struct {
	Session  string
	Kind     Kind
	Version  Version // of PickVersion
	Tokens   int     // its part of the budget; for PickNew an upper limit
	Tags     int     // the part of Tokens for tags; 0 for PickNew
	Share    int     // initial share
	Score    int     // thousandths, of PickVersion; -1 = not scored
	Ratio    int     // of PickNew: original tokens over Tokens, rounded up
	Distance int     // of PickNew
	Why      string
}

func (v Version) cost() int { return v.Tokens + v.Tags }

func (s Source) originalCost() int { return s.Original + s.Tags }

// Label returns a version's label, "original" or "(new)".
func (p Pick) Label() string {
	switch p.Kind {
	case PickOriginal:
		return Original
	case PickVersion:
		return p.Version.Label
	default:
		return "(new)"
	}
}

// A Plan is the choice for all sources, in their order.
type Plan struct {
	Picks []Pick
	Total int // including the overhead, never more than the budget
	Left  int // unused tokens
}

// minNew is the smallest size of a new compression. Less says nothing of a session.
const minNew = 64

// Choose picks a form for each source so that all fit in the budget. It does no I/O and depends only on the request;
// the order of a source's versions does not matter.
//
// Every source gets a share. It uses its original if that fits, else the version with the best score that fits, else
// (no score is high enough, or none fits) a new compression of its share. The unused tokens then pay for the cheapest
// improvement (from new to a version, to a larger version, to the original) as long as there is one; the rest widens
// the new compressions, up to [Source.Most].
//
// It fails with a [*BudgetError] only if pinned versions, fixed shares and the minimum of the others exceed the budget.
func Choose(req Request) (Plan, error) {
	if err := req.check(); err != nil {
		return Plan{}, err
	}
	shares, err := req.shares()
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Picks: make([]Pick, len(req.Sources))}
	for i, s := range req.Sources {
		plan.Picks[i] = req.pick(i, shares[i], shares[i])
		plan.Picks[i].Session, plan.Picks[i].Share = s.Session, shares[i]
	}
	req.useLeftovers(&plan)
	for i := range plan.Picks {
		req.explain(&plan.Picks[i], i)
	}
	plan.Left = req.unused(plan)
	plan.Total = req.Budget - plan.Left
	return plan, nil
}

// check validates the request.
func (r Request) check() error {
	for _, s := range r.Sources {
		if s.Original < 0 || s.Tags < 0 || s.Share < 0 || s.MinTokens < 0 || s.Distance < 0 {
			return fmt.Errorf("compose %s: negative number", s.Session)
		}
		if s.Pin != "" && s.Pin != Original && s.pinned() == nil {
			return fmt.Errorf("compose %s: %w: %s", s.Session, ErrNoVersion, s.Pin)
		}
		for _, v := range s.Versions {
			if v.Tokens < 0 || v.Tags < 0 || v.Kept < 0 || v.Summarised < 0 {
				return fmt.Errorf("compose %s: version %s: negative number", s.Session, v.Label)
			}
		}
	}
	return nil
}

// pinned returns the version that s is pinned to.
func (s Source) pinned() *Version {
	i := slices.IndexFunc(s.Versions, func(v Version) bool { return v.Label == s.Pin })
	if i < 0 {
		return nil
	}
	return &s.Versions[i]
}

// pick returns the best form of source i that fits in room, which is share or more.
func (r Request) pick(i, share, room int) Pick {
	s := r.Sources[i]
	switch {
	case s.Pin != "" && s.Pin != Original:
		v := *s.pinned()
		return Pick{Kind: PickVersion, Version: v, Tokens: v.cost(), Tags: v.Tags, Score: -1}
	case s.Digest:
		return Pick{Kind: PickNew, Tokens: s.useful(room), Score: -1}
	case s.Pin == Original || s.originalCost() <= room:
		return Pick{Kind: PickOriginal, Tokens: s.originalCost(), Tags: s.Tags, Score: -1}
	case s.Recompress:
		return Pick{Kind: PickNew, Tokens: s.useful(room), Score: -1}
	}
	if v, score, ok := r.best(s, share, room); ok && score >= minScore && !(v.Auto && 2*v.cost() < s.useful(share)) {
		return Pick{Kind: PickVersion, Version: v, Tokens: v.cost(), Tags: v.Tags, Score: score}
	}
	return Pick{Kind: PickNew, Tokens: s.useful(room), Score: -1}
}

// useful returns the part of n tokens that a new compression of s can use.
func (s Source) useful(n int) int {
	if s.Most > 0 {
		return min(n, s.Most)
	}
	return n
}

// minScore is the score from which a version is used instead of a new one. A version that kept every marker always has
// it; one that lost markers, or is far from the preferred ratio, must use more of its share. One that nobody asked for
// must use half of it.
const minScore = 500

// best returns the version of s with the highest score among those that fit in room. A version larger than share is
// scored as if its size were the share.
func (r Request) best(s Source, share, room int) (best Version, score int, ok bool) {
	for _, v := range s.Versions {
		if v.cost() > room || r.stale(v) {
			continue
		}
		n := r.Score(v, max(share, v.cost()))
		if !ok || cmp.Or(cmp.Compare(n, score), cmp.Compare(v.cost(), best.cost()),
			best.Hash.Compare(v.Hash), cmp.Compare(best.Label, v.Label)) > 0 {
			best, score, ok = v, n, true
		}
	}
	return best, score, ok
}

// stale reports whether v was made for a greater distance than allowed.
func (r Request) stale(v Version) bool { return r.MaxDistance > 0 && v.Freshness > r.MaxDistance }

// Score rates a version for a share in thousandths: by the used part of the share, the distance from the preferred
// ratio, and the kept markers. A version larger than the share scores 0; one without markers counts as having kept all.
func (r Request) Score(v Version, share int) int {
	if v.cost() > share {
		return 0
	}
	score := 1000
	if share > 0 {
		score = 500 + mulDiv(500, v.cost(), share)
	}
	if r.Ratio > 0 {
		away := max(v.Ratio-r.Ratio, r.Ratio-v.Ratio)
		score = score * max(500, 1000-min(1000, 20*min(away, 50))) / 1000
	}
	if n := v.Kept + v.Summarised; n > 0 {
		score = score * (500 + mulDiv(500, v.Kept, n)) / 1000
	}
	return score
}

// unused returns the tokens of the budget that plan does not use.
func (r Request) unused(plan Plan) int {
	n := r.Budget - r.Overhead
	for _, p := range plan.Picks {
		n -= p.Tokens
	}
	return n
}
