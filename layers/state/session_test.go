package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// both copies the lanes of two memories into each other and opens them anew.
func both(t *testing.T, a, b *layers.Memory) (*layers.Memory, *layers.Memory) {
	t.Helper()
	layerstest.Fetch(t, a, b)
	layerstest.Fetch(t, b, a)
	return layerstest.Reopen(t, a), layerstest.Reopen(t, b)
}

// exactNow returns what "mem checkout s1:original" writes.
func exactNow(t *testing.T, m *layers.Memory, p state.Project) (string, error) {
	t.Helper()
	rev, err := revision.Resolve(t.Context(), m.DB, state.Scope{Project: p}, "s1:original")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	err = checkout.Write(t.Context(), m.DB, rev, "", &b)
	return b.String(), err
}

// TestTwoDevices captures one session on two devices whose lanes reach each other, where exact bytes stay at
// home: each gives its own exact bytes as far as they reach, and says when the other has more.
func TestTwoDevices(t *testing.T) {
	t.Parallel()
	line := func(i int) string { return layerstest.UserLine(i, fmt.Sprintf("message %d with TOKEN_%08d", i, i)) }
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
			o := layerstest.TestOptions()
			if !c.withoutRules {
				o.Rules = layerstest.ToyRules()
			}
			a, b := layerstest.NewMemory(t, o), layerstest.NewMemory(t, o)
			fileA, fileB := filepath.Join(t.TempDir(), "s1.jsonl"), filepath.Join(t.TempDir(), "s1.jsonl")
			p := layerstest.Add(t, a, layerstest.Write(t, fileA, c.here))[0].Project
			layerstest.Fetch(t, b, a) // so that what b captures has the later record
			b = layerstest.Reopen(t, b)
			layerstest.Add(t, b, layerstest.Write(t, fileB, c.there))
			a, b = both(t, a, b)
			if x, y := layerstest.NowOf(t, a, p), layerstest.NowOf(t, b, p); x.Stamp != y.Stamp {
				t.Errorf("now is %+v on one device and %+v on the other", x.Stamp, y.Stamp)
			}
			check := func(m *layers.Memory, own, other string, behind bool) {
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
			layerstest.CheckClean(t, a)
			layerstest.CheckClean(t, b)
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
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	a, b := layerstest.NewMemory(t, o), layerstest.NewMemory(t, o)
	p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "TOKEN_12345678")))[0].Project
	layerstest.Fetch(t, b, a)
	got, err := exactNow(t, layerstest.Reopen(t, b), p)
	var be *originals.BehindError
	if got != "" || !errors.Is(err, originals.ErrWithheld) || errors.As(err, &be) {
		t.Errorf("wrote %q, %v", got, err)
	}
}

// TestChangedIsOfThisDevice: what another device captured does not make this device's file a changed one.
func TestChangedIsOfThisDevice(t *testing.T) {
	t.Parallel()
	o := layerstest.TestOptions()
	o.Rules = layerstest.ToyRules()
	a, b := layerstest.NewMemory(t, o), layerstest.NewMemory(t, o)
	claude := t.TempDir()
	path := filepath.Join(claude, "projects", capture.ClientDir("/home/dev/shop"), "s1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	one := layerstest.UserLine(1, "TOKEN_12345678")
	p := layerstest.Add(t, a, layerstest.Write(t, path, one))[0].Project
	layerstest.Add(t, b, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), one+layerstest.UserLine(2, "more")))
	layerstest.Fetch(t, a, b)
	a = layerstest.Reopen(t, a)
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
	layerstest.Write(t, path, one+layerstest.UserLine(2, "mine"))
	if it := list(); it.Status != sessions.Changed || it.Extra != int64(len(layerstest.UserLine(2, "mine"))) {
		t.Errorf("after it grew: status %s, %d more", it.Status, it.Extra)
	}
}

// TestNowOfAnyOrder gives a session growth points of several devices: whatever the order in which they come,
// now is the same, the furthest of the generations that the devices were at last.
func TestNowOfAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range layerstest.Rounds(300) {
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
			st.Finish("")
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
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	one, two := filepath.Join(t.TempDir(), "s1.jsonl"), filepath.Join(t.TempDir(), "s1.jsonl")
	text := layerstest.UserLine(1, "one")
	p := layerstest.Add(t, m, layerstest.Write(t, one, text))[0].Project
	layerstest.Add(t, m, layerstest.Write(t, two, layerstest.UserLine(3, "other")+layerstest.UserLine(4, "and more")))
	text += layerstest.UserLine(2, "two")
	layerstest.Add(t, m, layerstest.Write(t, one, text))
	if got, err := exactNow(t, m, p); err != nil || got != text {
		t.Errorf("now is %q, %v", got, err)
	}
}

// TestEqualTitles names sessions whose transcripts have one title by what differs in them, and finds all of them by it.
func TestEqualTitles(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 10, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		name string
		of   []transcript.Carry
		want []string
	}{
		{"different", []transcript.Carry{{Title: "one", Second: "more"}, {Title: "two"}}, []string{"one", "two"}},
		{"by the next request", []transcript.Carry{{Title: "fix"}, {Title: "fix", Second: "lint"}}, []string{"fix", "fix · lint"}},
		{"by the day", []transcript.Carry{{Title: "fix", Second: "lint", Last: day(1)}, {Title: "fix", Second: "lint", Last: day(2)}},
			[]string{"fix · 2026-01-01", "fix · 2026-01-02"}},
		{"copies", []transcript.Carry{{Title: "fix", Last: day(1)}, {Title: "fix", Last: day(1)}}, []string{"fix · session0", "fix · session1"}},
		{"without a title", []transcript.Carry{{}, {}}, []string{"", ""}},
	} {
		st := state.NewState("0123456789abcdef")
		for i, scan := range c.of {
			st.AddPoint(records.Point{Snapshot: records.Snapshot{Session: fmt.Sprintf("session%d", i), Scan: scan}})
		}
		for range 2 { // a state is finished after each pull
			st.Finish("here")
		}
		for i, s := range st.Sessions {
			if s.Title() != c.want[i] {
				t.Errorf("%s: session %d is called %q, want %q", c.name, i, s.Title(), c.want[i])
			}
			if title := c.of[i].Title; title != "" && s.Matches(title) != "title" {
				t.Errorf("%s: session %d is not found as %q", c.name, i, title)
			}
		}
	}
}
