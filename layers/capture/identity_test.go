package capture

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

const uuid = "6ecd8c99-4036-403d-bf84-cf8400f67836"

// TestSessionID takes the ID of a session from the name of its file, and makes others for copies and for names with
// secrets.
func TestSessionID(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/c/" + uuid + ".jsonl": uuid, "/c/aaaa1111.jsonl": "aaaa1111", "agent-1.jsonl": "agent-1",
		"/r/rollout-2026-01-15T10-00-00-" + uuid + ".jsonl": uuid, "/r/rollout-2026-01-15T10-00-00-" + uuid + ".jsonl.zst": uuid,
	} {
		if got := (Source{Path: path}).SessionID(); got != want {
			t.Errorf("the ID of %s is %s, want %s", path, got, want)
		}
	}
	seen := map[string]string{uuid: "the session"}
	for _, name := range []string{uuid + " (copy)", uuid + ".sync-conflict-20261003", uuid + "-1", uuid + "~"} {
		id := (Source{Path: name + ".jsonl"}).SessionID()
		if old := seen[id]; old != "" || id[8:] != uuid[8:] || id[:8] == uuid[:8] {
			t.Errorf("the ID of %q is %s, that of %q", name, id, old)
		}
		if seen[id] = name; (Source{Path: "/elsewhere/" + name + ".jsonl"}).SessionID() != id {
			t.Errorf("the ID of %q depends on its directory", name)
		}
	}
	for name, copied := range map[string]bool{uuid: false, uuid + "x": false, "x" + uuid: false, uuid[:35] + "g-1": false, uuid + ".old": true} {
		if got := isConflictCopy(name); got != copied {
			t.Errorf("isConflictCopy(%q) = %v, want %v", name, got, copied)
		}
	}
	secret := "ghp_Zx81kQ0vT77pLmW4aB3cD5eF7gH9jK1mN2pQ"
	if id := (Source{Path: secret + ".jsonl"}).SessionID(); len(id) != len("session-")+16 || id[:8] != "session-" {
		t.Errorf("the ID of a name with a secret is %s", id)
	}
	if (Source{Path: "/c/x.jsonl", ID: "y"}).SessionID() != "y" || otherID(Source{Path: "/c/a/" + uuid + ".jsonl"}) == otherID(Source{Path: "/c/b/" + uuid + ".jsonl"}) {
		t.Error("a given ID or that of another file is wrong")
	}
}

// TestSourceOn finds the file that a device captured a session from, which only the first growth point and moves name.
func TestSourceOn(t *testing.T) {
	t.Parallel()
	point := func(device, source string) records.Point {
		return records.Point{Stamp: records.Stamp{Device: device}, Snapshot: records.Snapshot{Source: source}}
	}
	s := &state.Session{Points: []records.Point{point("a", "/1"), point("a", ""), point("b", "/2"), point("a", "/3"), point("c", ""), point("d", "/4")}}
	for device, want := range map[string]string{"a": "/3", "b": "/2", "c": "/3", "d": "/4", "e": ""} {
		if got := SourceOn(s, device); got != want {
			t.Errorf("SourceOn %s = %q, want %q", device, got, want)
		}
	}
	for i, want := range []string{"/1", "/1", "/2", "/3", "/3", "/4"} {
		if got := sourceAt(s, &s.Points[i]); got != want {
			t.Errorf("sourceAt point %d = %q, want %q", i, got, want)
		}
	}
}

// TestLastLine finds the last line of files around the size of its buffer.
func TestLastLine(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 5))
	for _, size := range []int{1, 2, 64<<10 - 1, 64 << 10, 64<<10 + 1, 200_000} {
		for range 20 {
			b := bytes.Repeat([]byte("x"), size)
			for range rnd.IntN(3) {
				b[rnd.IntN(size)] = '\n'
			}
			got, err := lastLine(bytes.NewReader(b), int64(size))
			if want := int64(bytes.LastIndexByte(b, '\n') + 1); err != nil || got != want {
				t.Errorf("of %d bytes: %d, %v, want %d", size, got, err, want)
			}
		}
	}
	if _, err := lastLine(bytes.NewReader(nil), 10); err == nil {
		t.Error("a file that became shorter has no error")
	}
}
