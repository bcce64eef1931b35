// Package compose makes one context from several sessions under a token budget.
//
// The work has two halves. [Choose] decides, without any I/O, which form of each session is used: the original if it
// fits its share of the budget, an existing version, or a new compression of a given size. A [Composition] then
// contains the chosen texts, and [Composition.Markdown], [Composition.Transcript] and [Composition.Manifest] format
// it for people, for the client and for programs.
//
// # Token counts
//
// A version has one token count, made together with the version by the counter of its session's model. A composition
// uses that figure ([Part.Tokens]) and counts only its own additions: the frame, which is the heading, the list of
// sources, the section headings and the tag in front of each piece ([Composition.Frame]). The total is the sum of
// both. The counter of a composition is the one that finds the most tokens among those of its sessions, so that the
// budget is kept for each model. If it finds more tokens in a part than the part's own count, the difference belongs
// to the frame. [Reserve] is an upper bound of the frame without the tags; [Part.Cost] is the share of a part in the
// budget, tags included. [Composition.Measure] counts the finished text and refuses one that exceeds its budget.
// composed.jsonl contains the same text as composed.md, piece by piece.
//
// The stored form ([Composition.Encode]) contains the inputs and no creation time: the same parts give the same
// bytes and the same name.
package compose

import (
	"fmt"
	"time"

	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/objects"
)

// A Counter counts tokens; [github.com/memvcs/mem/layers/tokens.Counter] is one.
type Counter interface {
	Count(text string) int
	ID() string
}

// A Part is one session's share of a composition.
type Part struct {
	Session  string       `json:"session"`
	Project  string       `json:"project,omitempty"`
	Title    string       `json:"title,omitempty"`
	Begin    time.Time    `json:"begin,omitzero"`
	Date     time.Time    `json:"date,omitzero"`   // when the session ended
	Version  string       `json:"version"`         // label: v002, original
	Hash     objects.Hash `json:"hash"`            // name of the version or original
	Tokens   int          `json:"tokens"`          // by the counter of its version or original; 0: Measure counts
	Messages int          `json:"messages"`        // of the session
	After    int          `json:"after,omitempty"` // its messages up to this one are those of another part
	Of       int          `json:"of,omitempty"`    // number of that part, from 1; 0 if it can be several
	Segments []Segment    `json:"-"`
}

// A Composition is an ordered list of parts under a name.
type Composition struct {
	Name    string `json:"name"`
	Budget  int    `json:"budget,omitempty"` // 0 = none
	Counter string `json:"counter"`          // ID of the counter of the frame
	Tokens  int    `json:"tokens"`           // of the parts and the frame
	Parts   []Part `json:"-"`
}

// Frame returns the tokens of c that belong to no part: headings, sources and tags.
func (c Composition) Frame() int {
	n := c.Tokens
	for _, p := range c.Parts {
		n -= p.Tokens
	}
	return n
}

// Measure counts the frame of c with counter and sets the total. A part whose tokens are 0 is counted
// with counter too. It returns a [*BudgetError] if there is a budget and c is over it.
func (c *Composition) Measure(counter Counter) error {
	c.Counter = counter.ID()
	c.Tokens = counter.Count(string(c.Markdown()))
	for i := range c.Parts {
		p := &c.Parts[i]
		if p.Tokens == 0 {
			p.Tokens = counter.Count(version.Text(p.Segments))
		}
		c.Tokens += p.Cost(counter, i) - Charge(counter, i, p.Segments)
	}
	if c.Budget == 0 || c.Tokens <= c.Budget {
		return nil
	}
	err := &BudgetError{Budget: c.Budget, Need: c.Tokens, Frame: c.Frame()}
	for _, p := range c.Parts {
		err.Pins = append(err.Pins, Pin{Session: p.Session, What: p.Version, Tokens: p.Tokens})
	}
	return err
}

// Cost returns the part of a budget that p, part number i (from 0), uses: its texts and tags by counter, and at least
// its own tokens.
func (p Part) Cost(counter Counter, i int) int {
	return max(p.Tokens, Charge(counter, i, p.Segments))
}

// Charge returns the tokens of the body of part i (from 0), texts and tags, by counter.
func Charge(counter Counter, i int, segments []Segment) int {
	return counter.Count(body(i, segments))
}

// Reserve returns an upper bound of the tokens of a composition outside its bodies. The parts need session, title,
// project and date. An unknown version or hash counts as the longest possible one.
func Reserve(counter Counter, name string, parts []Part) int {
	c := Composition{Name: name, Parts: append([]Part(nil), parts...)}
	for i := range c.Parts {
		p := &c.Parts[i]
		p.Hash = widestHash
		if p.Version == "" {
			p.Version = "v0000"
		}
	}
	n := counter.Count(c.heading()+separator) + counter.Count(c.footer()+"\n")
	for i := range c.Parts {
		n += counter.Count(c.Parts[i].heading(i) + separator)
	}
	return n
}

// widestHash is a hash whose short form has one token for every character.
var widestHash = objects.Hash{0x1a, 0x2b, 0x3c, 0x4d}

// A BudgetError means that the required content does not fit.
type BudgetError struct {
	Budget int
	Need   int // sufficient budget
	Frame  int // of Need: headings, sources and tags
	Pins   []Pin
}

// A Pin is content with a fixed size.
type Pin struct {
	Session string
	// a label, "share" for a fixed share, "markers" for texts that no compression may drop, "least" for the minimum
	// of a part
	What   string
	Tokens int
}

func (e *BudgetError) Error() string {
	s := fmt.Sprintf("a budget of %d tokens is too small: %d are enough", e.Budget, e.Need)
	sep := ", with "
	for _, p := range e.Pins {
		s += fmt.Sprintf("%s%s (%s) %d", sep, p.Session, p.What, p.Tokens)
		sep = ", "
	}
	if e.Frame > 0 {
		s += fmt.Sprintf("%sheadings %d", sep, e.Frame)
	}
	return s
}

// Fit compresses until the body costs at most budget: it calls compress with budget, and with fewer tokens as long as
// charge exceeds the budget. The error is that of compress, or a [*BudgetError].
func Fit(budget int, charge func([]Segment) int, compress func(tokens int) ([]Segment, error)) error {
	ask, last, step := budget, 0, max(1, budget/400)
	for try := range 10 {
		segments, err := compress(ask)
		if err != nil {
			return err
		}
		cost := charge(segments)
		if cost <= budget {
			return nil
		}
		if cost == last {
			step *= 2
		}
		if ask, last = nextAsk(ask, cost, budget, step*min(try, 1)), cost; ask <= 0 {
			break
		}
	}
	return &BudgetError{Budget: budget, Need: budget - ask + 1}
}

// nextAsk returns the size to request after ask cost more than budget: first (step is 0) in proportion, then reduced by
// the excess and by step, since another size has other texts with other tags. A compression consists of whole clauses:
// a slightly smaller one may be the same text, so the step doubles while the cost stays the same.
func nextAsk(ask, cost, budget, step int) int {
	if step == 0 {
		return min(ask-1, mulDiv(ask, budget, cost))
	}
	return ask - (cost - budget) - step
}
