package facts

import (
	"fmt"
	"slices"
	"strings"
)

// markNegated marks the words after a negation in their clause. Idioms such as "not only" are no negations.
func (w *wording) markNegated() {
	for i := range w.words {
		x := &w.words[i]
		if x.negation && isIdiom(w.words, i) {
			x.negation = false
		}
	}
	denied, clause := false, -1
	for i := range w.words {
		x := &w.words[i]
		if x.clause != clause {
			denied, clause = false, x.clause
		}
		x.negated = denied
		if x.negation || negatesNext(w.words, i) {
			denied = !denied || x.negation
		}
	}
}

// negatesNext reports whether the i-th word ends a phrase that negates the next words: "instead of", "rather than".
func negatesNext(words []word, i int) bool {
	if i == 0 {
		return false
	}
	switch strings.ToLower(words[i-1].text) + " " + strings.ToLower(words[i].text) {
	case "instead of", "rather than", "stop using", "stopped using", "refuse to", "refused to", "failed to", "fails to",
		"away from":
		return true
	}
	return false
}

// isIdiom reports whether the negation at i belongs to an idiom that negates nothing: "why not", "not only", "no
// problem".
func isIdiom(words []word, i int) bool {
	at := func(k int) string {
		if k < 0 || k >= len(words) || words[k].clause != words[i].clause {
			return ""
		}
		return strings.ReplaceAll(strings.ToLower(words[k].text), "’", "'")
	}
	w, next := at(i), at(i+1)
	switch {
	case at(i-1) == "why" && slices.Contains([]string{"no", "not", "don't", "doesn't", "can't"}, w):
		return true
	case w == "not" && next == "to" && at(i+2) == "mention":
		return true
	}
	switch w + " " + next {
	case "not only", "not just", "not bad",
		"no problem", "no doubt", "no worries", "no matter", "no wonder",
		"can't wait", "can't believe", "can't help", "can't agree", "couldn't agree",
		"cannot wait", "cannot believe", "cannot help",
		"don't forget", "don't worry", "don't hesitate",
		"never mind", "nothing but":
		return true
	}
	return false
}

// contradiction returns how a fact contradicts its source, "" if no contradiction is found.
func contradiction(fact, source *wording) string {
	if why := negationConflict(fact, source); why != "" {
		return why
	}
	if source.countNegations()+fact.countNegations() > 0 {
		return ""
	}
	for _, x := range fact.words {
		for _, other := range antonyms()[x.stem] {
			if source.stems[other] && !source.stems[x.stem] && !fact.stems[other] && !x.negated {
				return fmt.Sprintf("it says `%s`, the quotes say the opposite", x.text)
			}
		}
	}
	return ""
}

// hasNegation reports whether a text contains a negation, weak ones included.
func (w *wording) hasNegation() bool {
	return w.count(func(x word) bool { return x.negation || x.weak || x.negated }) > 0
}

// negationConflict returns a contradiction between the negations of a fact and its source, "" if there is none.
func negationConflict(fact, source *wording) string {
	strict := fact.countNegations() > 0
	if strict && !source.hasNegation() {
		return "it denies something, the quotes deny nothing"
	}
	shared, agrees, opposed := 0, false, "" // of the words that the fact negates
	said, denied := 0, 0                    // of the others, plain and negated in the source
	word := ""
	for _, x := range fact.words {
		if !x.content {
			continue
		}
		switch plain, no := source.polarity(x.stem); {
		case !plain && !no:
		case x.negated:
			shared++
			if agrees = agrees || no; opposed == "" {
				opposed = x.text
			}
		case plain:
			said++
		default:
			if denied++; word == "" {
				word = x.text
			}
		}
	}
	switch {
	case strict && shared > 0 && !agrees && !source.onlyWeaklyNegated():
		return fmt.Sprintf("it denies what the quotes say of `%s`", opposed)
	case denied > said && !fact.hasNegation():
		return fmt.Sprintf("the quotes deny what it says of `%s`", word)
	}
	return ""
}

// onlyWeaklyNegated reports whether a text contains weak negations and no others.
func (w *wording) onlyWeaklyNegated() bool {
	return w.countNegations() == 0 && w.hasNegation()
}

// polarity reports whether a stem or a synonym occurs in a text without and with negation.
func (w *wording) polarity(s string) (plain, denied bool) {
	for _, x := range w.words {
		if x.stem != s && !isSynonym(x.stem, s) {
			continue
		}
		if x.negated {
			denied = true
		} else {
			plain = true
		}
	}
	return plain, denied
}

func (w *wording) countNegations() int { return w.count(func(x word) bool { return x.negation }) }

func (w *wording) countWeak() int { return w.count(func(x word) bool { return x.weak }) }

// count returns the number of words that want accepts.
func (w *wording) count(want func(word) bool) (n int) {
	for _, x := range w.words {
		if want(x) {
			n++
		}
	}
	return n
}

// doubt returns why the negations of a fact may differ from those of its source, "" if they seem to agree.
func doubt(fact, source *wording) string {
	mine := fact.countNegations()
	agrees, opposed := false, ""
	for i, x := range fact.words {
		if !x.content || !x.negated || mine == 0 {
			continue
		}
		plain, no := source.polarity(x.stem)
		agrees = agrees || no
		if !plain || no {
			continue
		}
		if fact.words[i-1].negation { // "not fixed"
			return fmt.Sprintf("it denies `%s`; code cannot tell whether the quotes do", x.text)
		}
		if opposed == "" {
			opposed = x.text
		}
	}
	if opposed != "" && !agrees {
		return fmt.Sprintf("it denies `%s`; code cannot tell whether the quotes do", opposed)
	}
	theirs := 0
	for clause, n := range source.negationsByClause() {
		if fact.covers(source, clause) {
			theirs += n
		}
	}
	switch {
	case theirs > mine+fact.countWeak():
		return "the quotes deny something that it affirms or omits"
	case mine > source.countNegations()+source.countWeak():
		return "it denies more than the quotes do"
	}
	return ""
}

// negationsByClause returns the number of negations of each clause that has any.
func (w *wording) negationsByClause() map[int]int {
	out := map[int]int{}
	for _, x := range w.words {
		if x.negation {
			out[x.clause]++
		}
	}
	return out
}

// covers reports whether w has at least half of the content words of a clause.
func (w *wording) covers(source *wording, clause int) bool {
	known, total := 0, 0
	for _, x := range source.words {
		if x.clause != clause || !x.content {
			continue
		}
		if total++; w.has(x.stem) {
			known++
		}
	}
	return total > 0 && 2*known >= total
}
