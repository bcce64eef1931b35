// Package concepts groups the sessions of a project by task: the third layer, after LiSA.
//
// A [Concept] is one task, such as a feature or a kind of bug, with all exchanges about it in any session.
// Membership is decided by meaning: Claude or the user reads the exchange and assigns it. This package never groups
// by common files or keywords, because everything in a project shares some of those, and one concept for everything
// is useless.
//
// [Fold] computes a [Set] from records; the result does not depend on the order in which they arrived. A later record
// can undo every earlier one: an assignment is replaced by another, a merge or a removal is reversed.
package concepts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// The kinds of records that [Fold] reads.
const (
	Kind       = "concept"        // a [Definition]
	KindAssign = "concept-assign" // an [Assignment]
	KindSet    = "concept-set"    // a [Change]
)

// A Definition is the body of a record that creates a concept. The name of the record identifies the concept.
type Definition struct {
	Label   string `json:"label"` // c001; a device uses each number once
	Name    string `json:"name"`
	Topic   string `json:"topic,omitempty"` // 3 to 5 words
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"reason,omitempty"` // why no existing concept fits
}

// An Assignment assigns a member to a concept; the last one of a member counts.
type Assignment struct {
	Member  string `json:"member"`  // session/<id> or exchange/<key>
	Concept string `json:"concept"` // name of its record; "" removes the assignment
	Topic   string `json:"topic,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// A Change sets a field of a concept; the last one of a field counts.
type Change struct {
	Concept string `json:"concept"` // name of its record
	// name, topic or summary; into, with the record of the concept into which it was merged; removed, with "true"
	Field  string `json:"field"`
	Value  string `json:"value"`
	Reason string `json:"reason,omitempty"`
}

// A Concept is one task of a project.
type Concept struct {
	ID     string `json:"conceptId"` // c: and the first digits of its record
	Label  string `json:"label"`
	Record string `json:"record"`
	Device string `json:"deviceId"`

	Name    string `json:"conceptName"`
	Topic   string `json:"topic,omitempty"`
	Summary string `json:"summary,omitempty"`

	Sessions  []string  `json:"sessions"`  // in the order of assignment
	Exchanges []string  `json:"exchanges"` // in the order of time
	Files     []string  `json:"files"`     // of its exchanges, the most frequent first
	Keywords  []string  `json:"keywords"`
	Created   time.Time `json:"createdAt"`
	Updated   time.Time `json:"updated"` // time of the last change or assignment

	MergedInto string `json:"mergedInto,omitempty"` // record of the concept that contains its members
	Removed    bool   `json:"removed,omitempty"`
	// why it is hidden: all its members come from revoked sources
	Revoked string `json:"revoked,omitempty"`
	// why its summary is not used: some members come from revoked sources, and the summary was not rewritten since
	Doubt  string `json:"doubt,omitempty"`
	Edited uint64 `json:"-"` // lamport time of the last change of name or summary
}

// Live reports whether the concept is neither merged, removed nor revoked.
func (c *Concept) Live() bool { return c.MergedInto == "" && !c.Removed && c.Revoked == "" }

// A Membership is the assignment of a session or an exchange.
type Membership struct {
	Concept *Concept // nil: none
	Reason  string
	Time    time.Time
}

// A Set contains the concepts of a project.
type Set struct {
	Concepts []*Concept // in the order of creation, also those that are not live

	byRecord map[string]*Concept
	members  map[string]Membership // by "session/..." and "exchange/..."; the member may be unknown
}

// Live returns the live concepts by label.
func (s *Set) Live() []*Concept {
	var out []*Concept
	for _, c := range s.Concepts {
		if c.Live() {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b *Concept) int { return cmp.Compare(labelNumber(a.Label), labelNumber(b.Label)) })
	return out
}

// MembershipOf returns the membership of an exchange: its own, or else that of its session.
func (s *Set) MembershipOf(exchange, session string) Membership {
	if m, ok := s.members["exchange/"+exchange]; ok {
		return m
	}
	return s.SessionMembership(session)
}

// SessionMembership returns the membership of a session as a whole.
func (s *Set) SessionMembership(session string) Membership { return s.members["session/"+session] }

// Unassigned returns the live exchanges without a concept, in the order of time.
func (s *Set) Unassigned(known *facts.Set) []*facts.Exchange {
	return slices.DeleteFunc(liveExchanges(known), func(x *facts.Exchange) bool {
		return s.MembershipOf(x.ID, x.Session).Concept != nil
	})
}

// ByRecord returns the concept that a record created, nil if there is none.
func (s *Set) ByRecord(id string) *Concept { return s.byRecord[id] }

// LabelAfter returns the label for a new concept after n other new ones. It is above all known labels, so only devices
// that have not synchronised choose the same one.
func (s *Set) LabelAfter(n int) string {
	last := 0
	for _, c := range s.Concepts {
		last = max(last, labelNumber(c.Label))
	}
	return fmt.Sprintf("c%03d", last+1+n)
}

// Find returns the concepts that name may stand for: a label (c001), a label with a device (c001~d3f1), an id such as
// c:9f2c61ab, or a name. A label without a device means the concept of this device if there is one.
func (s *Set) Find(name, device string) []*Concept {
	label, of, _ := strings.Cut(name, "~")
	var found []*Concept
	for _, c := range s.Concepts {
		if c.Record == name || isID(name) && strings.HasPrefix(c.Record, strings.TrimPrefix(name, "c:")) ||
			labelNumber(label) > 0 && labelNumber(c.Label) == labelNumber(label) && strings.HasPrefix(c.Device, of) {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		for _, c := range s.Concepts {
			if c.Live() && strings.EqualFold(c.Name, name) {
				found = append(found, c)
			}
		}
	}
	own := slices.IndexFunc(found, func(c *Concept) bool { return c.Device == device })
	if own >= 0 && of == "" && labelNumber(label) > 0 {
		return found[own : own+1]
	}
	return found
}

// DisplayLabel returns the label by which a device can name the concept: c002, or c002~d3f1a2b4 if a concept of another
// device has the same label.
func (s *Set) DisplayLabel(c *Concept, device string) string {
	if c.Device != device && slices.ContainsFunc(s.Concepts, func(o *Concept) bool { return o != c && o.Label == c.Label }) {
		return c.Label + "~" + c.Device[:min(8, len(c.Device))]
	}
	return c.Label
}

// isID reports whether name is the start of an id, as in c:9f2c61ab.
func isID(name string) bool {
	digits := strings.TrimPrefix(name, "c:")
	return digits != name && len(digits) >= 4 && strings.Trim(digits, "0123456789abcdef") == ""
}

// labelNumber returns the number of a label, 0 if it is malformed: 1 for c001 and c1.
func labelNumber(label string) int {
	digits, ok := strings.CutPrefix(label, "c")
	if !ok || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return 0
	}
	n, _ := strconv.Atoi(digits) // 0 without digits
	return n
}

// IsLabel reports whether s has the form of a label.
func IsLabel(s string) bool {
	label, _, _ := strings.Cut(s, "~")
	return labelNumber(label) > 0
}
