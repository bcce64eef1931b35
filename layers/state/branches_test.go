package state_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/objects"
)

// captures returns a session as devices captured it one after the other: each text has a letter for a typed message and a dot
// for an answer. The records arrive from the first-th on, and then those before it.
func captures(texts [][2]string, first int) *state.State {
	st := state.NewState("0123456789abcdef")
	for k := range texts {
		i := (first + k) % len(texts)
		x := texts[i]
		device, text := strings.Repeat(x[0], 32), x[1]
		p := records.Point{Stamp: records.Stamp{Lamport: uint64(i + 1), Device: device, Record: objects.Sum([]byte(text + device))}}
		p.Session, p.Original, p.Generation = "s1", objects.Sum([]byte(text)), i
		p.Scan.Messages, p.Scan.Values = len(text), len(text)
		for n, c := range text {
			if c != '.' {
				p.Typed = append(p.Typed, records.TypedKey{N: n + 1, Key: [8]byte{byte(c)}, Messages: n})
			}
		}
		st.AddPoint(p)
	}
	st.Finish(strings.Repeat("b", 32))
	return st
}

// TestBranches gives a session to devices: it has a branch for each end that no other device has.
func TestBranches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		texts [][2]string
		want  string // branches with their current text
		bare  string // what the ID names on device b
	}{
		{"one device", [][2]string{{"a", "x.y."}}, "s1 x.y.", "s1"},
		{"a copy", [][2]string{{"a", "x.y."}, {"b", "x.y."}}, "s1 x.y.", "s1"},
		{"an older copy", [][2]string{{"a", "x.y."}, {"b", "x."}}, "s1 x.y.", "s1"},
		{"taking turns", [][2]string{{"a", "x."}, {"b", "x.y."}, {"a", "x.y.z"}}, "s1 x.y.z", "s1"},
		{"both went on", [][2]string{{"a", "x."}, {"b", "x.y."}, {"a", "x.z"}}, "s1~aaaaaaaa x.z, s1~bbbbbbbb x.y.", "s1~bbbbbbbb"},
		{"an answer went on", [][2]string{{"a", "x.."}, {"b", "x.y."}}, "s1~aaaaaaaa x.., s1~bbbbbbbb x.y.", "s1~bbbbbbbb"},
		{"records of the client only", [][2]string{{"a", "x."}, {"b", "x.y."}}, "s1 x.y.", "s1"},
		{"a third continues one", [][2]string{{"a", "x.z"}, {"b", "x.y."}, {"c", "x.y.w"}},
			"s1~aaaaaaaa x.z, s1~bbbbbbbb x.y.w", "s1~bbbbbbbb"},
		{"the first stopped", [][2]string{{"a", "x."}, {"b", "x.y."}, {"c", "x.z"}}, "s1~bbbbbbbb x.y., s1~cccccccc x.z", "s1~bbbbbbbb"},
		{"three ends", [][2]string{{"a", "x.u"}, {"b", "x.v"}, {"c", "x.w"}}, "s1~aaaaaaaa x.u, s1~bbbbbbbb x.v, s1~cccccccc x.w", "s1~bbbbbbbb"},
		{"nothing was typed", [][2]string{{"a", ".."}, {"b", "..."}}, "s1 ...", "s1"},
		{"one took the other's text", [][2]string{{"a", "x.z"}, {"b", "x.y"}, {"a", "x.y.z"}}, "s1 x.y.z", "s1"},
	} {
		text := map[objects.Hash]string{}
		for _, x := range tt.texts {
			text[objects.Sum([]byte(x[1]))] = x[1]
		}
		for first := range tt.texts {
			st := captures(tt.texts, first)
			var got []string
			for _, s := range st.Sessions {
				got = append(got, fmt.Sprint(s.ID, " ", text[s.Now().Original]))
			}
			if got := strings.Join(got, ", "); got != tt.want {
				t.Errorf("%s: the branches are %s, want %s", tt.name, got, tt.want)
			}
			if s := st.Session("s1"); s == nil || s.ID != tt.bare {
				t.Errorf("%s: s1 is %v on b, want %s", tt.name, s, tt.bare)
			}
			if s := st.Session("s1~bbbbbbbb"); strings.Contains(tt.want, "b") && s == nil {
				t.Errorf("%s: there is no session of b", tt.name)
			}
		}
	}
}

