package forget_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
)

// TestForgetSecret forgets a value that stands in a title, a branch, markers, an overflow file, what redaction cut, the torn end of
// the file and a version, in each growth point. What is left of the session comes back, and it goes on growing.
func TestForgetSecret(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	secret := "ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi"
	for _, with := range []redact.Rules{{}, rules} {
		o := layerstest.TestOptions()
		o.Rules = with
		m := layerstest.NewMemory(t, o)
		dir := t.TempDir()
		text, overflow := layerstest.Secretive(secret)
		path := filepath.Join(dir, "s1.jsonl")
		file := layerstest.Write(t, filepath.Join(dir, "tool.txt"), overflow).Path
		lines := strings.SplitAfter(text, "\n")
		for i, n := range []int{1, 20, len(lines)} {
			part := layerstest.UserLine(900, "first, without any") + strings.Join(lines[:n], "")
			if i == 1 {
				part += `{"type":"user","torn ` + secret
			}
			src := layerstest.Write(t, path, part)
			src.Files = []string{file}
			layerstest.Add(t, m, src)
		}
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(dir, "s2.jsonl"), layerstest.UserLine(1, "nothing to hide")))
		if _, err := derive.Compress(context.Background(), m.DB, layerstest.RevOf(t, m, "s1"), planning.Settings{Ratio: 2}, false); err != nil {
			t.Fatal(err)
		}
		layerstest.ForgetText(t, m, forget.ForgetOptions{Secret: []byte(secret)})
		if found := layerstest.Stays(t, secret, []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("rules %q: it stays in %v", with.ID, found)
		}
		layerstest.Roots(t, m)
		rev := layerstest.RevOf(t, m, "s1")
		var b bytes.Buffer
		if err := originals.WriteOriginal(context.Background(), m.DB, rev.Project.ID, rev.Session, rev.Session.Now(), &b); err != nil {
			t.Fatal(err)
		}
		want := layerstest.UserLine(900, "first, without any") + strings.ReplaceAll(text, secret, strings.Repeat("*", len(secret)))
		if b.String() != want {
			t.Errorf("rules %q: what is left is\n%s\nwant\n%s", with.ID, b.String(), want)
		}
		src := layerstest.Write(t, path, layerstest.UserLine(900, "first, without any")+text+layerstest.UserLine(50, "later, again "+secret))
		src.Files = []string{file}
		if a := layerstest.Add(t, m, src)[0]; a.Change != "grown" || a.NewValues != 1 {
			t.Errorf("rules %q: added again: %s, %d new", with.ID, a.Change, a.NewValues)
		}
		if found := layerstest.Stays(t, secret, []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("rules %q: it came back in %v", with.ID, found)
		}
		layerstest.Roots(t, m)
	}
}

