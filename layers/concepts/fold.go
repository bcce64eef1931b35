package concepts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/facts"
)

// A Record is one statement with its place among all others.
type Record struct {
	Kind    string
	ID      string // hexadecimal
	Lamport uint64
	Device  string
	Time    time.Time
	Body    json.RawMessage
}

// Compare orders records by (lamport, device, id): of two that say something of one thing the later one wins.
func (r Record) Compare(o Record) int {
	return cmp.Or(cmp.Compare(r.Lamport, o.Lamport), cmp.Compare(r.Device, o.Device), cmp.Compare(r.ID, o.ID))
}

// Fold returns what records say of concepts, with what the exchanges that belong to them hold. Records of other
// kinds are passed over; their order does not matter. What a device that is not trusted says of concepts counts
// only for its own and those of others like it; nil trusts all.
func Fold(records []Record, known *facts.Set, trusted func(device string) bool) (*Set, error) {
	given := trusted
	if trusted == nil {
		trusted = func(string) bool { return true }
	}
	f := folding{trusted: trusted, Set: &Set{trusted: given, byRecord: map[string]*Concept{},
		members: map[string]Member{}}, assigned: map[string]assignment{}}
	records = slices.SortedFunc(slices.Values(records), Record.Compare)
	for _, r := range records { // a device may speak of a concept that another one made later by the clock of neither
		if r.Kind == Kind {
			if err := apply(r, f.made); err != nil {
				return nil, err
			}
		}
	}
	into := map[*Concept]string{}
	for _, r := range records {
		var err error
		switch r.Kind {
		case KindAssign:
			err = apply(r, f.assign)
		case KindSet:
			err = apply(r, func(r Record, c Changed) { f.change(r, c, into) })
		}
		if err != nil {
			return nil, err
		}
	}
	f.merge(into)
	f.fill(known)
	return f.Set, nil
}

func apply[T any](r Record, f func(Record, T)) error {
	var body T
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID[:min(8, len(r.ID))], r.Kind, err)
	}
	f(r, body)
	return nil
}

type assignment struct {
	Assigned
	time    time.Time
	trusted bool
}

type folding struct {
	*Set
	trusted  func(string) bool
	assigned map[string]assignment
}

func (f *folding) made(r Record, m Made) {
	c := &Concept{
		ID: "c:" + r.ID[:min(8, len(r.ID))], Record: r.ID, Label: m.Label, Device: r.Device, Name: m.Name,
		Topic:    m.Topic,
		Summary:  m.Summary,
		Sessions: []string{}, Exchanges: []string{}, Files: []string{}, Keywords: []string{}, Made: r.Time,
		Updated: r.Time,
		Said:    r.Lamport,
	}
	f.Concepts = append(f.Concepts, c)
	f.byRecord[r.ID] = c
}

func (f *folding) assign(r Record, a Assigned) {
	was, ok := f.assigned[a.Member]
	if trusted := f.trusted(r.Device); trusted || (!ok || !was.trusted) && !f.vouched(a.Concept) {
		f.assigned[a.Member] = assignment{a, r.Time, trusted}
	}
}

// vouched reports whether a concept is that of a trusted device.
func (f *folding) vouched(concept string) bool {
	c := f.byRecord[concept]
	return c != nil && f.trusted(c.Device)
}

func (f *folding) change(r Record, s Changed, into map[*Concept]string) {
	c := f.byRecord[s.Concept]
	if c == nil || f.trusted(c.Device) && !f.trusted(r.Device) {
		return // of a concept whose record has not arrived, or by somebody who may not
	}
	switch s.Field {
	case "name":
		c.Name = s.Value
		c.Said = r.Lamport
	case "topic":
		c.Topic = s.Value
	case "summary":
		c.Summary = s.Value
		c.Said = r.Lamport
	case "into":
		into[c] = s.Value
	case "removed":
		c.Removed = s.Value == "true"
	default:
		return // said by a newer program
	}
	c.Updated = later(c.Updated, r.Time)
}

