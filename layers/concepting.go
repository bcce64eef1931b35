package layers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
	"github.com/memvcs/mem/refs"
)

// Concepts returns the concepts of a project.
func (m *Memory) Concepts(ctx context.Context, p refs.Project) (*concepts.Set, error) {
	records, err := m.upper(ctx, p)
	if err != nil {
		return nil, err
	}
	all, err := m.folded(ctx, p, records)
	return all.Concepts, err
}

func foldConcepts(records []upperRecord, known *facts.Set, trust Trust) (*concepts.Set, error) {
	return concepts.Fold(statements(records, concepts.Kind, concepts.KindAssign, concepts.KindSet), known, trust.Of)
}

// A Member is what may belong to a concept: a session, or an exchange of one.
type Member struct {
	Project  Project
	Session  string
	Exchange *facts.Exchange // nil: the session as a whole
}

// name is how an assignment names the member.
func (x Member) name() string {
	if x.Exchange != nil {
		return "exchange/" + x.Exchange.Key().String()
	}
	return "session/" + x.Session
}

// String writes the member for people.
func (x Member) String() string {
	if x.Exchange != nil {
		return x.Exchange.ID
	}
	return ShortID(x.Session)
}

// Member finds the session or the exchange (e:9f2c61ab) that a name stands for.
func (m *Memory) Member(ctx context.Context, sc Scope, name string) (Member, error) {
	if !strings.HasPrefix(name, "e:") {
		rev, err := m.Resolve(ctx, sc, name)
		if err == nil && rev.Kind != IsSession && rev.Kind != IsOriginal && rev.Kind != IsL1 {
			err = fmt.Errorf("%s: %w", name, ErrNoMember)
		}
		if err != nil {
			return Member{}, err
		}
		return Member{Project: rev.Project, Session: rev.Session.ID}, nil
	}
	known, err := m.Facts(ctx, sc.Project.ID)
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
		return Member{}, &NotFoundError{What: "exchange", Name: name, Candidates: have}
	case 1:
		return found[0], nil
	}
	return Member{}, &AmbiguousError{What: "exchange", Name: name, Candidates: names}
}

// ErrNoMember says that something is neither a session nor an exchange.
var ErrNoMember = errors.New("neither a session nor an exchange")

// FindConcept returns the concept that a name stands for in a project: c002, c002~d3f1, c:9f2c61ab or its name.
func (m *Memory) FindConcept(ctx context.Context, p refs.Project, name string) (*concepts.Concept, error) {
	set, err := m.Concepts(ctx, p)
	if err != nil {
		return nil, err
	}
	return m.findConcept(set, name)
}

func (m *Memory) findConcept(set *concepts.Set, name string) (*concepts.Concept, error) {
	device := m.repo.Device().ID
	found := set.Find(name, device)
	if len(found) == 1 {
		return found[0], nil
	}
	var names []string
	if len(found) == 0 {
		for _, c := range set.Live() {
			names = append(names, set.Shown(c, device))
		}
		return nil, &NotFoundError{What: "concept", Name: name, Candidates: names}
	}
	for _, c := range found {
		names = append(names, c.Label+"~"+c.Device[:8])
	}
	return nil, &AmbiguousError{What: "concept", Name: name, Candidates: names}
}

// A Filing says where members belong: to a concept that there is, to a new one, or, if both are missing, to none.
type Filing struct {
	Concept *concepts.Concept
	New     *concepts.Made // its label is given to it
	Topic   string
	Reason  string
}

// Assign puts members, all of one project, where they belong, and returns the concept that has them now, nil for none.
func (m *Memory) Assign(ctx context.Context, p Project, members []Member, to Filing, dryRun bool) (c *concepts.Concept, err error) {
	if dryRun {
		return m.wouldAssign(ctx, p, to)
	}
	record := ""
	err = m.repo.Update(ctx, p.ID, assignMessage(members, to), func(tx *refs.Tx) error {
		tx.Trailer("Op", "assign")
		switch {
		case to.New != nil:
			made, err := m.nextConcept(ctx, tx, p.ID, *to.New)
			if err != nil {
				return err
			}
			r, err := tx.Add(concepts.Kind, made)
			if err != nil {
				return err
			}
			record = r.ID.String()
		case to.Concept != nil:
			record = to.Concept.Record
		}
		for _, x := range members {
			if _, err := tx.Add(concepts.KindAssign, concepts.Assigned{Member: x.name(), Concept: record, Topic: to.Topic, Reason: to.Reason}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || record == "" {
		return nil, err
	}
	set, err := m.Concepts(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return set.Record(record), nil
}

// nextConcept gives a new concept the label that is next, as a transaction sees it.
func (m *Memory) nextConcept(ctx context.Context, tx *refs.Tx, p refs.Project, made concepts.Made) (concepts.Made, error) {
	records, err := m.upperAt(ctx, tx, p)
	if err != nil {
		return made, err
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return made, err
	}
	set, err := concepts.Fold(statements(records, concepts.Kind), &facts.Set{}, trust.Of)
	if err != nil {
		return made, err
	}
	made.Label = set.NextLabel()
	return made, nil
}

func (m *Memory) wouldAssign(ctx context.Context, p Project, to Filing) (*concepts.Concept, error) {
	if to.New == nil {
		return to.Concept, nil
	}
	set, err := m.Concepts(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	return &concepts.Concept{Label: set.NextLabel(), Name: to.New.Name, Topic: to.New.Topic, Summary: to.New.Summary}, nil
}

func assignMessage(members []Member, to Filing) string {
	what := fmt.Sprintf("%d members", len(members))
	if len(members) == 1 {
		what = members[0].String()
	}
	switch {
	case to.New != nil:
		return fmt.Sprintf("assign %s to the new concept %s", what, lastWords(to.New.Name, 40))
	case to.Concept != nil:
		return fmt.Sprintf("assign %s to %s", what, to.Concept.Label)
	}
	return "assign " + what + " to no concept"
}

// ChangeConcept says something about concepts: the fields are those of [concepts.Changed].
func (m *Memory) ChangeConcept(ctx context.Context, p Project, message string, changes ...concepts.Changed) error {
	return m.repo.Update(ctx, p.ID, message, func(tx *refs.Tx) error {
		op, _, _ := strings.Cut(message, " ")
		tx.Trailer("Op", op)
		for _, c := range changes {
			if _, err := tx.Add(concepts.KindSet, c); err != nil {
				return err
			}
		}
		return nil
	})
}