// TestForgetProperty forgets messages of random sessions, some with secrets that redaction cut. The numbers of messages stay, JSON
// stays JSON, every other message is as it was byte for byte, and the file can be captured again without a new generation.
func TestForgetProperty(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 11))
	for round := range layerstest.Rounds(12) {
		o := layerstest.TestOptions()
		o.Rules = rules
		m := layerstest.NewMemory(t, o)
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		var text strings.Builder
		var want []string
		for i := range 5 + rnd.IntN(30) {
			words := fmt.Sprintf("message %d", i)
			if rnd.IntN(3) == 0 {
				words += " with TOKEN=ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi"
			}
			goes := rnd.IntN(4) == 0
			if goes {
				words += " zaphod"
			}
			line := layerstest.UserLine(i, words)
			if rnd.IntN(8) == 0 {
				line = fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","content":%q}`+"\n", words)
			}
			text.WriteString(line)
			if want = append(want, strings.TrimSuffix(line, "\n")); goes {
				want[len(want)-1] = ""
			}
			if rnd.IntN(4) == 0 {
				layerstest.Add(t, m, layerstest.Write(t, path, text.String()))
			}
		}
		layerstest.Add(t, m, layerstest.Write(t, path, text.String()))
		if !strings.Contains(text.String(), "zaphod") {
			continue
		}
		layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
		if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("round %d: it stays in %v", round, found)
		}
		rev := layerstest.RevOf(t, m, "s1")
		var b bytes.Buffer
		if err := originals.WriteOriginal(context.Background(), m.DB, rev.Project.ID, rev.Session, rev.Session.Now(), &b); err != nil {
			t.Fatal(err)
		}
		got := slices.Collect(transcript.Values(b.Bytes()))
		if len(got) != len(want) {
			t.Fatalf("round %d: %d messages, want %d", round, len(got), len(want))
		}
		for i, v := range got {
			if v.Opaque || want[i] != "" && string(v.Raw) != want[i] || want[i] == "" && !forget.IsForgotten(v.Raw) {
				t.Errorf("round %d: message %d is %s, want %s", round, v.N, v.Raw, want[i])
			}
		}
		if a := layerstest.Add(t, m, layerstest.Write(t, path, text.String()))[0]; a.Change != "unchanged" {
			t.Errorf("round %d: added again: %s", round, a.Change)
		}
		if a := layerstest.Add(t, m, layerstest.Write(t, path, text.String()+layerstest.UserLine(99, "more")))[0]; a.Change != "grown" {
			t.Errorf("round %d: grown: %s", round, a.Change)
		}
		layerstest.Roots(t, m)
	}
}

// TestForgetKilled stops at each step of forgetting. The store is valid at each, and the next run brings it to its end.
func TestForgetKilled(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	for _, step := range []string{"planned", "noted", "rewritten", "patches"} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "call me zaphod")+layerstest.UserLine(2, "and go on")), layerstest.Write(t, filepath.Join(t.TempDir(), "s2.jsonl"), layerstest.UserLine(1, "stay")))
		all, err := trust.Projects(ctx, m.DB)
		if err != nil {
			t.Fatal(err)
		}
		o := forget.ForgetOptions{Projects: all, Match: regexp.MustCompile("zaphod")}
		f, err := forget.NewDeletion(ctx, m.DB, all[0], o, nil)
		if err == nil {
			err = f.Plan(ctx)
		}
		if err == nil && step != "planned" {
			err = errors.Join(originals.AddSeals(m.DB, f.Seals), forget.NotePending(m.DB))
		}
		if err == nil && (step == "rewritten" || step == "patches") {
			err = f.Apply(ctx)
		}
		f.Close()
		if err == nil && step == "patches" {
			err = forget.DropPatches(ctx, m.DB, all[0].ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		layerstest.Roots(t, m)
		out, err := forget.Forget(ctx, m.DB, o)
		if err != nil && !errors.Is(err, forget.ErrNothingToForget) {
			t.Fatal(err)
		}
		if finished := step != "planned"; out.Finished != finished {
			t.Errorf("%s: finished %v, want %v", step, out.Finished, finished)
		}
		if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("%s: it stays in %v", step, found)
		}
		if left, err := forget.Pending(m.DB); left || err != nil {
			t.Errorf("%s: still pending, %v", step, err)
		}
		layerstest.Roots(t, m)
	}
}

