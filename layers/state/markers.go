package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/version"
)

// A Keepit is a marker of a session with its text and position. Its ID is k1, k2, ... in the order of the session, or
// a1, a2, ... in the order in which markers.AddKeepit added it. A removed marker retains its ID.
type Keepit struct {
	ID      string
	Mark    planning.Mark
	Context string // the text before it in the message
	Set     bool   // its weight was changed
	Added   bool   // it was added later, without a tag
	Removed bool   // it has no effect any more
	Kept    []string
	Lost    []string // labels of versions
}

// LastWords returns the end of s in one line of at most n characters. It reads only the end of s.
func LastWords(s string, n int) string {
	const most = 16 // bytes of a character with the spaces around it
	r := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(s[max(0, len(s)-most*n):], "")), " "))
	if len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return string(r)
}

// Marks returns the markers in the items of the session at p, in order, without removed ones.
func (s *Session) Marks(in compress.Input, p *records.Point) []planning.Mark {
	var out []planning.Mark
	for _, k := range s.Keepits(in, p) {
		if !k.Removed {
			out = append(out, k.Mark)
		}
	}
	return out
}

// Keepits returns the markers in the items of the session at p, including removed ones, in the order of their texts.
func (s *Session) Keepits(in compress.Input, p *records.Point) []Keepit {
	var out []Keepit
	for i := range in.Items {
		it := &in.Items[i]
		if it.Kind != version.User {
			continue
		}
		text := it.Text
		for _, mark := range planning.Marks(it.N, text) {
			k := Keepit{ID: fmt.Sprintf("k%d", len(out)+1), Mark: mark, Context: LastWords(text[:mark.Start], 60)}
			for _, o := range s.Overrides {
				if o.Of(mark, p) && !o.Added {
					k.Set, k.Removed, k.Mark.Weight = o.Weight != mark.Weight, o.Removed, o.Weight
				}
			}
			out = append(out, k)
		}
	}
	added := 0
	for _, o := range s.Overrides {
		if !o.Added || o.Generation != p.Generation {
			continue
		}
		added++
		if text, ok := typedAt(in, o); ok {
			k := Keepit{ID: fmt.Sprintf("a%d", added), Mark: o.Mark(text), Context: LastWords(text[:o.Start], 60), Added: true,
				Removed: o.Removed}
			k.Removed = k.Removed || slices.ContainsFunc(out, func(x Keepit) bool {
				return !x.Removed && Overlap(x.Mark, k.Mark)
			})
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b Keepit) int {
		return cmp.Or(cmp.Compare(a.Mark.Message, b.Mark.Message), cmp.Compare(a.Mark.Start, b.Mark.Start))
	})
	return out
}

// typedAt returns the text of the item that contains the text of an override; ok is false if there is none.
func typedAt(in compress.Input, o records.Override) (string, bool) {
	for i := range in.Items {
		it := &in.Items[i]
		if it.N != o.Message || it.Kind != version.User {
			continue
		}
		if text := it.Text; 0 <= o.Start && o.Start < o.End && o.End <= len(text) &&
			utf8.ValidString(text[o.Start:o.End]) {
			return text, true
		}
	}
	return "", false
}

// Overlap reports whether two marks overlap.
func Overlap(a, b planning.Mark) bool {
	return a.Message == b.Message && a.Start < b.End && b.Start < a.End
}

// overridden applies the overrides of a session to its markers. Typed markers come first, so that an added marker
// counts where no typed one does.
func (s *Session) overridden(marks []records.Mark) []records.Mark {
	if len(s.Overrides) == 0 {
		return marks
	}
	marks = slices.Clone(marks)
	for _, o := range s.Overrides {
		i := slices.IndexFunc(marks, func(k records.Mark) bool {
			return k.N == o.Message && k.Start <= o.Start && o.End <= k.End
		})
		switch {
		case o.Generation != s.Now().Generation || o.Added || i < 0:
		case o.Removed:
			marks = slices.Delete(marks, i, i+1)
		default:
			marks[i].Weight = o.Weight
		}
	}
	for _, o := range s.Overrides {
		taken := func(k records.Mark) bool { return k.N == o.Message && k.Start < o.End && o.Start < k.End }
		if o.Generation == s.Now().Generation && o.Added && !o.Removed && !slices.ContainsFunc(marks, taken) {
			marks = append(marks, records.Mark{N: o.Message, Weight: o.Weight, Start: o.Start, End: o.End})
		}
	}
	return marks
}

// override keeps the last override of each text.
func (st *State) override(o override) {
	i := slices.IndexFunc(st.Keepits, func(x override) bool {
		a, b := x.Override, o.Override
		a.Weight, a.Removed, b.Weight, b.Removed = 0, false, 0, false
		return a == b
	})
	if i < 0 {
		st.Keepits = append(st.Keepits, o)
		return
	}
	was := st.Keepits[i]
	if o.Stamp.Compare(was.Stamp) > 0 {
		st.Keepits[i] = o
	}
	if st.Keepits[i].First = was.First; o.First.Compare(was.First) < 0 {
		st.Keepits[i].First = o.First
	}
}

// Markers returns the markers of the session now, in order: those in messages that the user did not withdraw.
func (s *Session) Markers() []records.Mark {
	now := s.Now()
	var out []records.Mark
	for _, p := range s.Chain(now) {
		for _, k := range p.Markers {
			if !now.Rewound.Has(k.N) {
				out = append(out, k)
			}
		}
	}
	for _, k := range now.Waiting {
		if !now.Rewound.Has(k.N) {
			out = append(out, k)
		}
	}
	return s.overridden(out)
}

// Marked returns how many markers the session has now.
func (s *Session) Marked() int {
	now := s.Now()
	if len(s.Overrides) > 0 || len(now.Rewound) > 0 {
		return len(s.Markers())
	}
	n := len(now.Waiting)
	for i := range s.Points {
		if q := &s.Points[i]; q.Stamp.Device == now.Stamp.Device && q.Generation == now.Generation {
			n += len(q.Markers)
		}
	}
	return n
}
