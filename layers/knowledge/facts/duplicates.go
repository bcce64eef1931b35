package facts

import (
	"slices"
	"strings"
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

// resolveDuplicates resolves issues that another session states in the same words as a resolved one, up to the time of its
// solution: an issue that is stated later has come back. A judgement about the issue itself has precedence, and the word of
// a tool resolves nothing that the user or the model stated.
func (f *folder) resolveDuplicates() {
	closed := map[string][]*Fact{}
	for x := range f.set.All() {
		if x.Kind == Issue && x.Resolved {
			closed[comparisonKey(x.Text)] = append(closed[comparisonKey(x.Text)], x)
		}
	}
	closes := func(c, x *Fact) bool {
		j := f.judgements[judgementKey{c.key, Resolves}]
		switch solution := f.at(j.By); {
		case solution != nil && solution.Trust < min(x.Trust, Assistant):
			return false
		case solution == nil || solution.Time.IsZero() || x.Time.IsZero():
			return f.facts[x.key].first < j.record
		default:
			return !x.Time.After(solution.Time)
		}
	}
	for x := range f.set.All() {
		if _, said := f.judgements[judgementKey{x.key, Resolves}]; said || x.Kind != Issue || len(closed) == 0 {
			continue
		}
		list := closed[comparisonKey(x.Text)]
		if i := slices.IndexFunc(list, func(c *Fact) bool { return closes(c, x) }); i >= 0 {
			x.Resolved, x.ResolvedBy, x.Resolution = true, list[i].ResolvedBy, list[i].Resolution
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
