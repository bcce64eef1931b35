package facts

import (
	"math"
)

// A Turn is a message that facts should cover: a prompt, or the last words of the model before the next one.
type Turn struct {
	Message int
	Speaker Speaker
	Text    string
}

// Figures say how good the facts of a session are, without a model and without an annotated sample.
//
// They follow the two steps that ProMem (arXiv 2601.04463) adds to extraction. Its verification asks of each
// fact whether the dialogue says it; Integrity is the share of facts for which [Check] finds that it does. Its
// completion matches each turn of the dialogue to a fact and goes back to the turns that match none; Coverage
// is the share of turns that match one. The paper reports a recall of annotated memory points, judged by a
// model: its figures and these cannot be compared.
type Figures struct {
	Facts    int `json:"facts"` // that stand
	Verified int `json:"verified"`
	Inferred int `json:"inferred"`
	Rejected int `json:"rejected"`

	Turns   int   `json:"turns"` // with something to remember
	Cited   int   `json:"cited"` // turns that a fact quotes
	Covered int   `json:"covered"`
	Missed  []int `json:"missed"` // messages of the turns that are not covered
}

// Integrity is the share of facts that are verified, in hundredths; -1 if there are none.
func (f Figures) Integrity() int { return share(f.Verified, f.Facts) }

// Coverage is the share of turns that are covered, in hundredths; -1 if there are none.
func (f Figures) Coverage() int { return share(f.Covered, f.Turns) }

// Add returns the figures of both together, without the missed messages.
func (f Figures) Add(o Figures) Figures {
	return Figures{
		Facts: f.Facts + o.Facts, Verified: f.Verified + o.Verified, Inferred: f.Inferred + o.Inferred,
		Rejected: f.Rejected + o.Rejected,
		Turns:    f.Turns + o.Turns, Cited: f.Cited + o.Cited, Covered: f.Covered + o.Covered, Missed: []int{},
	}
}

func share(n, of int) int {
	if of == 0 {
		return -1
	}
	return (200*n + of) / (2 * of)
}

// What makes a turn count, and when it is covered.
const (
	leastWords = 3  // words that tell what a turn is about: fewer are a "yes, go on"
	leastIDF   = .6 // of the weight of a turn's words that facts must have
)

// Measure returns the figures of facts with the verdicts of now. A turn is covered if a fact quotes its
// message, or if facts have words that make up leastIDF of the weight of its words. The weight of a word is
// log(1 + turns / turns with the word).
func Measure(turns []Turn, list []Fact) Figures {
	f := Figures{Facts: len(list), Missed: []int{}}
	cited, known := map[int]bool{}, map[string]bool{}
	for i := range list {
		switch list[i].Verdict {
		case Verified:
			f.Verified++
		case Inferred:
			f.Inferred++
		default:
			f.Rejected++
			continue // what is not so covers nothing
		}
		learn(known, list[i].Text)
		for _, e := range list[i].Evidence {
			cited[e.Message] = true
			learn(known, e.Quote)
		}
	}
	var stems [][]string
	in := map[string]int{}
	for _, t := range turns {
		list := telling(t.Text)
		for _, s := range list {
			in[s]++
		}
		stems = append(stems, list)
	}
	for i, t := range turns {
		if len(stems[i]) < leastWords {
			continue
		}
		f.Turns++
		if cited[t.Message] {
			f.Cited++
		}
		var all, had float64
		for _, s := range stems[i] {
			weight := math.Log(1 + float64(len(turns))/float64(in[s]))
			if all += weight; known[s] {
				had += weight
			}
		}
		if cited[t.Message] || had >= leastIDF*all {
			f.Covered++
		} else {
			f.Missed = append(f.Missed, t.Message)
		}
	}
	return f
}

// telling returns the stems of the words that tell what a text is about, in their order, each once.
func telling(text string) (out []string) {
	seen := map[string]bool{}
	for _, w := range newWording(text).words {
		if w.content && !seen[w.stem] {
			seen[w.stem] = true
			out = append(out, w.stem)
		}
	}
	return out
}

func learn(known map[string]bool, text string) {
	for s := range newWording(text).stems {
		known[s] = true
	}
}
