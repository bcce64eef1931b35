//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/refs/refstest"
)

// TestFarClockOfOwn has a store whose own lane has a clock that other stores refuse, as one that took the lane of a hostile device before clocks
// were bounded. The push is refused before anything is sent, and fsck names the lane.
func TestFarClockOfOwn(t *testing.T) {
	t.Parallel()
	_, victim, _ := newMeeting(t, false)
	ref := ownLane(t, victim)
	git := filepath.Join(victim.dir, "memory.git")
	var device struct {
		ID   string
		Seed []byte
	}
	b, err := os.ReadFile(filepath.Join(victim.dir, "device.json"))
	if err != nil || json.Unmarshal(b, &device) != nil {
		t.Fatal(err)
	}
	f := openForger(t, git, ref)
	f.seed = device.Seed
	record := fmt.Sprintf(`{"kind":"set","device":%q,"lamport":%d,"time":"2026-01-20T13:00:00Z","body":{"target":"session/victim","field":"deleted","value":false}}`+"\n", device.ID, uint64(1)<<62)
	c := f.next(f.tree(f.with(refstest.Fan("records", b3sum(record), ".json"), record)...))
	c.Message = fmt.Sprintf("restore victim\n\nMem-Op: add\nMem-Lamport: %d\n", uint64(1)<<62)
	f.lead(ref, f.write(f.sign(c)))

	hub := (&target{t: t, dir: victim.hub}).state()
	out, code, _ := victim.mem("push", "--all", "--yes")
	if code == 0 || !strings.Contains(out, "too far ahead") || strings.Contains(out, "[new") {
		t.Errorf("push: %d: %s", code, out)
	}
	if now := (&target{t: t, dir: victim.hub}).state(); fmt.Sprint(now) != fmt.Sprint(hub) {
		t.Error("the refused push has changed the remote")
	}
	if out, code, _ := victim.mem("fsck"); code != 1 || !strings.Contains(out, "too far ahead") {
		t.Errorf("fsck: %d: %s", code, out)
	}
}

// ownLane returns the branch of the store's own lane of its project.
func ownLane(t *testing.T, g *target) string {
	t.Helper()
	var d struct{ ID string }
	b, err := os.ReadFile(filepath.Join(g.dir, "device.json"))
	if err != nil || json.Unmarshal(b, &d) != nil {
		t.Fatal(err)
	}
	git := filepath.Join(g.dir, "memory.git")
	lanes, err := filepath.Glob(filepath.Join(git, "refs/heads/p/*", d.ID))
	for _, lane := range lanes {
		if rel, e := filepath.Rel(git, lane); e == nil && !strings.Contains(rel, "/0000000000000000/") {
			return rel
		}
	}
	t.Fatalf("%s has no lane: %v", git, err)
	return ""
}
