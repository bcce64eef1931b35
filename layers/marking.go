package layers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
)

// A Keepit is a marker of a session with its text and where it stands. Its ID is k1, k2, ... in the order of the session, or
// a1, a2, ... in the order in which [Memory.AddKeepit] made it; one that was removed keeps its ID.
type Keepit struct {
	ID      string
	Mark    compress.Mark
	Context string // what stands before it in the message
	Set     bool   // its weight is not the one that was typed
	Added   bool   // no tag marks it
	Removed bool   // it counts no more
	Kept    []string
	Lost    []string // labels of versions
}

// Keepits returns the markers of a session that count and what became of them in its versions.
func (m *Memory) Keepits(ctx context.Context, rev Rev) ([]Keepit, error) {
	all, err := m.AllKeepits(ctx, rev)
	return slices.DeleteFunc(all, func(k Keepit) bool { return k.Removed }), err
}

// AllKeepits is Keepits with those that were removed.
func (m *Memory) AllKeepits(ctx context.Context, rev Rev) ([]Keepit, error) {
	if rev.Session == nil {
		return nil, ErrNotCompressible
	}
	st, err := m.State(ctx, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	return m.keepitsIn(ctx, st, rev)
}

// KeepitsIn is Keepits in the state st of the project, for who asks for many sessions.
func (m *Memory) KeepitsIn(ctx context.Context, st *State, rev Rev) ([]Keepit, error) {
	all, err := m.keepitsIn(ctx, st, rev)
	return slices.DeleteFunc(all, func(k Keepit) bool { return k.Removed }), err
}

func (m *Memory) keepitsIn(ctx context.Context, st *State, rev Rev) ([]Keepit, error) {
	s := st.session(rev.Session.ID)
	if s == nil {
		s = rev.Session
	}
	p := s.Now()
	items, err := m.items(ctx, rev.Project.ID, s, p)
	if err != nil {
		return nil, err
	}
	out := s.keepits(compress.Input{Items: items}, p)
	versions := st.countedOf(s.ID)
	for _, v := range versions {
		if v.guest && s.Guest == "" {
			continue
		}
		fates := v.markFates()
		for i := range out {
			switch kept, ok := fates[placeOf(out[i].Mark)]; {
			case !ok:
			case kept:
				out[i].Kept = append(out[i].Kept, v.Label)
			default:
				out[i].Lost = append(out[i].Lost, v.Label)
			}
		}
	}
	return out, nil
}

// lastWords returns the end of s in one line of at most n characters. It reads no more of s than that takes.
func lastWords(s string, n int) string {
	at, space, left := len(s), true, n+2 // characters that are still wanted: one more than fits, and a space before it
	for at > 0 && left > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
		if is := unicode.IsSpace(r); !is || !space {
			left--
			space = is
		}
	}
	r := []rune(strings.Join(strings.Fields(s[at:]), " "))
	if len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return string(r)
}

// marks returns the markers that count in the items of the session at p, in order.
func (s *Session) marks(in compress.Input, p *Point) []compress.Mark {
	var out []compress.Mark
	for _, k := range s.keepits(in, p) {
		if !k.Removed {
			out = append(out, k.Mark)
		}
	}
	return out
}

// keepits returns the markers in the items of the session at p, also those that were removed, in the order of their texts.
func (s *Session) keepits(in compress.Input, p *Point) []Keepit {
	var out []Keepit
	for i := range in.Items {
		it := &in.Items[i]
		if it.Kind != compress.User {
			continue
		}
		text := in.Text(it)
		for _, mark := range compress.Marks(it.N, text) {
			k := Keepit{ID: fmt.Sprintf("k%d", len(out)+1), Mark: mark, Context: lastWords(text[:mark.Start], 60)}
			for _, o := range s.Overrides {
				if o.of(mark, p) && !o.Added {
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
			k := Keepit{ID: fmt.Sprintf("a%d", added), Mark: o.mark(text), Context: lastWords(text[:o.Start], 60), Added: true, Removed: o.Removed}
			k.Removed = k.Removed || slices.ContainsFunc(out, func(x Keepit) bool { return !x.Removed && overlap(x.Mark, k.Mark) })
			out = append(out, k)
		}
	}
	slices.SortStableFunc(out, func(a, b Keepit) int {
		return cmp.Or(cmp.Compare(a.Mark.Message, b.Mark.Message), cmp.Compare(a.Mark.Start, b.Mark.Start))
	})
	return out
}

// of reports whether the override speaks of a mark of the session at p.
func (o Override) of(k compress.Mark, p *Point) bool {
	return o.Generation == p.Generation && o.Message == k.Message && o.Start == k.TextStart && o.End == k.TextEnd
}

// mark returns the mark that was added to a text.
func (o Override) mark(text string) compress.Mark {
	return compress.Mark{Message: o.Message, Marker: keepit.Marker{
		Weight: o.Weight, Start: o.Start, End: o.End, TextStart: o.Start, TextEnd: o.End, Text: text[o.Start:o.End], Closed: true,
	}}
}

// typedAt returns the text of the item that holds the text of an override, if there is one.
func typedAt(in compress.Input, o Override) (string, bool) {
	for i := range in.Items {
		it := &in.Items[i]
		if it.N != o.Message || it.Kind != compress.User {
			continue
		}
		if text := in.Text(it); 0 <= o.Start && o.Start < o.End && o.End <= len(text) && utf8.ValidString(text[o.Start:o.End]) {
			return text, true
		}
	}
	return "", false
}

func overlap(a, b compress.Mark) bool {
	return a.Message == b.Message && a.Start < b.End && b.Start < a.End
}
