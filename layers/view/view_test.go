package view

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
)

// TestValues checks the JSON form of the values that are no JSON types, both ways.
func TestValues(t *testing.T) {
	t.Parallel()
	type values struct {
		At        Time        `json:"at"`
		Never     Time        `json:"never"`
		Missing   Time        `json:"missing,omitzero"`
		Weight    Weight      `json:"weight"`
		Threshold Thousandths `json:"threshold"`
	}
	east := time.FixedZone("", 2*60*60)
	in := values{At: Time{time.Date(2026, 1, 20, 16, 0, 0, 0, east)}, Weight: 80, Threshold: 135}
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"at":"2026-01-20T14:00:00Z","never":"","weight":0.80,"threshold":0.135}`
	if string(b) != want {
		t.Errorf("Marshal = %s, want %s", b, want)
	}
	var out values
	if err := json.Unmarshal([]byte(`{"at":"2026-01-20T14:00:00Z","never":"","weight":0.80}`), &out); err != nil {
		t.Fatal(err)
	}
	if !out.At.Equal(in.At.Time) || !out.Never.IsZero() || out.Weight != 80 {
		t.Errorf("Unmarshal = %+v", out)
	}
	for _, bad := range []string{`{"weight":1.5}`, `{"weight":0.123}`, `{"weight":"0.80"}`, `{"weight":-1}`, `{"at":"yesterday"}`, `{"at":5}`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("Unmarshal(%s) succeeds", bad)
		}
	}
}

// TestHit checks the name and the author of a hit of each class.
func TestHit(t *testing.T) {
	t.Parallel()
	s := &index.Session{ID: "6ecd8c99-4036-403d-bf84-cf8400f67836"}
	for _, c := range []struct {
		hit             search.Hit
		ref, layer, who string
	}{
		{search.Hit{Session: s, Doc: index.Doc{Class: index.User, N: 4}, From: 4, To: 4}, "6ecd8c99#4", "L1", "user"},
		{search.Hit{Session: s, Doc: index.Doc{Class: index.Tool, N: 4, Name: "Bash"}, From: 4, To: 7}, "6ecd8c99#4..7", "L1", "tool"},
		{search.Hit{Session: s, Doc: index.Doc{Class: index.Fact, ID: "f:1", Name: "decision"}}, "f:1", "L2", "L2 decision"},
		{search.Hit{Doc: index.Doc{Class: index.Rule, ID: "r:1", Name: "rule"}}, "r:1", "L4", "L4 rule"},
		{search.Hit{Doc: index.Doc{Class: index.Concept, ID: "c:1", Name: "c001"}}, "c001", "L3", "L3"},
		{search.Hit{Session: s, Doc: index.Doc{Class: index.Version, Name: "v001"}}, "6ecd8c99:v001", "version", "version"},
		{search.Hit{Doc: index.Doc{Class: index.Composition, Name: "ctx"}}, "ctx", "composition", "composition"},
		{search.Hit{Doc: index.Doc{Class: index.ClaudeNote, Name: "note:a.md"}}, "note:a.md", "note", "Claude's note"},
	} {
		if got := HitOf(c.hit); got.Ref != c.ref || got.Layer != c.layer || got.Who() != c.who {
			t.Errorf("HitOf(%+v) = %q, %q, by %q; want %q, %q, by %q", c.hit.Doc, got.Ref, got.Layer, got.Who(), c.ref, c.layer, c.who)
		}
	}
}

// TestFate checks that a fate without a threshold has neither a margin nor a pin.
func TestFate(t *testing.T) {
	t.Parallel()
	f := planning.Fate{Mark: planning.Mark{Message: 3, Marker: keepit.Marker{Weight: keepit.Pinned, Text: " whole cents "}}, Kept: true, Threshold: 330, Margin: 670}
	for judged, want := range map[bool]string{
		true:  `{"message":3,"weight":1.00,"survives":true,"pinned":true,"threshold":0.33,"margin":0.67,"content":"whole cents"}`,
		false: `{"message":3,"weight":1.00,"survives":true,"content":"whole cents"}`,
	} {
		b, err := json.Marshal(FateOf(f, judged))
		if err != nil || string(b) != want {
			t.Errorf("FateOf(_, %v) = %s, %v; want %s", judged, b, err, want)
		}
	}
}
