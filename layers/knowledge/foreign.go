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
	if len(f.Evidence) == 0 {
		s = nil
	}
	save, err := openSaver(ctx, db, p.ID, s, f.Evidence)
	if err != nil {
		return ForeignFact{}, err
	}
	x := facts.Exchange{}
	if s != nil {
		f.Session, x = s.ID, save.exchange(spanOf(f.Evidence), false)
	}
	if save.q.Check(&f); f.Verdict == facts.Rejected {
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
	save := saver{db: db, p: p.ID, set: &facts.Set{}}
	for _, f := range in.Facts {
		save.exchanges = append(save.exchanges, f.Exchange)
		if f.Resolved {
			save.judgements = append(save.judgements, facts.Judgement{Fact: f.Exchange.Facts[0].Key(), Says: facts.Resolves,
				Value: true, Reason: f.Resolution})
		}
	}
	var list []placement
	for _, c := range in.Concepts {
		x := placement{to: Target{New: &c.Definition, Topic: c.Definition.Topic, Reason: c.Definition.Reason}}
		for _, e := range c.Exchanges {
			x.members = append(x.members, "exchange/"+e.Key().String())
		}
		list = append(list, x)
	}
	return save.write(ctx, "import "+strings.Join(what, ", ")+" from "+in.Tool, 0, func(tx *refs.Tx) error {
		for i, r := range in.Rules {
			if _, err := tx.Add(permanent.Kind, r); err != nil {
				return fmt.Errorf("rule %d: %w", i+1, err)
			}
		}
		_, err := place(ctx, db, tx, p.ID, list)
		return err
	})
}
