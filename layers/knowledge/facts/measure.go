package facts

import (
	"maps"
	"math"
)

// A Turn is a message that facts should cover: a prompt, or the last text of the model before the next one.
type Turn struct {
	Message int
	Speaker Speaker
	Text    string
}

// Figures measure the facts of a session, without a model and without an annotated sample.
//
// They follow the two steps that ProMem (arXiv 2601.04463) adds to extraction. Its verification asks for each fact
// whether the dialogue supports it; Integrity is the share of facts that were verified. Its completion matches each
// turn of the dialogue to a fact and returns to the turns without a match; Coverage is the share of turns with a match.
// The paper reports a recall of annotated memory points, judged by a model: its figures and these cannot be compared.
type Figures struct {
	Facts    int `json:"facts"` // live facts
	Verified int `json:"verified"`
	Quoted   int `json:"quoted"`
	Stated   int `json:"stated"`
	Rejected int `json:"rejected"` // their quotes are no longer there

	Turns   int   `json:"turns"` // turns with at least minWords content words
	Cited   int   `json:"cited"` // turns quoted by a fact
	Covered int   `json:"covered"`
	Missed  []int `json:"missed"` // messages of the turns that are not covered
}

// Integrity is the share of verified facts in hundredths, -1 if there are none.
func (f Figures) Integrity() int { return share(f.Verified, f.Facts) }

// Coverage is the share of covered turns in hundredths, -1 if there are none.
func (f Figures) Coverage() int { return share(f.Covered, f.Turns) }

// Add returns the sum of both, without the missed messages.
func (f Figures) Add(o Figures) Figures {
	return Figures{
		Facts: f.Facts + o.Facts, Verified: f.Verified + o.Verified, Quoted: f.Quoted + o.Quoted,
		Stated: f.Stated + o.Stated, Rejected: f.Rejected + o.Rejected,
		Turns: f.Turns + o.Turns, Cited: f.Cited + o.Cited, Covered: f.Covered + o.Covered, Missed: []int{},
	}
}

func share(n, of int) int {
	if of == 0 {
		return -1
	}
	return (200*n + of) / (2 * of)
}

const (
	minWords  = 3  // content words of a turn; fewer are a "yes, go on"
	minWeight = .6 // share of the weight of a turn's words that must occur in facts
)

// Measure returns the figures of facts, which must have their current verdicts. A turn is covered if a fact quotes its
// message, or if words of facts make up minWeight of the weight of its words. The weight of a word is log(1 + turns /
// turns with the word).
func Measure(turns []Turn, list []Fact) Figures {
	f := Figures{Facts: len(list), Missed: []int{}}
	cited, known := map[int]bool{}, map[string]bool{}
	for i := range list {
		switch list[i].Verdict {
		case Verified:
			f.Verified++
		case Quoted:
			f.Quoted++
		case Stated:
			f.Stated++
		default:
			f.Rejected++
			continue // a wrong fact covers nothing
		}
		maps.Copy(known, termSet(append(list[i].quotes(), list[i].Text)...))
		for _, e := range list[i].Evidence {
			cited[e.Message] = true
		}
	}
	var words [][]string
	in := map[string]int{}
	for _, t := range turns {
		list := Terms(t.Text)
		for _, s := range list {
			in[s]++
		}
		words = append(words, list)
	}
	for i, t := range turns {
		if len(words[i]) < minWords {
			continue
		}
		f.Turns++
		if cited[t.Message] {
			f.Cited++
		}
		var all, had float64
		for _, s := range words[i] {
			weight := math.Log(1 + float64(len(turns))/float64(in[s]))
			if all += weight; known[s] {
				had += weight
			}
		}
		if cited[t.Message] || had >= minWeight*all {
			f.Covered++
		} else {
			f.Missed = append(f.Missed, t.Message)
		}
	}
	return f
}
