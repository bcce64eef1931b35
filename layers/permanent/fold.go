package permanent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/concepts"
	"github.com/memvcs/mem/layers/facts"
)

// A Record is one statement with its place among all others.
type Record = concepts.Record

// What acts do to confidence, in hundredths. One who is not the user is never quite sure.
const (
	certain     = 100
	mostSure    = 95
	validates   = 5
	contradicts = 20
	lessWitness = 10 // of each session less that bears witness

	// MaxContradictions is how many of them bring a rule to review.
	MaxContradictions = 2
)

// Fold returns what records say of rules that rest on facts. Records of other kinds are passed over; their
// order does not matter. What a device that is not trusted states is no more than proposed, and what it does to
// rules counts only when it is; nil trusts all. Revoked says why what was typed in a session counts no more, ""
// if it does; what rests on that or on a revoked fact is left out, and a rule of which too little is left is
// hidden.
func Fold(records []Record, known *facts.Set, trusted func(device string) bool,
	revoked func(session string) string) (*Set, error) {
	if trusted == nil {
		trusted = func(string) bool { return true }
	}
	if revoked == nil {
		revoked = func(string) string { return "" }
	}
	s := &Set{dismissed: map[string]bool{}}
	byRecord := map[string]*Rule{}
	byKey := map[string]facts.Fact{}
	for f := range known.All() {
		byKey[f.Key().String()] = *f
	}
	records = slices.SortedFunc(slices.Values(records), Record.Compare)
	records = slices.DeleteFunc(records, func(r Record) bool { return r.Kind != Kind && !trusted(r.Device) })
	records, err := said(records)
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Kind != Kind {
			continue
		}
		err := apply(r, func(m Made) {
			byRecord[r.ID] = m.rule(r, byKey, revoked)
			if !trusted(r.Device) {
				byRecord[r.ID].distrust()
			}
			s.Rules = append(s.Rules, byRecord[r.ID])
		})
		if err != nil {
			return nil, err
		}
	}
	for _, r := range records {
		var err error
		switch r.Kind {
		case KindAct:
			err = apply(r, func(a Act) {
				if rule := byRecord[a.Rule]; rule != nil && byKey[a.Evidence].Revoked == "" &&
					(a.Word == nil || revoked(a.Word.Session) == "") {
					rule.act(r, a)
				}
				s.dismiss(a)
			})
		case KindReflect:
			err = apply(r, func(f Reflection) {
				s.Reflected = max(s.Reflected, f.Seen)
				if r.Time.After(s.ReflectedAt) {
					s.ReflectedAt = r.Time
				}
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}

// said returns the records without those that were made void, in their order.
func said(records []Record) ([]Record, error) {
	void := map[string]bool{}
	for _, r := range records {
		if r.Kind != KindAct {
			continue
		}
		err := apply(r, func(a Act) {
			switch a.Act {
			case Void:
				void[a.Rule] = true
			case Restore:
				delete(void, a.Rule)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(records, func(r Record) bool { return void[r.ID] }), nil
}

func apply[T any](r Record, f func(T)) error {
	var body T
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("record %s: %s body: %w", r.ID[:min(8, len(r.ID))], r.Kind, err)
	}
	f(body)
	return nil
}

// dismiss takes a candidate out of what is shown, or with a promotion back in.
func (s *Set) dismiss(a Act) {
	switch a.Act {
	case Dismiss:
		s.dismissed[a.Rule] = true
	case Promote:
		delete(s.dismissed, a.Rule)
	}
}

// rule returns the rule as it was made, trusted no more than its writer and its evidence. What rests on nothing
// but tools, files, the web or scripts is no more than proposed.
func (m Made) rule(r Record, byKey map[string]facts.Fact, revoked func(string) string) *Rule {
	out := &Rule{
		ID: "r:" + r.ID[:min(8, len(r.ID))], Record: r.ID, Device: r.Device, Type: m.Type, Text: m.Text, Problem: m.Problem,
		Files: append([]string{}, m.Files...), Confidence: min(max(m.Confidence, 0), certain), Made: r.Time,
		LastValidated: r.Time, Trust: m.Trust,
		Evidence: []string{}, State: m.State, Reason: m.Reason, Candidate: m.Candidate, against: map[string]bool{},
	}
	if !slices.Contains([]string{Proposed, Active}, out.State) {
		out.State = Proposed
	}
	why := ""
	before, after := map[string]bool{}, map[string]bool{} // sessions that bear witness
	for _, key := range m.Evidence {
		f, ok := byKey[key]
		if !ok {
			// its record has not arrived
			out.Evidence, out.keys = append(out.Evidence, "f:"+key[:min(8, len(key))]), append(out.keys, key)
			continue
		}
		out.Trust = min(out.Trust, f.Trust) // also of what is left out: that never makes a rule more trusted
		before[f.Session] = true
		if f.Revoked != "" {
			why, out.Lost = f.Revoked, out.Lost+1
			continue
		}
		after[f.Session] = true
		out.Evidence, out.keys = append(out.Evidence, f.ID), append(out.keys, key)
	}
	for _, w := range m.Words {
		if gone := revoked(w.Session); gone != "" {
			why, out.Lost = gone, out.Lost+1
			continue
		}
		out.Words = append(out.Words, w)
	}
	if m.ByUser || len(out.Words) > 0 {
		out.said()
	}
	if out.Lost > 0 {
		out.rest(len(before), len(after), why)
	}
	if out.Trust < facts.Assistant {
		out.State = Proposed
	}
	return out
}

// rest hides a rule of which too little is left: nothing at all, or fewer sessions than a candidate must have
// where it had them. The user's own word is enough for any.
func (r *Rule) rest(before, after int, why string) {
	need := minDecisions
	if r.Type == IsSolution {
		need = minSolutions
	}
	switch {
	case r.Stated:
	case len(r.Evidence) == 0:
		r.Revoked = "nothing is left of what it rests on: " + why
	case before >= need && after < need:
		r.Revoked = fmt.Sprintf("%d of %d sessions that bear witness are left: %s", after, before, why)
	case r.Candidate != "":
		r.Confidence = max(0, r.Confidence-lessWitness*(before-after))
	}
}

// distrust makes the rule one that nobody known has vouched for.
func (r *Rule) distrust() { r.State, r.Trust, r.Stated = Proposed, facts.Tool, false }

// said notes that the user has said so.
func (r *Rule) said() { r.Stated, r.Trust = true, facts.User }

// act does to the rule what a record says.
func (r *Rule) act(rec Record, a Act) {
	user := a.ByUser || a.Word != nil
	if a.Word != nil && a.Act == Promote {
		r.Words = append(slices.Clip(r.Words), *a.Word)
	}
	switch a.Act {
	case Promote:
		if user {
			r.said()
			r.Confidence, r.Revoked = certain, ""
		}
		if r.Trust < facts.Assistant {
			return // only the user's word makes a rule of it
		}
		r.State, r.Removal = Active, false
		r.settle(rec)
	case Validate:
		r.Confidence = max(r.Confidence, min(r.Confidence+validates, r.most()))
		if r.State == Review && (user || !r.Stated || !r.Removal) {
			r.State, r.Removal = Active, false
		}
		r.settle(rec)
	case Contradict:
		if key := cmp.Or(a.Evidence, rec.ID); !r.against[key] {
			r.against[key] = true
			r.Contradictions++
			r.Confidence = max(0, r.Confidence-contradicts)
		}
		if r.Contradictions >= MaxContradictions && r.State == Active {
			r.State = Review
		}
	case Question:
		if r.State == Active {
			r.State = Review
		}
	case Retire, Dismiss:
		r.retire(user)
	default:
		return // said by a newer program
	}
	r.Reason = a.Reason
}

// retire ends the rule, or proposes that if the user stated it and somebody else wants it gone.
func (r *Rule) retire(user bool) {
	switch {
	case user || !r.Stated:
		r.State, r.Removal = Retired, false
	case r.State != Retired:
		r.State, r.Removal = Review, true
	}
}

// settle notes that the rule was found to hold: what was said against it before is answered.
func (r *Rule) settle(rec Record) {
	r.Contradictions = 0
	if rec.Time.After(r.LastValidated) {
		r.LastValidated = rec.Time
	}
}

func (r *Rule) most() int {
	if r.Stated {
		return certain
	}
	return mostSure
}