// TestBranchesOfAnyRecords gives a session points that no client writes: each is in one branch, in any order of arrival.
func TestBranchesOfAnyRecords(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		var points []records.Point
		for i := range 2 + rng.IntN(8) {
			device := strings.Repeat(string("abcd"[rng.IntN(4)]), 32)
			p := records.Point{Stamp: records.Stamp{Lamport: uint64(i), Device: device, Record: objects.Sum([]byte{byte(i)})}}
			p.Session, p.Generation, p.Scan.Messages, p.Scan.Values = "s1", rng.IntN(2), rng.IntN(6)-1, rng.IntN(6)
			for range rng.IntN(4) {
				p.Typed = append(p.Typed, records.TypedKey{N: rng.IntN(4), Key: [8]byte{byte(rng.IntN(3))}, Messages: rng.IntN(5) - 1})
			}
			points = append(points, p)
		}
		first := ""
		for range 3 {
			st := state.NewState("0123456789abcdef")
			for _, i := range rng.Perm(len(points)) {
				st.AddPoint(points[i])
			}
			st.Finish("")
			text, n, branch := "", 0, map[string]string{}
			for _, s := range st.Sessions {
				text += fmt.Sprint(s.ID, s.Now().Stamp, " ")
				n += len(s.Points)
				for _, p := range s.Points {
					if in, ok := branch[p.Stamp.Device]; ok && in != s.ID {
						t.Fatalf("device %.8s is in %s and %s: %+v", p.Stamp.Device, in, s.ID, points)
					}
					branch[p.Stamp.Device] = s.ID
				}
				if st.Session(s.ID) != s || st.Session(s.FileID()) == nil {
					t.Fatalf("%s is not found: %+v", s.ID, points)
				}
			}
			if first = cmp.Or(first, text); n != len(points) || text != first {
				t.Fatalf("%d of %d points in %s, and in another order %s: %+v", n, len(points), text, first, points)
			}
		}
	}
}

// TestRecordsOfBranches holds which branches the records about a session are about.
func TestRecordsOfBranches(t *testing.T) {
	t.Parallel()
	texts := [][2]string{{"a", "x."}, {"b", "x.y."}, {"a", "x.z"}}
	st := captures(texts, 0)
	a, b := strings.Repeat("a", 32), strings.Repeat("b", 32)
	version := func(n uint64, session, device, text string) {
		v := &records.Version{Session: session, Label: fmt.Sprintf("v%03d", n)}
		v.Derivation.Inputs, v.Derivation.Output = []objects.Hash{objects.Sum([]byte(text))}, objects.Sum([]byte{byte(n)})
		stamp := records.Stamp{Lamport: n, Device: device, Record: objects.Sum([]byte{byte(n)})}
		st.Stored.Versions = append(st.Stored.Versions, state.StoredItem[records.Version]{Stamp: stamp, Body: v})
	}
	version(10, "s1", b, "x.")   // a text that a has
	version(11, "s1", b, "x.y.") // its own
	version(12, "s1~aaaaaaaa", b, "x.z")
	version(13, "s1", b, "gone") // what no device has is of the device's branch
	made := &records.Composition{Name: "c", Parts: []records.CompositionPart{{Project: st.Project, Session: "s1", Output: objects.Sum([]byte{11})},
		{Project: st.Project, Session: "s1", Output: objects.Sum([]byte("x.z"))}}}
	st.Stored.Compositions = []state.StoredItem[records.Composition]{{Stamp: records.Stamp{Lamport: 14, Device: a}, Body: made}}
	for i, set := range []records.SetBody{{Target: "session/s1", Field: "deleted", Value: true}, {Target: "session/s1~bbbbbbbb", Field: "deleted"}} {
		body, err := json.Marshal(set)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Apply(refs.Record{Kind: records.KindSet, Device: a, Lamport: uint64(15 + i), Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // again, as the cache does
		st.Finish(b)
		var got []string
		for _, v := range st.Versions {
			got = append(got, v.Label+" "+v.Session)
		}
		for _, p := range st.Compositions[0].Parts {
			got = append(got, p.Session)
		}
		for _, s := range st.Sessions {
			got = append(got, fmt.Sprint(s.ID, " ", s.Deleted))
		}
		want := "v010 s1~aaaaaaaa, v011 s1~bbbbbbbb, v012 s1~aaaaaaaa, v013 s1~bbbbbbbb, s1~bbbbbbbb, s1~aaaaaaaa, s1~aaaaaaaa true, s1~bbbbbbbb false"
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("records are about\n %s, want\n %s", got, want)
		}
		if made.Parts[0].Session != "s1" {
			t.Error("the record was changed")
		}
	}
}
