package facts

import (
	"fmt"
	"strings"
)

// deny marks the words that stand behind a negation in their clause. A phrase that denies nothing is taken for none.
func (w *wording) deny() {
	for i := range w.words {
		x := &w.words[i]
		if x.denies && idiom(w.words, i) {
			x.denies = false
		}
	}
	denied, clause := false, -1
	for i := range w.words {
		x := &w.words[i]
		if x.clause != clause {
			denied, clause = false, x.clause
		}
		x.denied = denied
		if x.denies || lead(w.words, i) {
			denied = !denied || x.denies
		}
	}
}

// lead reports whether the i-th word ends a phrase that denies what follows: "instead of", "rather than".
func lead(words []word, i int) bool {
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

// idiom reports whether the negation at i denies nothing: "why not", "not only", "no problem".
func idiom(words []word, i int) bool {
	at := func(k int) string {
		if k < 0 || k >= len(words) || words[k].clause != words[i].clause {
			return ""
		}
		return strings.ReplaceAll(strings.ToLower(words[k].text), "’", "'")
	}
	w, next := at(i), at(i+1)
	if at(i-1) == "why" && strings.Contains("not don't doesn't can't", w) {
		return true
	}
	if w == "not" && next == "to" && at(i+2) == "mention" {
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

// contradiction says how a fact says the opposite of its source, "" if it does not seem to.
func contradiction(fact, source *wording) string {
	if why := denial(fact, source); why != "" {
		return why
	}
	for _, x := range fact.words {
		for _, other := range opposite()[x.stem] {
			if !source.stems[other] || source.stems[x.stem] || fact.stems[other] || x.denied || source.denials() > 0 ||
				fact.denials() > 0 {
				continue
			}
			return fmt.Sprintf("it says `%s`, the quotes say the opposite", x.text)
		}
	}
	return ""
}

// deniesAnything reports whether there is any negation in a text.
func (w *wording) deniesAnything() bool {
	for _, x := range w.words {
		if x.denies || x.weak || x.denied {
			return true
		}
	}
	return false
}

// denial compares what is denied on either side.
func denial(fact, source *wording) string {
	var strict bool // the fact denies something
	for _, x := range fact.words {
		if x.denies {
			strict = true
		}
	}
	if strict && !source.deniesAnything() {
		return "it denies something, the quotes deny nothing"
	}
	shared, agrees, opposed := 0, false, "" // of the words that the fact denies
	said, denied := 0, 0                    // of the others
	word := ""
	for _, x := range fact.words {
		if !x.content {
			continue
		}
		switch plain, no := source.polarity(x.stem); {
		case !plain && !no:
		case x.denied:
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
	case strict && shared > 0 && !agrees && !source.weakly():
		return fmt.Sprintf("it denies what the quotes say of `%s`", opposed)
	case denied > said && !fact.deniesAnything():
		return fmt.Sprintf("the quotes deny what it says of `%s`", word)
	}
	return ""
}

// weakly reports whether a text denies something in the widest sense only.
func (w *wording) weakly() bool {
	weak := false
	for _, x := range w.words {
		if x.denies {
			return false
		}
		weak = weak || x.weak || x.denied
	}
	return weak
}

// polarity reports whether a stem is said, and whether it is denied, in a text.
func (w *wording) polarity(s string) (plain, denied bool) {
	for _, x := range w.words {
		if x.stem != s && !same(x.stem, s) {
			continue
		}
		if x.denied {
			denied = true
		} else {
			plain = true
		}
	}
	return plain, denied
}

// denials counts the negations of a text.
func (w *wording) denials() int {
	n := 0
	for _, x := range w.words {
		if x.denies {
			n++
		}
	}
	return n
}

// doubt says where a fact denies something else than its source does, as far as that can be told, "" if it
// seems not to.
func doubt(fact, source *wording) string {
	mine := fact.denials()
	agrees, opposed := false, ""
	for i, x := range fact.words {
		if !x.content || !x.denied || mine == 0 {
			continue
		}
		plain, no := source.polarity(x.stem)
		agrees = agrees || no
		if !plain || no {
			continue
		}
		if fact.words[i-1].denies { // "not fixed"
			return fmt.Sprintf("whether the quotes deny `%s`, as it does, code cannot tell", x.text)
		}
		if opposed == "" {
			opposed = x.text
		}
	}
	if opposed != "" && !agrees {
		return fmt.Sprintf("whether the quotes deny `%s`, as it does, code cannot tell", opposed)
	}
	weak, soft := 0, 0
	for _, x := range fact.words {
		if x.weak {
			weak++
		}
	}
	for _, x := range source.words {
		if x.weak {
			soft++
		}
	}
	theirs := 0
	for clause, n := range source.deniedClauses() {
		if fact.speaksOf(source, clause) {
			theirs += n
		}
	}
	switch {
	case theirs > mine+weak:
		return "the quotes deny something that it says or leaves out"
	case mine > source.denials()+soft:
		return "it denies more than the quotes do"
	}
	return ""
}

// deniedClauses returns how many negations each clause has that has any.
func (w *wording) deniedClauses() map[int]int {
	out := map[int]int{}
	for _, x := range w.words {
		if x.denies {
			out[x.clause]++
		}
	}
	return out
}

// speaksOf reports whether w has at least half of the words of a clause.
func (w *wording) speaksOf(source *wording, clause int) bool {
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