// merge follows each merge to its end. Two devices may have merged two concepts into each other: then the one that was
// made first stands.
func (f *folding) merge(into map[*Concept]string) {
	for i, c := range f.Concepts {
		end, seen := c, map[*Concept]bool{}
		for f.byRecord[into[end]] != nil && !seen[end] {
			seen[end] = true
			end = f.byRecord[into[end]]
		}
		if seen[end] { // a circle
			ring := map[*Concept]bool{}
			for k := end; !ring[k]; k = f.byRecord[into[k]] {
				ring[k] = true
			}
			end = f.Concepts[slices.IndexFunc(f.Concepts, func(k *Concept) bool { return ring[k] })]
		}
		if end != c {
			f.Concepts[i].MergedInto = end.Record
		}
	}
}

// stands returns the concept that has the members of c, nil if none.
func (s *Set) stands(record string) *Concept {
	c := s.byRecord[record]
	if c != nil && c.MergedInto != "" {
		c = s.byRecord[c.MergedInto]
	}
	if c == nil || c.Removed {
		return nil
	}
	return c
}

// fill gives concepts what belongs to them.
func (f *folding) fill(known *facts.Set) {
	for _, member := range slices.Sorted(maps.Keys(f.assigned)) {
		a := f.assigned[member]
		if a.Concept == "" {
			continue // as if nothing had been said
		}
		c := f.stands(a.Concept)
		f.members[member] = Member{c, a.Reason, a.time}
		if c != nil {
			c.Updated = later(c.Updated, a.time)
		}
	}
	type of struct {
		c    *Concept
		when time.Time
		id   string
	}
	var sessions []of
	for member, m := range f.members {
		if id := member[min(len("session/"), len(member)):]; m.Concept != nil && member == "session/"+id {
			sessions = append(sessions, of{m.Concept, m.Time, id})
		}
	}
	files, words := map[*Concept]*tally{}, map[*Concept]*tally{}
	for _, x := range standing(known) {
		if m, ok := f.members["exchange/"+x.Key().String()]; ok {
			f.members["exchange/"+x.ID] = m
		}
		m := f.Of(x.ID, x.Session)
		if m.Concept == nil || f.trusted(m.Concept.Device) && !f.trusted(x.Device) {
			continue
		}
		c := m.Concept
		c.Exchanges = append(c.Exchanges, x.ID)
		c.Updated = later(c.Updated, x.Time)
		sessions = append(sessions, of{c, m.Time, x.Session})
		count(files, c, x.Files)
		count(words, c, x.Keywords)
	}
	slices.SortFunc(sessions, func(a, b of) int { return cmp.Or(a.when.Compare(b.when), cmp.Compare(a.id, b.id)) })
	for _, s := range sessions {
		if !slices.Contains(s.c.Sessions, s.id) {
			s.c.Sessions = append(s.c.Sessions, s.id)
		}
	}
	for _, c := range f.Concepts {
		c.Files, c.Keywords = files[c].list(), words[c].list()
	}
}

// standing returns the exchanges that somebody could ask for, in the order of time.
func standing(known *facts.Set) []*facts.Exchange {
	var out []*facts.Exchange
	for i := range known.Exchanges {
		if x := &known.Exchanges[i]; len(x.Facts) == 0 || slices.ContainsFunc(x.Facts, facts.Fact.Stands) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b *facts.Exchange) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID,
			b.ID))
	})
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// A tally counts words in the order in which they first came.
type tally struct {
	n     map[string]int
	words []string
}

func count(all map[*Concept]*tally, c *Concept, words []string) {
	t := all[c]
	if t == nil {
		t = &tally{n: map[string]int{}}
		all[c] = t
	}
	for _, w := range words {
		if t.n[w] == 0 {
			t.words = append(t.words, w)
		}
		t.n[w]++
	}
}

// list returns the words, the most frequent first.
func (t *tally) list() []string {
	if t == nil {
		return []string{}
	}
	slices.SortStableFunc(t.words, func(a, b string) int { return cmp.Compare(t.n[b], t.n[a]) })
	return t.words
}