// TestForgetOrder lets three devices that have made things of one session, of which one forgets a part of it and another session,
// sync in every order, twice. In the end all have the same, nobody has what was forgotten, and nothing else is lost.
func TestForgetOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("three devices in six orders take some seconds")
	}
	t.Parallel()
	var all string
	orders := [][]int{{0, 1, 2}, {1, 2, 0}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 0, 1}}
	for _, order := range orders[:layerstest.Tiered(t, 3, 6, 6)] {
		h := layerstest.NewHub(t, "dir")
		ms := []*layers.Memory{h.Memory(t, "a"), h.Memory(t, "b"), h.Memory(t, "c")}
		text := ""
		for i := range 12 {
			text += layerstest.UserLine(i, fmt.Sprintf("message %d says a good deal about the tables of module %d and who writes them", i, i))
		}
		text += layerstest.UserLine(20, "call me zaphod")
		layerstest.Add(t, ms[0], layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text), layerstest.Write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), layerstest.UserLine(1, "beeblebrox alone")),
			layerstest.Write(t, filepath.Join(t.TempDir(), "cccc0003.jsonl"), layerstest.UserLine(1, "stays as it is")))
		layerstest.PushAll(t, ms[0])
		for i, m := range ms[1:] {
			layerstest.FetchAll(t, m)
			layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), fmt.Sprintf("dddd%04d.jsonl", i)), layerstest.UserLine(1, fmt.Sprintf("own of %d", i))))
			layerstest.TrustAll(t, m)
			rev := layerstest.RevOf(t, m, "aaaa0001")
			if _, err := derive.Compress(context.Background(), m.DB, rev, planning.Settings{Ratio: 2, Distance: 1}, false); err != nil {
				t.Fatal(err)
			}
			layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text)) // it has the file too
			layerstest.PushAll(t, m)
		}
		layerstest.ForgetText(t, ms[0], forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
		layerstest.ForgetText(t, ms[0], forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, ms[0], "bbbb0002")}})
		for range 3 {
			for _, i := range order {
				layerstest.FetchAll(t, ms[i])
				layerstest.TrustAll(t, ms[i])
				layerstest.FetchAll(t, ms[i])
				layerstest.PushAll(t, ms[i])
			}
		}
		for _, i := range order {
			layerstest.FetchAll(t, ms[i])
		}
		for _, text := range []string{"zaphod", "beeblebrox"} {
			if found := layerstest.Stays(t, text, ms, h.Dir); len(found) > 0 {
				t.Errorf("order %v: %s stays in %v", order, text, found)
			}
		}
		now := layerstest.Roots(t, ms[0])
		for _, m := range ms[1:] {
			if got := layerstest.Roots(t, m); got != now {
				t.Errorf("order %v: roots differ:\n%s\n%s", order, got, now)
			}
		}
		st, err := trust.State(context.Background(), ms[2].DB, layerstest.RevOf(t, ms[2], "aaaa0001").Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range st.Sessions {
			names = append(names, s.ID)
		}
		for _, v := range st.Versions {
			names = append(names, v.Session+":"+v.Label)
		}
		if all == "" {
			all = fmt.Sprint(names)
		}
		if got := fmt.Sprint(names); got != all || !strings.Contains(got, "dddd0000 dddd0001") || !strings.Contains(got, "cccc0003") {
			t.Errorf("order %v: what is left is %v, want %v", order, got, all)
		}
	}
}

// TestForgetNeedsTrust lets a device that the user does not trust say that a session is forgotten: here it stays.
func TestForgetNeedsTrust(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "a"), h.Memory(t, "b")
	src := layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "mine, whatever others say"))
	layerstest.Add(t, a, src)
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	layerstest.ForgetText(t, b, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, b, "aaaa0001")}})
	layerstest.PushAll(t, b)
	if in := layerstest.FetchUntrusted(t, a); len(in.Forgotten) > 0 {
		t.Errorf("fetch: %+v", in)
	}
	if rev := layerstest.RevOf(t, a, "aaaa0001"); rev.Session.Deleted {
		t.Error("the session is out of the lists")
	}
	layerstest.Roots(t, a)
}

