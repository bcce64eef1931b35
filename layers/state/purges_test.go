package state_test

import (
	"fmt"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/knowledge/permanent"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// TestPurgesHide gives purges of a session, of a message and of one record to an index, and asks it about records of other devices.
func TestPurgesHide(t *testing.T) {
	t.Parallel()
	const here, there = "d0", "d1"
	purge := func(device string, lamport uint64, sum string, b records.Purge) state.StoredPurge {
		return state.StoredPurge{Stamp: records.Stamp{Device: device, Lamport: lamport}, Sum: objects.Sum([]byte(sum)), Body: b}
	}
	whole := records.Purge{Sessions: []string{state.PurgeKey("gone")}}
	message := records.Purge{Passages: []records.Passage{{Session: state.PurgeKey("cut"), N: 7},
		{Session: state.PurgeKey("cut"), N: 8, ID: state.PurgeKey("u8")}}}
	record := records.Purge{Records: []string{there + "/5"}}
	q := state.NewPurges([]state.StoredPurge{purge(here, 10, "a", whole), purge(here, 20, "b", message), purge(here, 30, "c", record)})
	for _, tt := range []struct {
		what, kind string
		stamp      records.Stamp
		body       string
		hidden     bool
	}{
		{"a deleted session", records.KindSession, records.Stamp{Device: there, Lamport: 99}, `{"session":"gone"}`, true},
		{"a child of it", records.KindSession, records.Stamp{Device: there, Lamport: 99}, `{"session":"child","parent":"gone"}`, true},
		{"another session", records.KindSession, records.Stamp{Device: there, Lamport: 99}, `{"session":"other"}`, false},
		{"its title", records.KindSet, records.Stamp{Device: there, Lamport: 99}, `{"target":"session/gone","field":"title"}`, true},
		{"a composition with a part of it", records.KindComposition, records.Stamp{Device: there, Lamport: 99},
			`{"name":"ctx","parts":[{"session":"other"},{"session":"gone"}]}`, true},
		{"a rule with a word of it", permanent.Kind, records.Stamp{Device: there, Lamport: 99}, `{"words":[{"session":"gone"}]}`, true},
		{"a reflection on it", permanent.KindReflect, records.Stamp{Device: there, Lamport: 99}, `{"sessions":["other","gone"]}`, true},
		{"a list of sessions of another kind", facts.KindDistilled, records.Stamp{Device: there, Lamport: 99}, `{"sessions":["gone"]}`, false},
		{"a use by it", records.KindUse, records.Stamp{Device: there, Lamport: 99}, `{"by":"gone","targets":[]}`, true},
		{"a purge of it", records.KindPurge, records.Stamp{Device: there, Lamport: 99}, `{"session":"gone"}`, false},
		{"an older state of the session with the message", records.KindSession, records.Stamp{Device: there, Lamport: 19}, `{"session":"cut"}`, true},
		{"a newer state of it", records.KindSession, records.Stamp{Device: there, Lamport: 21}, `{"session":"cut"}`, false},
		{"an older state, from the device that deleted it", records.KindSession, records.Stamp{Device: here, Lamport: 19}, `{"session":"cut"}`, false},
		{"an older version", records.KindVersion, records.Stamp{Device: there, Lamport: 19}, `{"session":"cut"}`, true},
		{"an older marker, which quotes nothing", records.KindKeepit, records.Stamp{Device: there, Lamport: 19}, `{"session":"cut"}`, false},
		{"the record", facts.KindExchange, records.Stamp{Device: there, Lamport: 5}, `{"session":"other"}`, true},
		{"the one after it", facts.KindExchange, records.Stamp{Device: there, Lamport: 6}, `{"session":"other"}`, false},
		{"no JSON", records.KindSession, records.Stamp{Device: there, Lamport: 1}, `{`, false},
	} {
		if got := q.Hides(tt.kind, tt.stamp, []byte(tt.body)); got != tt.hidden {
			t.Errorf("%s: hidden is %v, want %v", tt.what, got, tt.hidden)
		}
		if none := state.NewPurges(nil); none.Hides(tt.kind, tt.stamp, []byte(tt.body)) {
			t.Errorf("%s: hidden without any purge", tt.what)
		}
	}
	for n, want := range map[int]bool{6: false, 7: true, 8: false} { // 8 has an ID, by which it is found
		if got := q.Place("cut", "", n); got != want {
			t.Errorf("message %d is deleted: %v, want %v", n, got, want)
		}
	}
	if q.Place("gone", "", 7) || !q.Messages()[state.PurgeKey("u8")] || q.Session("cut", "") || !q.Session("gone", "") {
		t.Error("a message and a session are confused")
	}
}

// TestPurgePartOfMessage: a part of a message leaves the message on the device that knows the part, unless the whole of it is
// deleted too. An answer to a purge does not know the part.
func TestPurgePartOfMessage(t *testing.T) {
	t.Parallel()
	id := state.PurgeKey("u1")
	part := records.Passage{Session: state.PurgeKey("s"), N: 1, ID: id, Part: true}
	all := part
	all.Part = false
	for _, tt := range []struct {
		passages []records.Passage
		whole    bool
	}{{[]records.Passage{part}, false}, {[]records.Passage{part, all}, true}, {[]records.Passage{all, part}, true}} {
		body := records.Purge{Passages: tt.passages}
		q := state.NewPurges([]state.StoredPurge{{Stamp: records.Stamp{Device: "author"}, Body: body}, {Stamp: records.Stamp{Device: "other"}, Body: body}})
		for device, want := range map[string]bool{"author": tt.whole, "other": true} {
			parts := q.Parts(func(x state.StoredPurge) bool { return q.By(x) != device })
			if got := q.Messages()[id] || parts[id]; got != want {
				t.Errorf("%s: whole is %v for the %s, want %v", fmt.Sprint(tt.passages), got, device, want)
			}
		}
	}
}
