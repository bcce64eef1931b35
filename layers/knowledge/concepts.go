package knowledge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Member is a session, or an exchange of one, that can belong to a concept.
type Member struct {
	Project  state.Project
	Session  string
	Exchange *facts.Exchange // nil: the session as a whole
}

// key is the name of the member in an assignment.
func (x Member) key() string {
	if x.Exchange != nil {
		return "exchange/" + x.Exchange.Key().String()
	}
	return "session/" + x.Session
}

// String returns the short id.
func (x Member) String() string {
	if x.Exchange != nil {
		return x.Exchange.ID
	}
	return records.ShortID(x.Session)
}

// FindMember returns the session or the exchange (e:9f2c61ab) with a name. The error is [ErrNotMember] if the name stands
// for something else.
func FindMember(ctx context.Context, db *state.DB, sc state.Scope, name string) (Member, error) {
	if !strings.HasPrefix(name, "e:") {
		rev, err := revision.Resolve(ctx, db, sc, name)
		if err == nil && rev.Kind != state.IsSession && rev.Kind != state.IsOriginal && rev.Kind != state.IsL1 {
			err = fmt.Errorf("%s: %w", name, ErrNotMember)
		}
		if err != nil {
			return Member{}, err
		}
		return Member{Project: rev.Project, Session: rev.Session.ID}, nil
	}
	known, err := revision.Facts(ctx, db, sc.Project.ID)
	if err != nil {
		return Member{}, err
	}
	var found []Member
	var names, have []string
	for i := range known.Exchanges {
		x := &known.Exchanges[i]
		have = append(have, x.ID)
		if len(name) >= len("e:")+4 && strings.HasPrefix("e:"+x.Key().String(), name) {
			found, names = append(found, Member{sc.Project, x.Session, x}), append(names, x.ID)
		}
	}
	switch len(found) {
	case 0:
		return Member{}, &state.NotFoundError{What: "exchange", Name: name, Candidates: have}
	case 1:
		return found[0], nil
	}
	return Member{}, &state.AmbiguousError{What: "exchange", Name: name, Candidates: names}
}

// ErrNotMember means that a name stands for neither a session nor an exchange.
var ErrNotMember = errors.New("neither a session nor an exchange")

// A Target says where members are assigned: to an existing concept, to a new one, or, if both are nil, to none.
type Target struct {
	Concept *concepts.Concept
	New     *concepts.Definition // Assign sets the label
	Topic   string
	Reason  string
}

// Assign assigns members, all of one project, to a target and returns their concept, nil for none.
func Assign(ctx context.Context, db *state.DB, p state.Project, members []Member, to Target,
	dryRun bool) (c *concepts.Concept, err error) {
	if dryRun && to.New == nil {
		return to.Concept, nil
	}
	if dryRun {
		set, err := revision.Concepts(ctx, db, p.ID)
		if err != nil {
			return nil, err
		}
		return &concepts.Concept{Label: set.LabelAfter(0), Device: db.Refs.Device().ID, Name: to.New.Name, Topic: to.New.Topic,
			Summary: to.New.Summary}, nil
	}
	x := placement{to: to}
	for _, m := range members {
		x.members = append(x.members, m.key())
	}
	var made []string
	err = db.Refs.Update(ctx, p.ID, assignMessage(members, to), func(tx *refs.Tx) (err error) {
		tx.Trailer("Op", "assign")
		made, err = place(ctx, db, tx, p.ID, []placement{x})
		return err
	})
	if err != nil || made[0] == "" {
		return nil, err
	}
	set, err := revision.Concepts(ctx, db, p.ID)
	if err != nil {
		return nil, err
	}
	return set.ByRecord(made[0]), nil
}

// A placement assigns members to a target.
type placement struct {
	to      Target
	members []string // their names in assignments
}

// place adds the records of placements and returns the names of the records of their concepts.
func place(ctx context.Context, db *state.DB, tx *refs.Tx, p refs.Project, list []placement) (out []string, err error) {
	upper, err := db.UpperAt(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	set, err := concepts.Fold(state.Statements(upper), &facts.Set{})
	if err != nil {
		return nil, err
	}
	made := 0
	for _, x := range list {
		record := ""
		switch {
		case x.to.New != nil:
			c := *x.to.New
			c.Label = set.LabelAfter(made)
			made++
			r, err := tx.Add(concepts.Kind, c)
			if err != nil {
				return nil, err
			}
			record = r.ID.String()
		case x.to.Concept != nil:
			record = x.to.Concept.Record
		}
		for _, m := range x.members {
			a := concepts.Assignment{Member: m, Concept: record, Topic: x.to.Topic, Reason: x.to.Reason}
			if _, err := tx.Add(concepts.KindAssign, a); err != nil {
				return nil, err
			}
		}
		out = append(out, record)
	}
	return out, nil
}

func assignMessage(members []Member, to Target) string {
	what := fmt.Sprintf("%d members", len(members))
	if len(members) == 1 {
		what = members[0].String()
	}
	switch {
	case to.New != nil:
		return fmt.Sprintf("assign %s to the new concept %s", what, state.LastWords(to.New.Name, 40))
	case to.Concept != nil:
		return fmt.Sprintf("assign %s to %s", what, to.Concept.Label)
	}
	return "assign " + what + " to no concept"
}

// ChangeConcept records changes of concepts in one commit. The first word of the message is its Op trailer.
func ChangeConcept(ctx context.Context, db *state.DB, p state.Project, message string, changes ...concepts.Change) error {
	return add(ctx, db, p.ID, message, concepts.KindSet, changes...)
}
