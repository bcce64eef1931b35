// Package concepts groups the sessions of a project by task: the third layer, after LiSA.
//
// A [Concept] is one task, such as a feature or a kind of bug, with all exchanges about it in any session.
// Membership is decided by meaning: Claude or the user reads the exchange and assigns it. This package never groups
// by common files or keywords, because everything in a project shares some of those, and one concept for everything
// is useless.
//
// A [Set] is folded by [Fold] from statements, in any order of arrival. A later statement can undo every earlier
// one: an assignment is replaced by another, a merge or a removal is reversed.
package concepts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/facts"
)

// The kinds of records that [Fold] reads.
const (
	Kind       = "concept"        // a [Made]
	KindAssign = "concept-assign" // an [Assigned]
	KindSet    = "concept-set"    // a [Changed]
)

// A Made says that there is a concept; its record names it.
type Made struct {
	Label   string `json:"label"` // c001; one up for each, no number is used twice by a device
	Name    string `json:"name"`
	Topic   string `json:"topic,omitempty"` // 3 to 5 words
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"reason,omitempty"` // why it is none of the others
}

// An Assigned says which concept something belongs to; the last one of the same member wins.
type Assigned struct {
	Member  string `json:"member"`  // session/<id> or exchange/<key>
	Concept string `json:"concept"` // name of its record; "" takes back what was said
	Topic   string `json:"topic,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// A Changed gives a field of a concept another value; the last one of the same field wins.
type Changed struct {
	Concept string `json:"concept"` // name of its record
	// name, topic, summary; into: the record of the concept it became part of; removed: true
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
}

// A Concept is one job of a project.
type Concept struct {
	ID     string `json:"id"` // c: and the first digits of its record
	Label  string `json:"label"`
	Record string `json:"record"`
	Device string `json:"device"`

	Name    string `json:"name"`
	Topic   string `json:"topic,omitempty"`
	Summary string `json:"summary,omitempty"`

	Sessions  []string  `json:"sessions"`  // in the order in which they came to it
	Exchanges []string  `json:"exchanges"` // in the order of time
	Files     []string  `json:"files"`     // of its exchanges, the most frequent first
	Keywords  []string  `json:"keywords"`
	Made      time.Time `json:"made"`
	Updated   time.Time `json:"updated"` // when something came to it last, or was said about it

	MergedInto string `json:"merged_into,omitempty"` // record of the concept that has its members now
	Removed    bool   `json:"removed,omitempty"`
	// why it is hidden: all that it holds comes from sources that were revoked
	Revoked string `json:"revoked,omitempty"`
	// why its summary is not used: some of what it holds does, and nobody wrote it anew since
	Doubt string `json:"doubt,omitempty"`
	Said  uint64 `json:"-"` // lamport time of the last word on its name or summary
}

// Stands reports whether c is a concept of its own now.
func (c *Concept) Stands() bool { return c.MergedInto == "" && !c.Removed && c.Revoked == "" }

// A Member is a session or an exchange, and why it belongs where it does.
type Member struct {
	Concept *Concept // nil: none
	Reason  string
	Time    time.Time
}

// A Set is what is said about the concepts of a project.
type Set struct {
	Concepts []*Concept // in the order in which they were made; also those that do not stand any more

	trusted  func(device string) bool // nil: all are
	byRecord map[string]*Concept
	members  map[string]Member // by "session/..." and "exchange/...", whether the thing is known or not
}

// Live returns the concepts that stand, by label.
func (s *Set) Live() []*Concept {
	var out []*Concept
	for _, c := range s.Concepts {
		if c.Stands() {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *Concept) int { return cmp.Compare(number(a.Label), number(b.Label)) })
	return out
}

// Of returns what an exchange belongs to: what was said of it, or else of its session.
func (s *Set) Of(exchange, session string) Member {
	if m, ok := s.members["exchange/"+exchange]; ok {
		return m
	}
	return s.members["session/"+session]
}

// OfSession returns what was said of a session as a whole.
func (s *Set) OfSession(session string) Member { return s.members["session/"+session] }

// Unassigned returns the exchanges without a concept, in the order of time.
func (s *Set) Unassigned(known *facts.Set) []*facts.Exchange {
	return slices.DeleteFunc(standing(known), func(x *facts.Exchange) bool {
		return s.Of(x.ID,
			x.Session).Concept != nil
	})
}

// Assigned reports whether something was said of the exchange itself.
func (s *Set) Assigned(exchange string) bool {
	_, ok := s.members["exchange/"+exchange]
	return ok
}

// Record returns the concept of a record, nil if there is none.
func (s *Set) Record(id string) *Concept { return s.byRecord[id] }

// NextLabel returns the label of the next concept. It is above all that trusted devices gave, so that only devices that
// have not heard of each other make the same one. A device that is not trusted cannot use the numbers up.
func (s *Set) NextLabel() string { return s.LabelAfter(0) }

// LabelAfter returns the label of the concept that n others come before.
func (s *Set) LabelAfter(n int) string {
	last := 0
	for _, c := range s.Concepts {
		if s.trusted == nil || s.trusted(c.Device) {
			last = max(last, number(c.Label))
		}
	}
	return labelOf(last + 1 + n)
}

// Find returns the concepts that name may stand for: by label, by label and device as in c001~d3f1, by id with
// or without its c:, or by name. A bare label means that of this device if it has one.
func (s *Set) Find(name, device string) []*Concept {
	label, of, _ := strings.Cut(name, "~")
	var found []*Concept
	for _, c := range s.Concepts {
		if c.Record == name || isID(name) && strings.HasPrefix(c.Record, strings.TrimPrefix(name, "c:")) ||
			number(label) > 0 && number(c.Label) == number(label) && strings.HasPrefix(c.Device, of) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, c := range s.Concepts {
			if c.Stands() && strings.EqualFold(c.Name, name) {
				found = append(found, c)
			}
		}
	}
	own := slices.IndexFunc(found, func(c *Concept) bool { return c.Device == device })
	if own >= 0 && of == "" && number(label) > 0 {
		return found[own : own+1]
	}
	return found
}

// Shown writes the label of a concept as it must be typed on a device: c002, or c002~d3f1a2b4 if another concept has
// that label and this is not the device's own.
func (s *Set) Shown(c *Concept, device string) string {
	if c.Device == device {
		return c.Label
	}
	for _, o := range s.Concepts {
		if o != c && o.Label == c.Label {
			return c.Label + "~" + c.Device[:min(8, len(c.Device))]
		}
	}
	return c.Label
}

// isID reports whether name is the start of a record's name, as in c:9f2c61ab.
func isID(name string) bool {
	digits := strings.TrimPrefix(name, "c:")
	return digits != name && len(digits) >= 4 && strings.Trim(digits, "0123456789abcdef") == ""
}

// number returns the number of a label, 0 if it is none: c001 and c1 are 1.
func number(label string) int {
	digits, ok := strings.CutPrefix(label, "c")
	if !ok || digits == "" || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	n := 0
	for _, d := range digits {
		n = 10*n + int(d-'0')
	}
	return n
}

// IsLabel reports whether s could be the label of a concept.
func IsLabel(s string) bool {
	label, _, _ := strings.Cut(s, "~")
	return number(label) > 0
}
