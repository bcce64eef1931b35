package facts

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// comparisonKey returns the words of a text in their order and in lower case, without articles, forms of "to be" and
// punctuation. Texts with the same key have the same meaning.
func comparisonKey(text string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("'’_./-", r)
	}) {
		switch w = strings.ReplaceAll(strings.Trim(w, "'’./-"), "’", "'"); w {
		case "", "a", "an", "the", "is", "are", "was", "were", "be", "been", "being", "still":
		default:
			b.WriteString(w)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// Distinct returns list without facts that repeat an earlier one.
func Distinct(list []Fact) []Fact {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(f Fact) bool {
		key := string(f.Kind) + " " + comparisonKey(f.Text)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// A resolution is a resolved issue with its judgement.
type resolution struct {
	stated
	issue Fact
	at    time.Time // of the solution; zero without one
	trust Trust
}

// resolvesDuplicate reports whether a resolution also resolves x, another statement of the same issue. An issue that is
// stated after its resolution has come back.
func (f *folder) resolvesDuplicate(c resolution, x *Fact) bool {
	switch {
	case c.trust < min(x.Trust, Assistant):
		return false
	case c.at.IsZero() || x.Time.IsZero():
		return f.facts[x.key].first < c.record
	}
	return !x.Time.After(c.at)
}

// resolveDuplicates resolves issues that another session states in the same words as a resolved one. A judgement about
// the issue itself has precedence.
func (f *folder) resolveDuplicates() {
	closed := map[string][]resolution{}
	for x := range f.set.All() {
		if x.Kind != Issue || !x.Resolved {
			continue
		}
		c := resolution{stated: f.judgements[judgementKey{x.key, Resolves}], issue: *x, trust: User}
		if solution := f.at(c.By); solution != nil {
			c.at, c.trust = solution.Time, solution.Trust
		}
		key := comparisonKey(x.Text)
		closed[key] = append(closed[key], c)
	}
	for x := range f.set.All() {
		if _, said := f.judgements[judgementKey{x.key, Resolves}]; said || x.Kind != Issue || len(closed) == 0 {
			continue
		}
		list := closed[comparisonKey(x.Text)]
		if i := slices.IndexFunc(list, func(c resolution) bool { return f.resolvesDuplicate(c, x) }); i >= 0 {
			x.Resolved, x.ResolvedBy, x.Resolution = true, list[i].issue.ResolvedBy, list[i].issue.Resolution
		}
	}
}

// UndoRevoked undoes the effects of revoked facts on others: an issue that a revoked solution resolved is open again.
func (s *Set) UndoRevoked() {
	hidden := func(id string) bool {
		by, ok := s.Fact(id)
		return ok && by.Revoked != ""
	}
	for f := range s.All() {
		if hidden(f.SupersededBy) {
			f.SupersededBy = ""
		}
		if hidden(f.RefutedBy) {
			f.Refuted, f.RefutedBy = false, ""
		}
		if hidden(f.ResolvedBy) {
			f.Resolved, f.ResolvedBy, f.Resolution = false, "", ""
		}
	}
}
