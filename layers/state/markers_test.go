package state_test

import (
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

func TestLastWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""}, {"abc", 5, "abc"}, {"abcde", 5, "abcde"}, {"abcdef", 5, "…cdef"}, {"a\n  b\tc ", 5, "a b c"},
		{"one two three", 6, "…three"}, {"값을 유지", 4, "… 유지"}, {"   \n ", 5, ""},
	} {
		if got := state.LastWords(tt.text, tt.n); got != tt.want {
			t.Errorf("LastWords(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

func TestOverlap(t *testing.T) {
	t.Parallel()
	at := func(message, start, end int) planning.Mark {
		return planning.Mark{Message: message, Marker: keepit.Marker{Start: start, End: end}}
	}
	for _, tt := range []struct {
		a, b planning.Mark
		want bool
	}{
		{at(1, 0, 5), at(1, 4, 9), true}, {at(1, 0, 5), at(1, 5, 9), false}, {at(1, 0, 5), at(2, 0, 5), false}, {at(1, 0, 9), at(1, 3, 4), true},
	} {
		if state.Overlap(tt.a, tt.b) != tt.want || state.Overlap(tt.b, tt.a) != tt.want {
			t.Errorf("Overlap(%+v, %+v) is not %v", tt.a, tt.b, tt.want)
		}
	}
}

// TestMarkers changes the markers of a session by records, of which the last of each text counts, in whichever order they arrive.
func TestMarkers(t *testing.T) {
	t.Parallel()
	weight := func(s string) keepit.Weight {
		w, err := keepit.ParseWeight(s)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	mark := func(n, start, end int, w string) records.Mark {
		return records.Mark{N: n, Start: start, End: end, Weight: weight(w)}
	}
	change := func(n, start, end int, w string, added, removed bool) records.Override {
		return records.Override{Session: "s", Message: n, Start: start, End: end, Weight: weight(w), Added: added, Removed: removed}
	}
	former := change(1, 0, 10, "0.10", false, false)
	former.Generation = 3
	late := change(2, 0, 4, "0.70", true, false)
	late.Generation = 3
	for _, tt := range []struct {
		what    string
		changes []records.Override
		want    []records.Mark
	}{
		{"none", nil, []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
		{"another weight", []records.Override{change(1, 0, 10, "0.80", false, false)}, []records.Mark{mark(1, 0, 10, "0.80"), mark(4, 5, 9, "1.00")}},
		{"of a text within", []records.Override{change(1, 2, 8, "0.80", false, false)}, []records.Mark{mark(1, 0, 10, "0.80"), mark(4, 5, 9, "1.00")}},
		{"the last one", []records.Override{change(1, 0, 10, "0.80", false, false), change(1, 0, 10, "0.20", false, false)},
			[]records.Mark{mark(1, 0, 10, "0.20"), mark(4, 5, 9, "1.00")}},
		{"removed", []records.Override{change(4, 5, 9, "1.00", false, true)}, []records.Mark{mark(1, 0, 10, "0.50")}},
		{"removed and set again", []records.Override{change(4, 5, 9, "1.00", false, true), change(4, 5, 9, "0.30", false, false)},
			[]records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "0.30")}},
		{"added", []records.Override{change(2, 0, 4, "0.70", true, false)},
			[]records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00"), mark(2, 0, 4, "0.70")}},
		{"added over a typed one", []records.Override{change(1, 8, 14, "0.70", true, false)}, []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
		{"added where a typed one was removed", []records.Override{change(1, 8, 14, "0.70", true, false), change(1, 0, 10, "0.50", false, true)},
			[]records.Mark{mark(4, 5, 9, "1.00"), mark(1, 8, 14, "0.70")}},
		{"added and removed", []records.Override{change(2, 0, 4, "0.70", true, false), change(2, 0, 4, "0.70", true, true)},
			[]records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
		{"of another generation", []records.Override{former}, []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
		{"added in another generation", []records.Override{late}, []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
		{"of no marker", []records.Override{change(9, 0, 10, "0.80", false, false)}, []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}},
	} {
		for _, backwards := range []bool{false, true} {
			st := state.NewState(refs.Project("0123456789abcdef"))
			st.Index()
			p := records.Point{Stamp: records.Stamp{Device: "d0", Lamport: 1}}
			p.Session, p.Markers = "s", []records.Mark{mark(1, 0, 10, "0.50"), mark(4, 5, 9, "1.00")}
			p.Scan.Values = 5
			st.AddPoint(p)
			for i := range tt.changes {
				if backwards {
					i = len(tt.changes) - 1 - i
				}
				apply(t, st, records.KindKeepit, uint64(10+i), tt.changes[i])
			}
			st.Finish("")
			s := st.Session("s")
			got := s.Markers()
			if len(got) != len(tt.want) || s.Marked() != len(tt.want) {
				t.Errorf("%s: %v, %d counted, want %v", tt.what, got, s.Marked(), tt.want)
				continue
			}
			for i := range got {
				if got[i] != tt.want[i] {
					t.Errorf("%s: marker %d is %+v, want %+v", tt.what, i, got[i], tt.want[i])
				}
			}
		}
	}
}
