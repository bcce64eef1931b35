package layers

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// fetch copies the lanes that travel from one memory into another, as plain git does it.
func fetch(t *testing.T, into, from *Memory) {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("SKIPPED: copying lanes needs git")
	}
	cmd := exec.CommandContext(t.Context(), git, "-C", filepath.Join(into.Refs.Dir(), "memory.git"),
		"fetch", "-q", filepath.Join(from.Refs.Dir(), "memory.git"), "refs/heads/p/*/"+from.Refs.Device().ID+":refs/heads/p/*/"+from.Refs.Device().ID)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fetch: %v\n%s", err, out)
	}
}

// reopen opens the memory anew, so that it sees what git fetched.
func reopen(t *testing.T, m *Memory) *Memory {
	t.Helper()
	n, err := Open(m.Refs.Dir(), m.Opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	return n
}

// both copies the lanes of two memories into each other and opens them anew.
func both(t *testing.T, a, b *Memory) (*Memory, *Memory) {
	t.Helper()
	fetch(t, a, b)
	fetch(t, b, a)
	return reopen(t, a), reopen(t, b)
}

// exactNow returns what "mem checkout s1:original" writes.
func exactNow(t *testing.T, m *Memory, p state.Project) (string, error) {
	t.Helper()
	rev, err := revision.Resolve(t.Context(), m.DB, state.Scope{Project: p}, "s1:original")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = checkout.Write(t.Context(), m.DB, rev, "", &b)
	return b.String(), err
}

func nowOf(t *testing.T, m *Memory, p state.Project) *records.Point {
	t.Helper()
	st, err := trust.Outline(t.Context(), m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	return st.Session("s1").Now()
}

// TestTwoDevices captures one session on two devices whose lanes reach each other, where exact bytes stay at
// home: each gives its own exact bytes as far as they reach, and says when the other has more.
func TestTwoDevices(t *testing.T) {
	t.Parallel()
	line := func(i int) string { return userLine(i, fmt.Sprintf("message %d with TOKEN_%08d", i, i)) }
	short, long := line(1)+line(2), line(1)+line(2)+line(3)
	torn := long[:len(long)-4]
	for _, c := range []struct {
		name         string
		here, there  string // as captured on the two devices, here first
		behind       bool   // here lacks exact bytes of what is there
		behindThere  bool
		withoutRules bool
	}{
		{name: "the other has an older copy", here: long, there: short, behindThere: true},
		{name: "the other has the same", here: long, there: long},
		{name: "the other has more", here: short, there: long, behind: true},
		{name: "the other has the same and a torn end", here: short, there: torn},
		{name: "the other has more, but nothing was taken out", here: short, there: long, withoutRules: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := testOptions()
			if !c.withoutRules {
				o.Rules = toyRules()
			}
			a, b := newMemory(t, o), newMemory(t, o)
			fileA, fileB := filepath.Join(t.TempDir(), "s1.jsonl"), filepath.Join(t.TempDir(), "s1.jsonl")
			p := add(t, a, write(t, fileA, c.here))[0].Project
			fetch(t, b, a) // so that what b captures has the later record
			b = reopen(t, b)
			add(t, b, write(t, fileB, c.there))
			a, b = both(t, a, b)
			if x, y := nowOf(t, a, p), nowOf(t, b, p); x.Stamp != y.Stamp {
				t.Errorf("now is %+v on one device and %+v on the other", x.Stamp, y.Stamp)
			}
			check := func(m *Memory, own, other string, behind bool) {
				got, err := exactNow(t, m, p)
				var be *originals.BehindError
				want := own
				if c.withoutRules {
					want = longer(own, other)
				}
				if got != want || errors.As(err, &be) != behind || (err != nil) != behind {
					t.Errorf("wrote %d bytes, %v; want %d, behind %v", len(got), err, len(want), behind)
				}
				if behind && !errors.Is(err, originals.ErrWithheld) {
					t.Errorf("%v does not wrap ErrWithheld", err)
				}
			}
			check(a, c.here, c.there, c.behind)
			check(b, c.there, c.here, c.behindThere)
			checkClean(t, a)
			checkClean(t, b)
		})
	}
}

func longer(a, b string) string {
	if len(a) > len(b) {
		return a
	}
	return b
}

// TestOnlyElsewhere looks at a session that only another device captured.
func TestOnlyElsewhere(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Rules = toyRules()
	a, b := newMemory(t, o), newMemory(t, o)
	p := add(t, a, write(t, filepath.Join(t.TempDir(), "s1.jsonl"), userLine(1, "TOKEN_12345678")))[0].Project
	fetch(t, b, a)
	got, err := exactNow(t, reopen(t, b), p)
	var be *originals.BehindError
	if got != "" || !errors.Is(err, originals.ErrWithheld) || errors.As(err, &be) {
		t.Errorf("wrote %q, %v", got, err)
	}
}

// TestChangedIsOfThisDevice: what another device captured does not make this device's file a changed one.
func TestChangedIsOfThisDevice(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Rules = toyRules()
	a, b := newMemory(t, o), newMemory(t, o)
	claude := t.TempDir()
	path := filepath.Join(claude, "projects", capture.ClientDir("/home/dev/shop"), "s1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	one := userLine(1, "TOKEN_12345678")
	p := add(t, a, write(t, path, one))[0].Project
	add(t, b, write(t, filepath.Join(t.TempDir(), "s1.jsonl"), one+userLine(2, "more")))
	fetch(t, a, b)
	a = reopen(t, a)
	list := func() sessions.Item {
		items, _, err := sessions.List(t.Context(), a.DB, p, capture.ListOptions{Claude: claude, Dir: "/home/dev/shop"})
		if err != nil || len(items) != 1 {
			t.Fatalf("%d sessions, %v", len(items), err)
		}
		return items[0]
	}
	if it := list(); it.Status != sessions.Stored || it.Messages != 2 {
		t.Errorf("status %s, %d messages; want stored, 2", it.Status, it.Messages)
	}
	write(t, path, one+userLine(2, "mine"))
	if it := list(); it.Status != sessions.Changed || it.Extra != int64(len(userLine(2, "mine"))) {
		t.Errorf("after it grew: status %s, %d more", it.Status, it.Extra)
	}
}

// TestNowOfAnyOrder gives a session growth points of several devices: whatever the order in which they come,
// now is the same, the furthest of the generations that the devices were at last.
func TestNowOfAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range rounds(300) {
		lamports, generations := map[string]uint64{}, map[string]int{}
		var points []records.Point
		for i := range 2 + rng.IntN(8) {
			device := strings.Repeat("abc"[rng.IntN(3):][:1], 32)
			lamports[device] += 1 + uint64(rng.IntN(4))
			generations[device] = max(0, generations[device]+rng.IntN(3)-1)
			p := records.Point{Stamp: records.Stamp{Lamport: lamports[device], Device: device, Record: objects.Sum([]byte{byte(i)})}}
			p.Session, p.Generation, p.Size, p.Scan.Values = "s1", generations[device], int64(rng.IntN(5)), rng.IntN(5)
			points = append(points, p)
		}
		var want records.Point
		for try := range 5 {
			rng.Shuffle(len(points), func(i, k int) { points[i], points[k] = points[k], points[i] })
			st := state.NewState(refs.Project("0123456789abcdef"))
			st.Index()
			for _, p := range points {
				st.AddPoint(p)
			}
			st.Finish()
			s := st.Sessions[0]
			if now := *s.Now(); try == 0 {
				want = now
			} else if now.Stamp != want.Stamp {
				t.Fatalf("now is %+v in one order and %+v in another", want, now)
			}
			for device := range lamports {
				if last := s.Last(device); s.Now().Reaches(last) < 0 {
					t.Fatalf("%+v reaches further than now, %+v", last, s.Now())
				}
			}
		}
	}
}

// TestNowOfOneDevice: what a device wrote last is now, in a generation that was left and taken up again too.
func TestNowOfOneDevice(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	one, two := filepath.Join(t.TempDir(), "s1.jsonl"), filepath.Join(t.TempDir(), "s1.jsonl")
	text := userLine(1, "one")
	p := add(t, m, write(t, one, text))[0].Project
	add(t, m, write(t, two, userLine(3, "other")+userLine(4, "and more")))
	text += userLine(2, "two")
	add(t, m, write(t, one, text))
	if got, err := exactNow(t, m, p); err != nil || got != text {
		t.Errorf("now is %q, %v", got, err)
	}
}