// TestStaleEpochIsRefused lets a remote show the lane as it was before something was forgotten, after it showed the new one.
func TestStaleEpochIsRefused(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "a"), h.Memory(t, "b")
	layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "zaphod")), layerstest.Write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), layerstest.UserLine(1, "stays")))
	layerstest.PushAll(t, a)
	old := filepath.Join(t.TempDir(), "old.git")
	layerstest.GitRun(t, "", "clone", "-q", "--mirror", h.Dir, old)
	layerstest.FetchAll(t, b)
	layerstest.ForgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, a, "aaaa0001")}})
	layerstest.PushAll(t, a)
	if in := layerstest.FetchAll(t, b); len(in.Lanes) != 1 || in.Lanes[0].Status != "updated" || in.Lanes[0].Arrival.Epoch != 1 || in.Lanes[0].Arrival.Removed == 0 {
		t.Errorf("fetch: %+v", in)
	}
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{b}, h.Dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	if err := os.RemoveAll(h.Dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, h.Dir); err != nil {
		t.Fatal(err)
	}
	if in := layerstest.FetchAll(t, b); len(in.Lanes) != 1 || in.Lanes[0].Status != "rewritten" {
		t.Errorf("fetch of the old lane: %+v", in)
	}
	if in := layerstest.FetchAll(t, a); in.Twin || len(in.Lanes) != 1 || in.Lanes[0].Status != "ahead" {
		t.Errorf("fetch of the own old lane: %+v", in)
	}
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{a, b}); len(found) > 0 {
		t.Errorf("it came back in %v", found)
	}
	layerstest.PushAll(t, a)
	if found := layerstest.Stays(t, "zaphod", nil, h.Dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
}

