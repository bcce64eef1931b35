package records

import (
	"slices"
	"time"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
)

// Of reports whether the override speaks of a mark of the session at p.
func (o Override) Of(k compress.Mark, p *Point) bool {
	return o.Generation == p.Generation && o.Message == k.Message && o.Start == k.TextStart && o.End == k.TextEnd
}

// Mark returns the mark that was added to a text.
func (o Override) Mark(text string) compress.Mark {
	return compress.Mark{Message: o.Message, Marker: keepit.Marker{
		Weight: o.Weight, Start: o.Start, End: o.End, TextStart: o.Start, TextEnd: o.End, Text: text[o.Start:o.End],
		Closed: true,
	}}
}

// Rehearsal: what a session used comes nearer again. A session that was started from a composition, or was given its
// text, says so in a "use" record; the parts of the composition count as accessed then. So do the sessions that
// the context tells of which a session gets at its start.

// A Use says that a session used something of memory: the body of a "use" record.
type Use struct {
	By      string    `json:"by"`      // the session that used it
	At      time.Time `json:"at"`      // when, by the clock of that session
	Targets []string  `json:"targets"` // session/<id>, version/<record>, composition/<name>
}

// A Rehearsal is what uses tell of a thing.
type Rehearsal struct {
	Last time.Time // zero if it was never used
	By   []string  // the sessions that used it, in the order of first use
}

// Rehearse counts a use.
func (r *Rehearsal) Rehearse(u Use) {
	if u.At.After(r.Last) {
		r.Last = u.At
	}
	if !slices.Contains(r.By, u.By) {
		r.By = append(r.By, u.By)
	}
}
