package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/tokens"
)

// useLeftovers spends the unused tokens on the cheapest improvement as long as there is one, then on wider new
// compressions.
func (r Request) useLeftovers(plan *Plan) {
	for r.stepUp(plan) {
	}
	for {
		var wide []int
		for i, p := range plan.Picks {
			if s := r.Sources[i]; p.Kind == PickNew && s.Share == 0 && s.useful(p.Tokens+1) > p.Tokens {
				wide = append(wide, i)
			}
		}
		left := r.unused(*plan)
		if len(wide) == 0 || left == 0 {
			return
		}
		for k, n := range split(left, r.weights(wide), make([]int, len(wide))) {
			p := &plan.Picks[wide[k]]
			p.Tokens = r.Sources[wide[k]].useful(p.Tokens + n)
		}
	}
}

// stepUp improves one source, the one with the lowest cost, to a form that the unused tokens pay for, and reports
// whether there was one. A source never returns to an earlier form, so a loop over stepUp ends.
func (r Request) stepUp(plan *Plan) bool {
	left, best := r.unused(*plan), -1
	var to Pick
	for i, p := range plan.Picks {
		s := r.Sources[i]
		if s.Pin != "" || s.Share > 0 {
			continue
		}
		next := r.pick(i, p.Share, p.Tokens+left)
		if better(next, p) && (best < 0 || next.Tokens-p.Tokens < to.Tokens-plan.Picks[best].Tokens) {
			best, to = i, next
		}
	}
	if best < 0 {
		return false
	}
	p := &plan.Picks[best]
	p.Kind, p.Version, p.Tokens, p.Tags, p.Score = to.Kind, to.Version, to.Tokens, to.Tags, to.Score
	return true
}

// better reports whether a is an improvement over b: the original over anything else, a version over a new compression,
// a larger version over a smaller one.
func better(a, b Pick) bool {
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	return a.Kind == PickVersion && a.Tokens > b.Tokens
}

// explain fills in ratio, distance and reason.
func (r Request) explain(p *Pick, i int) {
	s := r.Sources[i]
	if p.Kind == PickNew {
		p.Ratio, p.Distance = (s.Original+p.Tokens-1)/max(1, p.Tokens), r.distance(i)
	}
	why := []string{r.reason(*p, s)}
	if p.Tokens > p.Share {
		why = append(why, "with what others left")
	}
	if p.Kind == PickVersion {
		why = append(why, r.nextLarger(s, *p)...)
	}
	p.Why = strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), "; ")
}

// reason returns the reason for a pick.
func (r Request) reason(p Pick, s Source) string {
	switch {
	case s.Pin != "":
		return "pinned" + markers(p)
	case p.Kind == PickOriginal:
		return "fits whole"
	case p.Kind == PickVersion:
		return "fits" + markers(p)
	}
	would := fmt.Sprintf("would compress %s at %d:1", tokens.Format(s.Original), p.Ratio)
	switch v, score, ok := r.best(s, p.Tokens, p.Tokens); {
	case s.Recompress:
		return "asked for: " + would
	case len(s.Versions) == 0:
		return "no version yet: " + would
	case !ok && !slices.ContainsFunc(s.Versions, func(v Version) bool { return !r.stale(v) }):
		return "no version is fresh enough: " + would
	case !ok:
		return "no version fits: " + would
	case score >= minScore:
		return fmt.Sprintf("%s uses only %d%% of the share: %s", v.Label, 100*v.cost()/max(1, p.Share), would)
	default:
		return fmt.Sprintf("%s scores only 0.%02d: %s", v.Label, score/10, would)
	}
}

// markers returns the number of markers that the picked version kept.
func markers(p Pick) string {
	n := p.Version.Kept + p.Version.Summarised
	if p.Kind != PickVersion || n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d/%d pinned texts kept", p.Version.Kept, n)
}

// nextLarger names the smallest version of s that did not fit where p did.
func (r Request) nextLarger(s Source, p Pick) []string {
	room := max(p.Share, p.Tokens)
	var over *Version
	for i, v := range s.Versions {
		if n := v.cost(); n > room && !r.stale(v) && (over == nil || n < over.cost() || n == over.cost() &&
			v.Label < over.Label) {
			over = &s.Versions[i]
		}
	}
	if over == nil || s.Pin != "" {
		return nil
	}
	return []string{fmt.Sprintf("%s is %s tokens too large", over.Label, tokens.Commas(over.cost()-room))}
}
