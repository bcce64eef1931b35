package concepts

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

var day = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)

// record is a statement of device at lamport n.
func record(t testing.TB, n int, device, kind string, body any) facts.Record {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return facts.Record{Kind: kind, ID: fmt.Sprintf("%08x%056x", n, n), Lamport: uint64(n), Device: device, Time: day.Add(time.Duration(n) * time.Minute), Body: b}
}

// known returns facts with exchanges of sessions, each given as "session topic file,file keyword,keyword".
func known(t testing.TB, lines ...string) *facts.Set {
	t.Helper()
	var records []facts.Record
	for i, line := range lines {
		w := strings.Fields(line)
		x := facts.Exchange{
			Session: w[0], Topic: w[1], Files: strings.Split(w[2], ","), Keywords: strings.Split(w[3], ","), From: 10 * i, To: 10*i + 9, Time: day.Add(time.Duration(i) * time.Hour),
			Facts: []facts.Fact{{Kind: facts.Action, Text: w[1], Verdict: facts.Verified, Trust: facts.Assistant}},
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, facts.Record{Kind: facts.KindExchange, Device: "d", Body: b})
	}
	s, err := facts.Fold(records)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func fold(t testing.TB, known *facts.Set, records ...facts.Record) *Set {
	t.Helper()
	s, err := Fold(records, known)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTwoJobsStayTwo assigns two exchanges with the same files and keywords to two concepts: nothing ever puts them together.
func TestTwoJobsStayTwo(t *testing.T) {
	t.Parallel()
	k := known(t, "s1 login auth.go,user.go auth,user", "s2 audit auth.go,user.go auth,user", "s2 other auth.go auth")
	a, b := record(t, 1, "d", Kind, Definition{Label: "c001", Name: "Login form"}), record(t, 2, "d", Kind, Definition{Label: "c002", Name: "Audit trail"})
	s := fold(t, k, a, b,
		record(t, 3, "d", KindAssign, Assignment{Member: "session/s1", Concept: a.ID}),
		record(t, 4, "d", KindAssign, Assignment{Member: "exchange/" + k.Exchanges[1].Key().String(), Concept: b.ID}))
	live := s.Live()
	if len(live) != 2 || !slices.Equal(live[0].Exchanges, []string{k.Exchanges[0].ID}) || !slices.Equal(live[1].Exchanges, []string{k.Exchanges[1].ID}) {
		t.Fatalf("%+v", live)
	}
	if !slices.Equal(live[0].Files, live[1].Files) || !slices.Equal(live[0].Keywords, live[1].Keywords) {
		t.Errorf("files and keywords should be the same: %v, %v", live[0], live[1])
	}
	left := s.Unassigned(k)
	if len(left) != 1 || left[0].Topic != "other" {
		t.Errorf("unassigned: %v, want the one that nobody assigned, whatever it shares", left)
	}
	if got := s.MembershipOf(k.Exchanges[2].ID, "s2").Concept; got != nil {
		t.Errorf("an exchange that nobody assigned belongs to %s", got.Name)
	}
}

// TestTakenBack undoes each statement by a later one.
func TestTakenBack(t *testing.T) {
	t.Parallel()
	k := known(t, "s1 login a.go x")
	a, b := record(t, 1, "d", Kind, Definition{Label: "c001", Name: "A"}), record(t, 2, "d", Kind, Definition{Label: "c002", Name: "B"})
	of := func(more ...facts.Record) string {
		all := append([]facts.Record{a, b, record(t, 3, "d", KindAssign, Assignment{Member: "session/s1", Concept: b.ID})}, more...)
		if c := fold(t, k, all...).MembershipOf(k.Exchanges[0].ID, "s1").Concept; c != nil {
			return c.Name
		}
		return ""
	}
	merged := record(t, 4, "d", KindSet, Change{Concept: b.ID, Field: "into", Value: a.ID})
	removed := record(t, 5, "d", KindSet, Change{Concept: b.ID, Field: "removed", Value: "true"})
	for _, tt := range []struct {
		what, want string
		records    []facts.Record
	}{
		{"assigned", "B", nil},
		{"assigned elsewhere", "A", []facts.Record{record(t, 6, "d", KindAssign, Assignment{Member: "session/s1", Concept: a.ID})}},
		{"assigned to none", "", []facts.Record{record(t, 6, "d", KindAssign, Assignment{Member: "session/s1"})}},
		{"an exchange of its own", "A", []facts.Record{record(t, 6, "d", KindAssign, Assignment{Member: "exchange/" + k.Exchanges[0].Key().String(), Concept: a.ID})}},
		{"an exchange of its own, taken back", "B", []facts.Record{
			record(t, 6, "d", KindAssign, Assignment{Member: "exchange/" + k.Exchanges[0].Key().String(), Concept: a.ID}),
			record(t, 7, "d", KindAssign, Assignment{Member: "exchange/" + k.Exchanges[0].Key().String()}),
		}},
		{"merged", "A", []facts.Record{merged}},
		{"merged and parted", "B", []facts.Record{merged, record(t, 6, "d", KindSet, Change{Concept: b.ID, Field: "into"})}},
		{"removed", "", []facts.Record{removed}},
		{"removed and back", "B", []facts.Record{removed, record(t, 6, "d", KindSet, Change{Concept: b.ID, Field: "removed", Value: "false"})}},
		{"renamed", "C", []facts.Record{record(t, 6, "d", KindSet, Change{Concept: b.ID, Field: "name", Value: "C"})}},
		{"of a newer program", "B", []facts.Record{record(t, 6, "d", KindSet, Change{Concept: b.ID, Field: "colour", Value: "C"})}},
		{"of an unknown concept", "B", []facts.Record{record(t, 6, "d", KindSet, Change{Concept: "ff", Field: "name", Value: "C"})}},
	} {
		if got := of(tt.records...); got != tt.want {
			t.Errorf("%s: of %q, want %q", tt.what, got, tt.want)
		}
	}
}

// TestMergedInACircle lets three devices merge concepts into each other: the one that was made first stands, for all.
func TestMergedInACircle(t *testing.T) {
	t.Parallel()
	var records []facts.Record
	for i, name := range []string{"A", "B", "C", "D"} {
		records = append(records, record(t, i+1, "d", Kind, Definition{Label: fmt.Sprintf("c%03d", i+1), Name: name}))
	}
	into := func(n, from, to int) {
		records = append(records, record(t, n, "d", KindSet, Change{Concept: records[from].ID, Field: "into", Value: records[to].ID}))
	}
	into(10, 2, 1) // C into B
	into(11, 1, 0) // B into A
	into(12, 0, 2) // A into C
	into(13, 3, 2) // D into C
	s := fold(t, known(t), records...)
	if live := s.Live(); len(live) != 1 || live[0].Name != "A" {
		t.Errorf("stand: %+v, want A alone", live)
	}
	for _, c := range s.Concepts[1:] {
		if c.MergedInto != records[0].ID {
			t.Errorf("%s is merged into %s, want A", c.Name, c.MergedInto)
		}
	}
}

// TestAnyOrder folds random statements of several devices in many orders: the set is always the same.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	k := known(t, "s1 a a.go x", "s1 b b.go x,y", "s2 c a.go,c.go z", "s3 d d.go y")
	for range 40 {
		var records []facts.Record
		var made []string
		for n := range 30 {
			device := string(rune('a' + rng.IntN(3)))
			pick := func() string { return made[rng.IntN(len(made))] }
			switch what := rng.IntN(4); {
			case what == 0 || len(made) == 0:
				r := record(t, n+1, device, Kind, Definition{Label: fmt.Sprintf("c%03d", 1+rng.IntN(4)), Name: fmt.Sprint("concept ", n)})
				records, made = append(records, r), append(made, r.ID)
			case what == 1:
				records = append(records, record(t, n+1, device, KindAssign, Assignment{Member: fmt.Sprintf("session/s%d", 1+rng.IntN(3)), Concept: pick()}))
			case what == 2:
				x := k.Exchanges[rng.IntN(len(k.Exchanges))]
				records = append(records, record(t, n+1, device, KindAssign, Assignment{Member: "exchange/" + x.Key().String(), Concept: pick()}))
			default:
				field := []string{"into", "removed", "name"}[rng.IntN(3)]
				value := map[string]string{"into": pick(), "removed": []string{"true", "false"}[rng.IntN(2)], "name": fmt.Sprint("name ", n)}[field]
				records = append(records, record(t, n+1, device, KindSet, Change{Concept: pick(), Field: field, Value: value}))
			}
		}
		want := fold(t, k, records...)
		for range 20 {
			rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			if got := fold(t, k, records...); !reflect.DeepEqual(got, want) {
				t.Fatalf("another set in the order %v", records)
			}
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	a, b := record(t, 1, "aaaaaaaaaaaa", Kind, Definition{Label: "c001", Name: "Login form"}), record(t, 2, "bbbbbbbbbbbb", Kind, Definition{Label: "c001", Name: "Audit trail"})
	s := fold(t, known(t), a, b)
	for _, tt := range []struct {
		name, device string
		want         string
	}{
		{"c001", "aaaaaaaaaaaa", "Login form"},
		{"c1", "bbbbbbbbbbbb", "Audit trail"},
		{"c001", "cccccccccccc", "Login form,Audit trail"},
		{"c001~bbbb", "aaaaaaaaaaaa", "Audit trail"},
		{"c:00000002", "aaaaaaaaaaaa", "Audit trail"},
		{"c:0000", "aaaaaaaaaaaa", "Login form,Audit trail"},
		{"audit TRAIL", "aaaaaaaaaaaa", "Audit trail"},
		{"c002", "aaaaaaaaaaaa", ""},
		{"c:", "aaaaaaaaaaaa", ""},
		{"", "aaaaaaaaaaaa", ""},
	} {
		var names []string
		for _, c := range s.Find(tt.name, tt.device) {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, ","); got != tt.want {
			t.Errorf("Find(%q) on %s = %q, want %q", tt.name, tt.device, got, tt.want)
		}
	}
	if got := s.DisplayLabel(s.Concepts[1], "aaaaaaaaaaaa"); got != "c001~bbbbbbbb" {
		t.Errorf("Shown = %s", got)
	}
	if got := s.LabelAfter(0); got != "c002" {
		t.Errorf("LabelAfter(0) = %s", got)
	}
}

// FuzzFold gives Fold bodies of any form: it fails or gives a set, whose concepts can be found and listed.
func FuzzFold(f *testing.F) {
	f.Add(KindSet, []byte(`{"concept":"0000000100000000000000000000000000000000000000000000000000000001","field":"into","value":"x"}`))
	f.Add(KindAssign, []byte(`{"member":"session/","concept":""}`))
	f.Add(Kind, []byte(`{"label":"c99999999999999999999"}`))
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		a := record(t, 1, "d", Kind, Definition{Label: "c001", Name: "A"})
		s, err := Fold([]facts.Record{a, {Kind: kind, ID: "00000002ff", Lamport: 2, Device: "e", Body: body}}, &facts.Set{})
		if err != nil {
			return
		}
		for _, c := range s.Concepts {
			if len(s.Find(c.ID, "d")) == 0 && len(c.Record) >= 4 {
				t.Errorf("%s cannot be found by its id %s", c.Name, c.ID)
			}
			s.DisplayLabel(c, "d")
		}
		s.LabelAfter(0)
	})
}

// TestLongMerge folds chains and circles of merges that are as long as a hostile device likes.
func TestLongMerge(t *testing.T) {
	t.Parallel()
	const n = 20_000
	var records []facts.Record
	for i := range n {
		records = append(records, record(t, i+1, "d", Kind, Definition{Label: "c001", Name: fmt.Sprint("concept ", i)}))
	}
	for i := range n {
		records = append(records,
			record(t, n+i+1, "d", KindSet, Change{Concept: records[i].ID, Field: "into", Value: records[(i+1)%n].ID}))
	}
	for _, tt := range []struct {
		name    string
		records []facts.Record
		end     int
	}{{"chain", records[:len(records)-1], n - 1}, {"circle", records, 0}} {
		start := time.Now()
		s := fold(t, known(t), tt.records...)
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: %v", tt.name, took)
		}
		for i, c := range s.Concepts {
			if want := s.Concepts[tt.end].Record; i != tt.end && c.MergedInto != want {
				t.Fatalf("%s: concept %d is merged into %.8s, want %.8s", tt.name, i, c.MergedInto, want)
			}
		}
	}
}