// TestForgetSince forgets by time, and what a purge says of it.
func TestForgetSince(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	layerstest.Add(t, m, layerstest.Session(t, "aaaa0001", "/home/dev/shop", 10))
	out := layerstest.ForgetText(t, m, forget.ForgetOptions{Since: time.Date(2026, 1, 15, 10, 7, 0, 0, time.UTC)})
	if len(out.Things) != 1 || out.Things[0].Name != "aaaa0001#8..10" || out.Things[0].Count != 3 {
		t.Errorf("forgot %+v", out.Things)
	}
	if found := layerstest.Stays(t, "message 8 of", []*layers.Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	layerstest.Roots(t, m)
}

// TestSpellings finds a value in every form in which transcripts hold it, and never in a seal.
func TestSpellings(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	value := []byte(`p"ss/wörd<&>+42`)
	var values []originals.SealedValue
	for _, s := range markers.Spellings(value) {
		values = append(values, originals.SealValue(m.DB, s))
	}
	if err := originals.AddSeals(m.DB, originals.Seals{Values: values}); err != nil {
		t.Fatal(err)
	}
	g, err := originals.NewGuard(m.DB, state.NewPurges(nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range markers.Spellings(value) {
		for _, around := range []string{"", "x", "some text before "} {
			b := []byte(around + string(text) + around)
			at := originals.PlacesOf(b, markers.Spellings(value))
			if len(at) != 1 || !slices.Equal(g.Values(b), at) {
				t.Errorf("%q stands at %v, sealed at %v", b, at, g.Values(b))
			}
		}
	}
	if got := g.Values([]byte("nothing of the kind, however long it is")); len(got) > 0 {
		t.Errorf("found %v", got)
	}
}

// TestManySealed looks for many deleted values in a text in a reasonable time.
func TestManySealed(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	var values []originals.SealedValue
	for i := range 3000 {
		values = append(values, originals.SealValue(m.DB, []byte(strings.Repeat("v", 8+i%40)+fmt.Sprint(10000+i))))
	}
	if err := originals.AddSeals(m.DB, originals.Seals{Values: values}); err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("Some text without a value. "), 8<<10)
	at := len(text)
	text = append(text, strings.Repeat("v", 8)+"10000 and the end"...)
	g, err := originals.NewGuard(m.DB, state.NewPurges(nil))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if got, want := g.Values(text), [][2]int{{at, at + 13}}; !slices.Equal(got, want) {
		t.Errorf("Values = %v, want %v", got, want)
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("%v for %d bytes", d, len(text))
	}
}

// FuzzFindSealed holds the search for sealed values against a search for the values.
func FuzzFindSealed(f *testing.F) {
	f.Add([]byte("a secret in a secret"), 2, 6)
	f.Add([]byte("aaaaaaaaaaaaaaa"), 0, 6)
	f.Fuzz(func(t *testing.T, text []byte, at, length int) {
		if length < 1 || at < 0 || len(text) > 1<<12 || length > len(text) || at > len(text)-length {
			return
		}
		value, key := text[at:at+length], uint64(987654321987)
		got := originals.Joined(originals.FindSealed(text, length, key, func(h uint64) bool { return h == originals.Roll(value, key) }, func(b []byte) bool { return bytes.Equal(b, value) }))
		if want := originals.PlacesOf(text, [][]byte{value}); !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	})
}

// TestForgetWhileAdding forgets something while a capture is under way that has read the memory before: the capture begins again on what
// is left, and brings nothing back.
func TestForgetWhileAdding(t *testing.T) {
	t.Parallel()
	was := layerstest.UserLine(1, "call me zaphod") + layerstest.UserLine(2, "go on with the tests")
	more := was + layerstest.UserLine(3, "they are slow") + layerstest.UserLine(4, "find out why")
	again := layerstest.UserLine(1, "call me zaphod") + layerstest.UserLine(6, "and what else") // a session that goes on from the first
	for name, src := range map[string]struct {
		file, lines string
		foreign     bool // what is forgotten lies in the lane of another device
	}{
		"grown":   {"aaaa0001.jsonl", more, false},
		"new":     {"bbbb0002.jsonl", again, false},
		"foreign": {"bbbb0002.jsonl", again, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, "dir")
			m, first := h.Memory(t, "laptop"), h.Memory(t, "desk")
			dir := t.TempDir()
			if !src.foreign {
				first = m
			}
			layerstest.Add(t, first, layerstest.Write(t, filepath.Join(dir, "aaaa0001.jsonl"), was))
			if src.foreign {
				layerstest.PushAll(t, first)
				layerstest.FetchAll(t, m)
				layerstest.TrustAll(t, m)
			}
			other := layerstest.Reopen(t, m) // as another process
			var once sync.Once
			during := func(int64) {
				once.Do(func() { layerstest.ForgetText(t, other, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")}) })
			}
			if _, err := capture.Add(t.Context(), m.DB, []capture.Source{layerstest.Write(t, filepath.Join(dir, src.file), src.lines)}, capture.AddOptions{Progress: during}); err != nil {
				t.Fatal(err)
			}
			m = layerstest.Reopen(t, m)
			checked, err := repair.Check(t.Context(), m.DB, true)
			if err != nil || len(checked.Problems) > 0 {
				t.Errorf("Check: %v, %v", checked.Problems, err)
			}
			found := layerstest.Stays(t, "zaphod", []*layers.Memory{m})
			if src.foreign { // the other device has yet to hear of it
				found = slices.DeleteFunc(found, func(where string) bool { return !strings.Contains(where, m.Refs.Device().ID) })
			}
			if len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
		})
	}
}

// TestForgetElsewhereWhileAdding forgets a value in one project while a file of another one that holds it is being captured.
func TestForgetElsewhereWhileAdding(t *testing.T) {
	t.Parallel()
	const secret = "zaphod-beeblebrox-42"
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "call me "+secret)))
	elsewhere := strings.ReplaceAll(layerstest.UserLine(2, "it was "+secret), "/home/dev/shop", "/home/dev/desk")
	other := layerstest.Reopen(t, m) // as another process
	var once sync.Once
	o := capture.AddOptions{Progress: func(int64) {
		once.Do(func() { layerstest.ForgetText(t, other, forget.ForgetOptions{Secret: []byte(secret)}) })
	}}
	if _, err := capture.Add(t.Context(), m.DB, []capture.Source{layerstest.Write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), elsewhere)}, o); err != nil {
		t.Fatal(err)
	}
	m = layerstest.Reopen(t, m)
	layerstest.Roots(t, m)
	if found := layerstest.Stays(t, secret, []*layers.Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
}
