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

// Speakers looks the quotes of a fact up again, against the clean transcript, and returns the speaker of each: "" if it was
// not found, and none if the transcript is not there or does not have the quotes any more.
func Speakers(ctx context.Context, db *state.DB, project refs.Project, f facts.Fact) ([]string, error) {
	out := make([]string, len(f.Evidence))
	set, err := revision.Facts(ctx, db, project)
	if err != nil {
		return nil, err
	}
	st, err := trust.State(ctx, db, project)
	if err != nil {
		return nil, err
	}
	home := facts.Exchange{}
	for _, x := range set.Exchanges {
		if x.ID == f.Exchange {
			home = x
		}
	}
	q, err := transcriptOf(ctx, db, st, home, f.Evidence)
	if err != nil {
		return out, ctx.Err()
	}
	q.Check(&f)
	for i, e := range f.Evidence {
		out[i] = e.By
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
