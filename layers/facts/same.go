package facts

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// saying returns the words of a text as those of another statement of the same thing are compared: in their
// order and in lower case, without articles, forms of "to be" and punctuation. Everything that changes the
// meaning remains, so that two different things are never taken for one.
func saying(text string) string {
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

// Distinct returns list without the facts that say what one before them says.
func Distinct(list []Fact) []Fact {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(f Fact) bool {
		key := string(f.Kind) + " " + saying(f.Text)
		was := seen[key]
		seen[key] = true
		return was
	})
}

// A closing is how an issue came to be resolved.
type closing struct {
	judgement
	issue Fact
	at    time.Time // when it was solved; zero if somebody said so by hand
	trust Trust
}

// closes reports whether what resolved one statement of an issue resolves another one too. An issue that is
// stated after it was resolved came back.
func (f *folder) closes(c closing, x *Fact) bool {
	switch {
	case c.trust < min(x.Trust, Assistant), !f.counts(c.judgement, x):
		return false
	case c.at.IsZero() || x.Time.IsZero():
		return f.facts[x.key].first < c.record
	}
	return !x.Time.After(c.at)
}

// closeTwins resolves the statements of issues that another session states in the same words as one that is
// resolved. A judgement of the statement itself goes first.
func (f *folder) closeTwins() {
	closed := map[string][]closing{}
	for x := range f.set.All() {
		if x.Kind != Issue || !x.Resolved {
			continue
		}
		c := closing{judgement: f.said[judged{x.key, Resolves}], issue: *x, trust: User}
		if by, ok := f.facts[c.By]; ok {
			solution := f.set.Exchanges[by.at[0]].Facts[by.at[1]]
			c.at, c.trust = solution.Time, solution.Trust
		}
		key := saying(x.Text)
		closed[key] = append(closed[key], c)
	}
	if len(closed) == 0 {
		return
	}
	for x := range f.set.All() {
		if x.Kind != Issue || x.Resolved {
			continue
		}
		if _, said := f.said[judged{x.key, Resolves}]; said {
			continue
		}
		for _, c := range closed[saying(x.Text)] {
			if f.closes(c, x) {
				x.Resolved, x.ResolvedBy, x.Resolution = true, c.issue.ResolvedBy, c.issue.Resolution
				break
			}
		}
	}
}

// TakeBack takes back what facts that are hidden did to others: an issue that a hidden solution resolved is open.
func (s *Set) TakeBack() {
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
