package knowledge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// IsFactID reports whether s is written as the ID of a fact.
func IsFactID(s string) bool {
	rest, ok := strings.CutPrefix(s, "f:")
	return ok && rest != "" && strings.Trim(strings.ToLower(rest), "0123456789abcdef") == ""
}

// cited are the messages that facts quote.
func cited(list []facts.Fact) map[int]bool {
	out := map[int]bool{}
	for _, f := range list {
		for _, e := range f.Evidence {
			out[e.Message] = true
		}
	}
	return out
}

// A CheckedFact is a fact with what a check on this machine finds.
type CheckedFact struct {
	Fact    facts.Fact // as it was stored
	Now     facts.Fact // with the verdict of now
	Problem string     // why it could not be checked
}

// Worse reports whether the fact is not what it was stored as.
func (c CheckedFact) Worse() bool {
	return c.Problem != "" || c.Fact.Verdict != c.Now.Verdict || c.Fact.Trust != c.Now.Trust
}

// VerifyFacts checks facts of a project once more, against the clean transcripts: all that stand if list is empty.
func (m Ops) VerifyFacts(ctx context.Context, project refs.Project, list []facts.Fact) ([]CheckedFact, error) {
	set, err := revision.On(m.DB).Facts(ctx, project)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = set.Live()
	}
	st, err := trust.On(m.DB).State(ctx, project)
	if err != nil {
		return nil, err
	}
	homes := map[string]facts.Exchange{}
	for _, x := range set.Exchanges {
		homes[x.ID] = x
	}
	groups := map[string][]int{} // by what they are checked against
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
		var some []facts.Fact
		for _, i := range groups[key] {
			some = append(some, list[i])
		}
		q, problem := m.witness(ctx, st, homes[some[0].Exchange], cited(some))
		if errors.Is(problem, context.Canceled) {
			return nil, problem
		}
		for _, i := range groups[key] {
			out[i] = CheckedFact{Fact: list[i], Now: list[i]}
			if problem != nil {
				out[i].Problem = problem.Error()
				continue
			}
			if q.Check(&out[i].Now); list[i].Confirmed {
				out[i].Now.Trust = facts.User
			}
		}
	}
	return out, nil
}

// witness reads the transcript that the facts of an exchange were checked against; nil if they are of no session.
func (m Ops) witness(ctx context.Context, st *state.State, x facts.Exchange,
	cited map[int]bool) (*revision.Quoted, error) {
	if x.Session == "" {
		return nil, nil
	}
	s := st.Session(x.Session)
	if s == nil {
		return nil, &state.NotFoundError{What: "session", Name: x.Session}
	}
	p := s.Point(x.Original)
	if p == nil {
		return nil, fmt.Errorf("session %s has never been as it was when the fact was saved", records.ShortID(s.ID))
	}
	return revision.On(m.DB).Quotable(ctx, st.Project, s, p, cited)
}

// Evidence returns who says each quote of a fact, in its order; "" for one that is not there.
func (m Ops) Evidence(ctx context.Context, project refs.Project, f facts.Fact) ([]string, error) {
	out := make([]string, len(f.Evidence))
	set, err := revision.On(m.DB).Facts(ctx, project)
	if err != nil {
		return out, err
	}
	st, err := trust.On(m.DB).State(ctx, project)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(set.Exchanges, func(x facts.Exchange) bool { return x.ID == f.Exchange })
	if i < 0 {
		return out, nil
	}
	q, err := m.witness(ctx, st, set.Exchanges[i], cited([]facts.Fact{f}))
	if err != nil || q == nil {
		return out, err
	}
	for i, e := range f.Evidence {
		if who, ok := q.Text.Who(e); ok {
			out[i] = who.String()
		}
	}
	return out, nil
}
