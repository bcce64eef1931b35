package permanent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// Confidence of rules and what acts add to or subtract from it, in hundredths.
const (
	fullConfidence = 100 // only of rules that the user stated
	maxInferred    = 95
	validateStep   = 5
	contradictStep = 20
)

// maxContradictions is the number of contradictions that put a rule under review.
const maxContradictions = 2

// Fold computes the rules from records, in any order, and from the facts in known. Records of other kinds are ignored.
//
// revoked returns the reason why the user's words in a session no longer count, "" if they count; nil means that they all
// count. Revoked quotes and facts are left out of rules, and a rule with too little remaining evidence is hidden.
func Fold(records []facts.Record, known *facts.Set, revoked func(session string) string) (*Set, error) {
	if revoked == nil {
		revoked = func(string) string { return "" }
	}
	s := &Set{dismissed: map[string]bool{}}
	byRecord := map[string]*Rule{}
	evidence := byKey(known)
	records = slices.SortedFunc(slices.Values(records), facts.Record.Compare)
	records, err := withoutVoid(records)
	if err != nil {
		return nil, err
	}
	return s, errors.Join(
		facts.Each(records, Kind, func(_ int, r facts.Record, m Definition) {
			byRecord[r.ID] = m.newRule(r, evidence, revoked)
			s.Rules = append(s.Rules, byRecord[r.ID])
		}),
		facts.Each(records, KindAct, func(_ int, r facts.Record, a Act) {
			if rule := byRecord[a.Rule]; rule != nil && evidence[a.Evidence].Revoked == "" &&
				(a.Quote == nil || revoked(a.Quote.Session) == "") {
				rule.act(r, a)
			}
			if a.Act == Dismiss || a.Act == Promote { // a promotion shows the candidate again
				s.dismissed[a.Rule] = a.Act == Dismiss
			}
		}),
		facts.Each(records, KindReflect, func(_ int, r facts.Record, f Reflection) {
			s.Reflected = max(s.Reflected, f.Seen)
			if r.Time.After(s.ReflectedAt) {
				s.ReflectedAt = r.Time
			}
		}))
}

// byKey returns facts by their keys.
func byKey(known *facts.Set) map[string]facts.Fact {
	out := map[string]facts.Fact{}
	for f := range known.All() {
		out[f.Key().String()] = *f
	}
	return out
}

// withoutVoid removes the records that an act made void. The order of the others is kept.
func withoutVoid(records []facts.Record) ([]facts.Record, error) {
	void := map[string]bool{}
	err := facts.Each(records, KindAct, func(_ int, _ facts.Record, a Act) {
		if a.Act == Void || a.Act == Restore {
			void[a.Rule] = a.Act == Void
		}
	})
	return slices.DeleteFunc(records, func(r facts.Record) bool { return void[r.ID] }), err
}

// newRule returns the rule as it was created, trusted no more than its author and its evidence. A rule that only tools,
// files, the web or scripts support is proposed.
func (m Definition) newRule(r facts.Record, evidence map[string]facts.Fact, revoked func(string) string) *Rule {
	out := &Rule{
		ID: "r:" + r.ID[:min(8, len(r.ID))], Record: r.ID, Device: r.Device, Created: r.Time, LastValidated: r.Time,
		Type: m.Type, Text: m.Text, Problem: m.Problem, Files: append([]string{}, m.Files...), Trust: m.Trust,
		Confidence: min(max(m.Confidence, 0), fullConfidence), State: m.State, Reason: m.Reason,
		Candidate: m.Candidate, Evidence: []string{}, counted: map[string]bool{},
	}
	if !slices.Contains([]string{Proposed, Active}, out.State) {
		out.State = Proposed
	}
	why := ""
	before, after := map[string]bool{}, map[string]bool{} // sessions of the evidence, with and without revoked facts
	for _, key := range m.Evidence {
		f, ok := evidence[key]
		if !ok {
			// its record has not arrived
			out.Evidence, out.keys = append(out.Evidence, "f:"+key[:min(8, len(key))]), append(out.keys, key)
			continue
		}
		out.Trust = min(out.Trust, wordTrust(f)) // a revoked fact counts too: revoking never raises the trust
		before[f.Session] = true
		if f.Revoked != "" {
			why, out.LostEvidence = f.Revoked, out.LostEvidence+1
			continue
		}
		after[f.Session] = true
		out.Evidence, out.keys = append(out.Evidence, f.ID), append(out.keys, key)
	}
	for _, w := range m.Quotes {
		if gone := revoked(w.Session); gone != "" {
			why, out.LostEvidence = gone, out.LostEvidence+1
			continue
		}
		out.Quotes = append(out.Quotes, w)
	}
	switch {
	case m.ByUser || len(out.Quotes) > 0 && !m.Derived:
		out.markStated()
	case m.Derived:
		out.Derived, out.Trust = true, min(out.Trust, facts.Assistant)
	}
	if out.LostEvidence > 0 {
		out.hideIfWeak(len(before), len(after), why)
	}
	if out.Trust < facts.Assistant {
		out.State = Proposed
	}
	return out
}

// hideIfWeak hides a rule without remaining evidence, or with evidence from fewer sessions than it needs if it had enough
// before. The user's own word is always enough.
func (r *Rule) hideIfWeak(before, after int, why string) {
	need := minSessions(r.Type)
	switch {
	case r.Stated:
	case len(r.Evidence)+len(r.Quotes) == 0:
		r.Revoked = "no evidence is left: " + why
	case before >= need && after < need:
		r.Revoked = fmt.Sprintf("evidence from %d of %d sessions is left: %s", after, before, why)
	}
}

// markStated records that the user stated the rule.
func (r *Rule) markStated() { r.Stated, r.Derived, r.Trust = true, false, facts.User }

// act applies an act to the rule.
func (r *Rule) act(rec facts.Record, a Act) {
	user := a.ByUser || a.Quote != nil
	if a.Quote != nil && a.Act == Promote {
		r.Quotes = append(slices.Clip(r.Quotes), *a.Quote)
	}
	switch a.Act {
	case Promote:
		if user {
			r.markStated()
			r.Confidence, r.Revoked = fullConfidence, ""
		}
		if r.Trust < facts.Assistant {
			return // only the user can promote it
		}
		r.State = Active
		r.confirm(rec)
	case Validate:
		most := maxInferred
		if r.Stated {
			most = fullConfidence
		}
		r.Confidence = max(r.Confidence, min(r.Confidence+validateStep, most))
		if r.State == Review {
			r.State = Active
		}
		r.confirm(rec)
	case Contradict:
		if key := cmp.Or(a.Evidence, rec.ID); !r.counted[key] {
			r.counted[key] = true
			r.Contradictions++
			r.Confidence = max(0, r.Confidence-contradictStep)
		}
		if r.Contradictions >= maxContradictions && r.State == Active {
			r.State = Review
		}
	case Question:
		if r.State == Active {
			r.State = Review
		}
	case Retire, Dismiss:
		if r.Stated && !user {
			return // only the user can remove it
		}
		r.State = Retired
	default:
		return // written by a newer version of the program
	}
	r.Reason = a.Reason
}

// confirm resets the contradictions: the rule was confirmed after them.
func (r *Rule) confirm(rec facts.Record) {
	r.Contradictions = 0
	if rec.Time.After(r.LastValidated) {
		r.LastValidated = rec.Time
	}
}
