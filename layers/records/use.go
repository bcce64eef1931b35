package records

import (
	"slices"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
)

// Of reports whether the override applies to a mark of the session at p.
func (o Override) Of(k planning.Mark, p *Point) bool {
	return o.Generation == p.Generation && o.Message == k.Message && o.Start == k.TextStart && o.End == k.TextEnd
}

// Mark returns the mark that the override adds to a text.
func (o Override) Mark(text string) planning.Mark {
	return planning.Mark{Message: o.Message, Marker: keepit.Marker{
		Weight: o.Weight, Start: o.Start, End: o.End, TextStart: o.Start, TextEnd: o.End, Text: text[o.Start:o.End],
		Closed: true,
	}}
}

// A Use records that a session used parts of memory: the body of a "use" record. A session uses the parts of a
// composition that it was started from or that it got, and the sessions mentioned in its context. Used sessions
// decay less.
type Use struct {
	By      string    `json:"by"`      // the session that used it
	At      time.Time `json:"at"`      // by the clock of that session
	Targets []string  `json:"targets"` // session/<id>, version/<record>, composition/<name>
}

// A Rehearsal summarises the uses of a target.
type Rehearsal struct {
	Last time.Time // zero if it was never used
	By   []string  // the sessions that used it, in the order of first use
}

// Rehearse adds a use.
func (r *Rehearsal) Rehearse(u Use) {
	if u.At.After(r.Last) {
		r.Last = u.At
	}
	if !slices.Contains(r.By, u.By) {
		r.By = append(r.By, u.By)
	}
}
