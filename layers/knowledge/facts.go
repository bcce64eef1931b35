package knowledge

import (
	"context"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// IsFactID reports whether s has the form of a fact's ID.
func IsFactID(s string) bool {
	rest, ok := strings.CutPrefix(s, "f:")
	return ok && rest != "" && strings.Trim(strings.ToLower(rest), "0123456789abcdef") == ""
}

// cited returns the messages that are quoted.
func cited(list []facts.Evidence) map[int]bool {
	out := map[int]bool{}
	for _, e := range list {
		out[e.Message] = true
	}
	return out
}

// A CheckedFact is the result of a new check of a fact.
type CheckedFact struct {
	Now     facts.Fact // with the new verdict
	Problem string     // why it could not be checked
}

// By returns the speaker of the i-th quote, "" if it was not found.
func (c CheckedFact) By(i int) string {
	if c.Problem != "" || i >= len(c.Now.Evidence) {
		return ""
	}
	return c.Now.Evidence[i].By
}

// CheckFacts looks facts of a project up again, against the clean transcripts.
func CheckFacts(ctx context.Context, db *state.DB, project refs.Project, list []facts.Fact) ([]CheckedFact, error) {
	set, err := revision.Facts(ctx, db, project)
	if err != nil {
		return nil, err
	}
	st, err := trust.State(ctx, db, project)
	if err != nil {
		return nil, err
	}
	homes := map[string]facts.Exchange{}
	for _, x := range set.Exchanges {
		homes[x.ID] = x
	}
	groups := map[string][]int{} // by transcript
	var order []string
	for i, f := range list {
		key := f.Session + " " + homes[f.Exchange].Original.String()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	out := make([]CheckedFact, len(list))
	for _, key := range order {
		var quoted []facts.Evidence
		for _, i := range groups[key] {
			quoted = append(quoted, list[i].Evidence...)
		}
		q, problem := transcriptOf(ctx, db, st, homes[list[groups[key][0]].Exchange], quoted)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, i := range groups[key] {
			out[i].Now = list[i]
			if problem != nil {
				out[i].Problem = problem.Error()
				continue
			}
			now := &out[i].Now
			if q.Check(now); now.Verdict == facts.Rejected {
				continue
			}
			now.Verdict = list[i].Verdict
			if list[i].Confirmed {
				now.Trust = facts.User
			}
		}
	}
	return out, nil
}

// transcriptOf returns the transcript that the facts of an exchange were checked against, nil if they belong to no
// session.
func transcriptOf(ctx context.Context, db *state.DB, st *state.State, x facts.Exchange,
	quoted []facts.Evidence) (*revision.Quoted, error) {
	if x.Session == "" {
		return nil, nil
	}
	s := st.Session(x.Session)
	if s == nil {
		return nil, &state.NotFoundError{What: "session", Name: x.Session}
	}
	p := s.Point(x.Original)
	if p == nil {
		return nil, fmt.Errorf("session %s has no version that matches the saved fact", records.ShortID(s.ID))
	}
	return revision.Quotable(ctx, db, st.Project, s, p, cited(quoted))
}
