package compose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/tokens"
)

// useLeftovers spends what the picks left of the budget: on the cheapest step up as long as there is
// one, then on wider new compressions.
func (r Request) useLeftovers(plan *Plan) {
	for r.stepUp(plan) {
	}
	var wide []int
	for i, p := range plan.Picks {
		if p.Kind == PickNew && r.Sources[i].Share == 0 {
			wide = append(wide, i)
		}
	}
	for k, n := range split(r.left(*plan), r.weights(wide), make([]int, len(wide))) {
		plan.Picks[wide[k]].Tokens += n
	}
}

// stepUp moves one source to a better form that its tokens and all that is left over pay for, the
// one that costs least, and reports whether there was one. A source never comes back to a form it
// had, so this ends.
func (r Request) stepUp(plan *Plan) bool {
	left, best := r.left(*plan), -1
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

// better reports whether a is a step up from b: the original from anything else, a version from a
// new compression, a larger version from a smaller one.
func better(a, b Pick) bool {
	if a.Kind != b.Kind {
		return a.Kind < b.Kind
	}
	return a.Kind == PickVersion && a.Tokens > b.Tokens
}

// explain fills in what follows from the choice: ratio, distance, the reason in words.
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
		why = append(why, r.larger(s, *p)...)
	}
	p.Why = strings.Join(slices.DeleteFunc(why, func(s string) bool { return s == "" }), "; ")
}

// reason says in words why p was picked from s.
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
	default:
		return fmt.Sprintf("%s scores only 0.%02d: %s", v.Label, score/10, would)
	}
}

// markers says how many markers the picked version kept.
func markers(p Pick) string {
	n := p.Version.Kept + p.Version.Summarised
	if p.Kind != PickVersion || n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d/%d keepits", p.Version.Kept, n)
}

// larger names the smallest version of s that did not fit where p did.
func (r Request) larger(s Source, p Pick) []string {
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
	return []string{fmt.Sprintf("%s is %s over", over.Label, tokens.Commas(over.cost()-room))}
}
