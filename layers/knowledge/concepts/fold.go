package concepts

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// Fold computes the concepts from records, in any order, and the exchanges in known. Records of other kinds are
// ignored.
func Fold(records []facts.Record, known *facts.Set) (*Set, error) {
	f := folder{Set: &Set{byRecord: map[string]*Concept{}, members: map[string]Membership{}}, assigned: map[string]assigned{}}
	records = slices.SortedFunc(slices.Values(records), facts.Record.Compare)
	into := map[*Concept]string{}
	err := errors.Join( // first all concepts: a record about a concept can have a lower lamport time
		facts.Each(records, Kind, f.define),
		facts.Each(records, KindAssign, func(_ int, r facts.Record, a Assignment) { f.assigned[a.Member] = assigned{a, r.Time} }),
		facts.Each(records, KindSet, func(_ int, r facts.Record, c Change) { f.change(r, c, into) }))
	if err != nil {
		return nil, err
	}
	f.merge(into)
	f.addMembers(known)
	return f.Set, nil
}

type assigned struct {
	Assignment
	time time.Time
}

type folder struct {
	*Set
	assigned map[string]assigned
}

func (f *folder) define(_ int, r facts.Record, m Definition) {
	c := &Concept{
		ID: "c:" + r.ID[:min(8, len(r.ID))], Record: r.ID, Label: m.Label, Device: r.Device,
		Name: m.Name, Topic: m.Topic, Summary: m.Summary,
		Sessions: []string{}, Exchanges: []string{}, Files: []string{}, Keywords: []string{},
		Created: r.Time, Updated: r.Time, Edited: r.Lamport,
	}
	f.Concepts = append(f.Concepts, c)
	f.byRecord[r.ID] = c
}

func (f *folder) change(r facts.Record, s Change, into map[*Concept]string) {
	c := f.byRecord[s.Concept]
	if c == nil {
		return // the record of the concept has not arrived
	}
	switch s.Field {
	case "name":
		c.Name = s.Value
		c.Edited = r.Lamport
	case "topic":
		c.Topic = s.Value
	case "summary":
		c.Summary = s.Value
		c.Edited = r.Lamport
	case "into":
		into[c] = s.Value
	case "removed":
		c.Removed = s.Value == "true"
	default:
		return // written by a newer version of the program
	}
	c.Updated = later(c.Updated, r.Time)
}

// merge follows each chain of merges to its end. If devices merged concepts in a circle, the oldest one remains.
func (f *folder) merge(into map[*Concept]string) {
	next := func(c *Concept) *Concept { return f.byRecord[into[c]] }
	age := map[*Concept]int{}
	for i, c := range f.Concepts {
		age[c] = i
	}
	ends := map[*Concept]*Concept{}
	for _, c := range f.Concepts {
		var path []*Concept
		onPath := map[*Concept]bool{}
		at := c
		for ; ends[at] == nil && !onPath[at] && next(at) != nil; at = next(at) {
			path, onPath[at] = append(path, at), true
		}
		end := cmp.Or(ends[at], at)
		if onPath[at] {
			circle := path[slices.Index(path, at):]
			end = slices.MinFunc(circle, func(a, b *Concept) int { return cmp.Compare(age[a], age[b]) })
		}
		for _, k := range path {
			ends[k] = end
			if k != end {
				k.MergedInto = end.Record
			}
		}
	}
}

// target returns the concept that contains the members of a concept, nil if there is none.
func (s *Set) target(record string) *Concept {
	c := s.byRecord[record]
	if c != nil && c.MergedInto != "" {
		c = s.byRecord[c.MergedInto]
	}
	if c == nil || c.Removed {
		return nil
	}
	return c
}

// addMembers assigns members to the concepts.
func (f *folder) addMembers(known *facts.Set) {
	for _, member := range slices.Sorted(maps.Keys(f.assigned)) {
		a := f.assigned[member]
		if a.Concept == "" {
			continue // the assignment was removed
		}
		c := f.target(a.Concept)
		f.members[member] = Membership{c, a.Reason, a.time}
		if c != nil {
			c.Updated = later(c.Updated, a.time)
		}
	}
	type place struct {
		c  *Concept
		id string
	}
	since := map[place]time.Time{} // of the sessions of concepts
	see := func(at place, t time.Time) {
		if first, ok := since[at]; !ok || t.Before(first) {
			since[at] = t
		}
	}
	for member, m := range f.members {
		if id := member[min(len("session/"), len(member)):]; m.Concept != nil && member == "session/"+id {
			see(place{m.Concept, id}, m.Time)
		}
	}
	files, words := map[*Concept][]string{}, map[*Concept][]string{}
	for _, x := range liveExchanges(known) {
		if m, ok := f.members["exchange/"+x.Key().String()]; ok {
			f.members["exchange/"+x.ID] = m
		}
		m := f.MembershipOf(x.ID, x.Session)
		if m.Concept == nil {
			continue
		}
		c := m.Concept
		c.Exchanges = append(c.Exchanges, x.ID)
		c.Updated = later(c.Updated, x.Time)
		see(place{c, x.Session}, m.Time)
		files[c], words[c] = append(files[c], x.Files...), append(words[c], x.Keywords...)
	}
	for _, at := range slices.SortedFunc(maps.Keys(since), func(a, b place) int {
		return cmp.Or(since[a].Compare(since[b]), cmp.Compare(a.id, b.id))
	}) {
		at.c.Sessions = append(at.c.Sessions, at.id)
	}
	for _, c := range f.Concepts {
		c.Files, c.Keywords = byFrequency(files[c]), byFrequency(words[c])
	}
}

// liveExchanges returns the live exchanges, in the order of time.
func liveExchanges(known *facts.Set) []*facts.Exchange {
	var out []*facts.Exchange
	for i := range known.Exchanges {
		if known.Exchanges[i].Live() {
			out = append(out, &known.Exchanges[i])
		}
	}
	slices.SortFunc(out, func(a, b *facts.Exchange) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return out
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// byFrequency returns words, each once, the most frequent first, else in the order of their first occurrence.
func byFrequency(words []string) []string {
	out, n := []string{}, map[string]int{}
	for _, w := range words {
		if n[w]++; n[w] == 1 {
			out = append(out, w)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(n[b], n[a]) })
	return out
}
