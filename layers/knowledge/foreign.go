package knowledge

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Foreign contains the knowledge of another tool about a project.
type Foreign struct {
	Tool     string
	Facts    []ForeignFact
	Concepts []ForeignConcept
	Rules    []permanent.Definition
}

// A ForeignFact is a fact of another tool, checked by [CheckForeign].
type ForeignFact struct {
	Exchange   facts.Exchange // contains the fact
	Resolved   bool           // for issues
	Resolution string
}

// A ForeignConcept is a concept of another tool with its exchanges.
type ForeignConcept struct {
	Definition concepts.Definition
	Exchanges  []facts.Exchange
}

// CheckForeign checks a fact of another tool, which its field From names. Without evidence in a session it is only
// stated, with the lowest trust. The error wraps [ErrAllRejected] if the check rejects it.
func CheckForeign(ctx context.Context, db *state.DB, p state.Project, f facts.Fact, s *state.Session) (ForeignFact, error) {
	x := facts.Exchange{}
	var q *revision.Quoted
	if s != nil && len(f.Evidence) > 0 {
		var err error
		if q, x, err = exchangeFor(ctx, db, p.ID, s, f); err != nil {
			return ForeignFact{}, err
		}
		f.Session = x.Session
	}
	if q.Check(&f); f.Verdict == facts.Rejected {
		return ForeignFact{}, fmt.Errorf("%w: %s", ErrAllRejected, strings.Join(f.Notes, "; "))
	}
	if f.Time.IsZero() {
		f.Time = db.Opts.Now().UTC().Truncate(time.Second)
	}
	f.ID = f.Name()
	x.Time, x.Facts = f.Time, []facts.Fact{f}
	return ForeignFact{Exchange: x}, nil
}

// SaveForeign stores the knowledge of another tool in one commit.
func SaveForeign(ctx context.Context, db *state.DB, p state.Project, in Foreign) error {
	var what []string
	for _, part := range []struct {
		n    int
		noun string
	}{{len(in.Facts), "fact"}, {len(in.Concepts), "concept"}, {len(in.Rules), "rule"}} {
		if part.n > 0 {
			what = append(what, records.Numbered(part.n, part.noun, part.noun+"s"))
		}
	}
	if len(what) == 0 {
		return nil
	}
	return db.Refs.Update(ctx, p.ID, "import "+strings.Join(what, ", ")+" from "+in.Tool, func(tx *refs.Tx) error {
		tx.Trailer("Op", "facts")
		for _, f := range in.Facts {
			if err := addForeignFact(tx, f); err != nil {
				return err
			}
		}
		for i, r := range in.Rules {
			if _, err := tx.Add(permanent.Kind, r); err != nil {
				return fmt.Errorf("rule %d: %w", i+1, err)
			}
		}
		return addForeignConcepts(ctx, db, tx, p, in.Concepts)
	})
}

func addForeignFact(tx *refs.Tx, f ForeignFact) error {
	if _, err := tx.Add(facts.KindExchange, f.Exchange.Bare()); err != nil {
		return err
	}
	if !f.Resolved {
		return nil
	}
	_, err := tx.Add(facts.KindJudgement, facts.Judgement{Fact: f.Exchange.Facts[0].Key(), Says: facts.Resolves,
		Value: true, Reason: f.Resolution})
	return err
}

func addForeignConcepts(ctx context.Context, db *state.DB, tx *refs.Tx, p state.Project, list []ForeignConcept) error {
	set, err := conceptsAt(ctx, db, tx, p.ID)
	if err != nil {
		return err
	}
	for i, c := range list {
		made := c.Definition
		made.Label = set.LabelAfter(i)
		r, err := tx.Add(concepts.Kind, made)
		if err != nil {
			return err
		}
		for _, x := range c.Exchanges {
			a := concepts.Assignment{Member: "exchange/" + x.Key().String(), Concept: r.ID.String(), Topic: made.Topic,
				Reason: made.Reason}
			if _, err := tx.Add(concepts.KindAssign, a); err != nil {
				return err
			}
		}
	}
	return nil
}
