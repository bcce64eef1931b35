package handover

import (
	"cmp"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// minQuote is the length of a quote, in bytes, by which a sentence is recognised.
const minQuote = 12

// A told is a sentence of a session that a fact quotes and that is not told again: it is told as an open issue, or it is
// no longer true. Instead says where it stands, or what came of it.
type told struct {
	session, quote string
	instead        string
}

// toldOf returns the sentences that open issues and facts that are no longer current quote. A sentence that a current
// fact of another kind quotes too stays.
func toldOf(known *facts.Set) (out []told) {
	keep := map[told]bool{}
	for f := range known.All() {
		for _, e := range f.Evidence {
			t := told{session: f.Session, quote: facts.Plain(e.Quote)}
			switch {
			case f.Current() && !f.Open():
				keep[t] = true
				continue
			case f.Verdict == facts.Rejected || f.Removed || f.Revoked != "" || len(t.quote) < minQuote:
				continue
			case f.Open():
				t.instead = "the open issue " + f.ID
			default:
				t.instead = "what was settled since"
				if by := cmp.Or(f.ResolvedBy, f.SupersededBy, f.RefutedBy); by != "" {
					t.instead += " by " + by
				}
			}
			out = append(out, t)
		}
	}
	return slices.DeleteFunc(out, func(t told) bool { return keep[told{session: t.session, quote: t.quote}] })
}

// settle removes the sentences from the answers and wants of digests, which may be shared.
func settle(digests []Digest, list []told) {
	for i := range digests {
		d := &digests[i]
		of := func(sentence string) *told {
			sentence = facts.Plain(sentence)
			for k := range list {
				if list[k].session == d.Session && strings.Contains(sentence, list[k].quote) {
					return &list[k]
				}
			}
			return nil
		}
		if !slices.ContainsFunc(list, func(t told) bool { return t.session == d.Session }) {
			continue
		}
		d.Wants = slices.DeleteFunc(slices.Clone(d.Wants), func(w Want) bool { return of(w.Text) != nil })
		d.Turns = slices.Clone(d.Turns)
		for k := range d.Turns {
			t := &d.Turns[k]
			var left []string
			for line := range strings.Lines(t.Answered.Text) {
				var kept []string
				for _, sentence := range clauses(strings.TrimSpace(line)) {
					if gone := of(sentence); gone != nil {
						t.Settled = gone.instead
					} else {
						kept = append(kept, sentence)
					}
				}
				if s := strings.Join(kept, " "); strings.Trim(s, "•◦· ") != "" {
					left = append(left, s)
				}
			}
			if t.Settled != "" {
				t.Answered.Text = strings.Join(left, "\n")
			}
		}
	}
}
