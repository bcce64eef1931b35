package facts

// Figures measure the facts of a session, without a model and without an annotated sample.
//
// They follow the two steps that ProMem (arXiv 2601.04463) adds to extraction. Its verification asks for each fact
// whether the dialogue supports it; Integrity is the share of facts that were verified. Its completion returns to the
// turns of the dialogue without a fact; Coverage is the share of turns that a fact quotes. The paper reports a recall of
// annotated memory points, judged by a model: its figures and these cannot be compared.
type Figures struct {
	Facts    int `json:"facts"` // live facts
	Verified int `json:"verified"`
	Quoted   int `json:"quoted"`
	Stated   int `json:"stated"`
	Rejected int `json:"rejected"` // their quotes are no longer there

	Turns   int   `json:"turns"`
	Covered int   `json:"covered"` // turns quoted by a fact
	Missed  []int `json:"missed"`  // messages of the turns that are not covered
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
		Turns: f.Turns + o.Turns, Covered: f.Covered + o.Covered, Missed: []int{},
	}
}

func share(n, of int) int {
	if of == 0 {
		return -1
	}
	return (200*n + of) / (2 * of)
}

// Measure returns the figures of facts, which must have their current verdicts. The turns are the messages that facts
// should cover: prompts, and the last text of the model before the next one.
func Measure(turns []int, list []Fact) Figures {
	f := Figures{Facts: len(list), Turns: len(turns), Missed: []int{}}
	cited := map[int]bool{}
	for _, x := range list {
		switch x.Verdict {
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
		for _, e := range x.Evidence {
			cited[e.Message] = true
		}
	}
	for _, n := range turns {
		if cited[n] {
			f.Covered++
		} else {
			f.Missed = append(f.Missed, n)
		}
	}
	return f
}
