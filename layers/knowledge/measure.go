package knowledge

import (
	"context"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// SessionFigures are the figures of the facts of one session.
type SessionFigures struct {
	Session     *state.Session
	DistilledTo int // the last message that was distilled
	facts.Figures
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
		var list []facts.Fact
		for f := range set.All() {
			if f.Session == s.ID && f.Live() {
				list = append(list, *f)
			}
		}
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

func measure(ctx context.Context, db *state.DB, p state.Project, s *state.Session, list []facts.Fact) (facts.Figures, error) {
	if len(list) > 0 {
		checked, err := CheckFacts(ctx, db, p.ID, list)
		if err != nil {
			return facts.Figures{}, err
		}
		list = list[:0]
		for _, c := range checked {
			if c.Problem != "" {
				c.Now.Verdict = facts.Rejected // without a transcript nothing supports it
			}
			list = append(list, c.Now)
		}
	}
	q, err := revision.Quotable(ctx, db, p.ID, s, s.Now(), nil)
	if err != nil {
		return facts.Figures{}, err
	}
	return facts.Measure(turnsOf(q.Entries, revision.Echoed(s, q.Point)), list), nil
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
