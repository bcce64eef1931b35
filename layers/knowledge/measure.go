package knowledge

import (
	"context"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

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

// SessionFigures are the figures of the facts of one session.
type SessionFigures struct {
	Session     *state.Session
	DistilledTo int // the last message that was distilled
	Figures
}

// MeasureFacts measures the facts of a session against its transcript; with an empty id, of all sessions that have
// facts. It also returns the number of sessions without facts.
func MeasureFacts(ctx context.Context, db *state.DB, p state.Project, id string) (out []SessionFigures, none int, err error) {
	set, err := revision.Facts(ctx, db, p.ID)
	if err != nil {
		return nil, 0, err
	}
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range st.Recent() {
		if id != "" && s.ID != id {
			continue
		}
		list := liveOf(set, s.ID)
		through := set.ThroughOf(s.ID, s.Now().Generation)
		if len(list) == 0 && through == 0 && id == "" {
			none++
			continue
		}
		f, err := measure(ctx, db, p, s, list)
		if err != nil {
			return nil, 0, err
		}
		out = append(out, SessionFigures{s, through, f})
	}
	return out, none, nil
}

// measure looks the facts of a session up again and counts. Without a transcript nothing supports a fact, and a wrong fact
// covers nothing.
func measure(ctx context.Context, db *state.DB, p state.Project, s *state.Session, list []facts.Fact) (f Figures, err error) {
	checked, err := CheckFacts(ctx, db, p.ID, list)
	if err != nil {
		return f, err
	}
	q, err := revision.Quotable(ctx, db, p.ID, s, s.Now(), nil)
	if err != nil {
		return f, err
	}
	f.Facts, f.Missed = len(list), []int{}
	quoted := map[int]bool{}
	count := map[facts.Verdict]int{}
	for _, c := range checked {
		if c.Problem != "" || c.Now.Verdict == facts.Rejected {
			count[facts.Rejected]++
			continue
		}
		count[c.Now.Verdict]++
		maps.Copy(quoted, cited(c.Now.Evidence))
	}
	f.Verified, f.Quoted, f.Stated, f.Rejected = count[facts.Verified], count[facts.Quoted], count[facts.Stated], count[facts.Rejected]
	for _, n := range turnsOf(q.Entries, revision.Echoed(s, q.Point)) {
		if f.Turns++; quoted[n] {
			f.Covered++
		} else {
			f.Missed = append(f.Missed, n)
		}
	}
	return f, nil
}

// turnsOf returns the messages that facts should cover: the prompts that are new in the session, and the last answer of
// the model before the next one.
func turnsOf(entries []refine.Entry, echo map[int]bool) (out []int) {
	last, repeated := 0, false // the exchange was copied from another session
	for _, e := range entries {
		switch {
		case e.Prompt():
			if last > 0 {
				out = append(out, last)
			}
			if last, repeated = 0, echo[e.N]; !repeated {
				out = append(out, e.N)
			}
		case e.Role == "assistant" && !e.Side && !repeated && e.Said != "":
			last = e.N
		}
	}
	if last > 0 {
		out = append(out, last)
	}
	slices.Sort(out)
	return out
}
