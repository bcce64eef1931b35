package layers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/lane"
)

// stays looks for a text in every file of directories, as it is; in every object of the git repositories under them, unpacked; and
// in every stream and patch of stores, decompressed.
func stays(t testing.TB, text string, stores []*Memory, dirs ...string) (found []string) {
	t.Helper()
	for _, m := range stores {
		lanes, err := forget.AllLanes(m.DB)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			v := &forget.Prover{M: m.DB, Needles: [][]byte{[]byte(text)}, Out: forget.Proof{Others: map[string]int{}}}
			if err := v.Lane(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			if len(v.Out.Left)+len(v.Out.Others) > 0 {
				found = append(found, "lane "+l.Ref())
			}
		}
		dirs = append(dirs, m.Refs.Dir())
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && strings.HasSuffix(path, ".git") {
				found = append(found, staysIn(t, text, path)...)
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(text)) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// staysIn looks for a text in every object of a repository, those that nothing leads to as well.
func staysIn(t testing.TB, text, dir string) (found []string) {
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for id, err := range g.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		_, b, err := g.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			found = append(found, dir+" "+id.String())
		}
	}
	live, err := lane.Reachable(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range g.Packs().All() {
		if _, ok := live[id]; !ok || err != nil {
			found = append(found, dir+" holds "+id.String()+", which nothing leads to")
		}
	}
	return found
}

func forgetText(t testing.TB, m *Memory, o forget.ForgetOptions) forget.Forgotten {
	t.Helper()
	if o.Projects == nil && o.Revs == nil {
		all, err := trust.Projects(context.Background(), m.DB)
		if err != nil {
			t.Fatal(err)
		}
		o.Projects = all
	}
	out, err := forget.Forget(context.Background(), m.DB, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Proof.Left) > 0 {
		t.Errorf("left: %v", out.Proof.Left)
	}
	return out
}

// revOf resolves a name in any project.
func revOf(t testing.TB, m *Memory, name string) state.Rev {
	t.Helper()
	all, err := trust.Projects(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := revision.Resolve(context.Background(), m.DB, state.Scope{Project: all[0]}, name)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// TestForgetSecret forgets a value that stands in a title, a branch, markers, an overflow file, what redaction cut, the torn end of
// the file and a version, in each growth point. What is left of the session comes back, and it goes on growing.
func TestForgetSecret(t *testing.T) {
	skipShort(t)
	t.Parallel()
	rules, err := redact.New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	secret := "ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi"
	for _, with := range []redact.Rules{{}, rules} {
		o := testOptions()
		o.Rules = with
		m := newMemory(t, o)
		dir := t.TempDir()
		text, overflow := secretive(secret)
		path := filepath.Join(dir, "s1.jsonl")
		file := write(t, filepath.Join(dir, "tool.txt"), overflow).Path
		lines := strings.SplitAfter(text, "\n")
		for i, n := range []int{1, 20, len(lines)} {
			part := userLine(900, "first, without any") + strings.Join(lines[:n], "")
			if i == 1 {
				part += `{"type":"user","torn ` + secret
			}
			src := write(t, path, part)
			src.Files = []string{file}
			add(t, m, src)
		}
		add(t, m, write(t, filepath.Join(dir, "s2.jsonl"), userLine(1, "nothing to hide")))
		if _, err := derive.Compress(context.Background(), m.DB, revOf(t, m, "s1"), compress.Settings{Ratio: 2}, false); err != nil {
			t.Fatal(err)
		}
		forgetText(t, m, forget.ForgetOptions{Secret: []byte(secret)})
		if found := stays(t, secret, []*Memory{m}); len(found) > 0 {
			t.Errorf("rules %q: it stays in %v", with.ID, found)
		}
		roots(t, m)
		rev := revOf(t, m, "s1")
		var b bytes.Buffer
		if err := originals.WriteOriginal(context.Background(), m.DB, rev.Project.ID, rev.Session, rev.Session.Now(), &b); err != nil {
			t.Fatal(err)
		}
		want := userLine(900, "first, without any") + strings.ReplaceAll(text, secret, strings.Repeat("*", len(secret)))
		if b.String() != want {
			t.Errorf("rules %q: what is left is\n%s\nwant\n%s", with.ID, b.String(), want)
		}
		src := write(t, path, userLine(900, "first, without any")+text+userLine(50, "later, again "+secret))
		src.Files = []string{file}
		if a := add(t, m, src)[0]; a.Change != "grown" || a.NewValues != 1 {
			t.Errorf("rules %q: added again: %s, %d new", with.ID, a.Change, a.NewValues)
		}
		if found := stays(t, secret, []*Memory{m}); len(found) > 0 {
			t.Errorf("rules %q: it came back in %v", with.ID, found)
		}
		roots(t, m)
	}
}

// TestForgetProperty forgets messages of random sessions, some with secrets that redaction cut. The numbers of messages stay, JSON
// stays JSON, every other message is as it was byte for byte, and the file can be captured again without a new generation.
func TestForgetProperty(t *testing.T) {
	skipShort(t)
	t.Parallel()
	rules, err := redact.New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 11))
	for round := range rounds(12) {
		o := testOptions()
		o.Rules = rules
		m := newMemory(t, o)
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
			line := userLine(i, words)
			if rnd.IntN(8) == 0 {
				line = fmt.Sprintf(`{"type":"queue-operation","operation":"enqueue","content":%q}`+"\n", words)
			}
			text.WriteString(line)
			if want = append(want, strings.TrimSuffix(line, "\n")); goes {
				want[len(want)-1] = ""
			}
			if rnd.IntN(4) == 0 {
				add(t, m, write(t, path, text.String()))
			}
		}
		add(t, m, write(t, path, text.String()))
		if !strings.Contains(text.String(), "zaphod") {
			continue
		}
		forgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
		if found := stays(t, "zaphod", []*Memory{m}); len(found) > 0 {
			t.Errorf("round %d: it stays in %v", round, found)
		}
		rev := revOf(t, m, "s1")
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
		if a := add(t, m, write(t, path, text.String()))[0]; a.Change != "unchanged" {
			t.Errorf("round %d: added again: %s", round, a.Change)
		}
		if a := add(t, m, write(t, path, text.String()+userLine(99, "more")))[0]; a.Change != "grown" {
			t.Errorf("round %d: grown: %s", round, a.Change)
		}
		roots(t, m)
	}
}

// TestForgetKilled stops at each step of forgetting. The store is valid at each, and the next run brings it to its end.
func TestForgetKilled(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	for _, step := range []string{"planned", "noted", "rewritten", "patches"} {
		m := newMemory(t, testOptions())
		add(t, m, write(t, filepath.Join(t.TempDir(), "s1.jsonl"), userLine(1, "call me zaphod")+userLine(2, "and go on")), write(t, filepath.Join(t.TempDir(), "s2.jsonl"), userLine(1, "stay")))
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
			err = errors.Join(originals.AddSeals(m.DB, f.Seals), forget.NotePending(m.DB, f))
		}
		if err == nil && (step == "rewritten" || step == "patches") {
			err = f.Apply(ctx)
		}
		if err == nil && step == "patches" {
			err = forget.DropPatches(ctx, m.DB, all[0].ID)
		}
		if err = errors.Join(err, f.Stage.Close()); err != nil {
			t.Fatal(err)
		}
		roots(t, m)
		out, err := forget.Forget(ctx, m.DB, o)
		if err != nil && !errors.Is(err, forget.ErrNothingToForget) {
			t.Fatal(err)
		}
		if finished := step != "planned"; out.Finished != finished {
			t.Errorf("%s: finished %v, want %v", step, out.Finished, finished)
		}
		if found := stays(t, "zaphod", []*Memory{m}); len(found) > 0 {
			t.Errorf("%s: it stays in %v", step, found)
		}
		if _, left, err := forget.ReadPending(m.DB); left || err != nil {
			t.Errorf("%s: still pending, %v", step, err)
		}
		roots(t, m)
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
	for _, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		h := newHub(t, "dir")
		ms := []*Memory{h.memory(t, "a"), h.memory(t, "b"), h.memory(t, "c")}
		text := ""
		for i := range 12 {
			text += userLine(i, fmt.Sprintf("message %d says a good deal about the tables of module %d and who writes them", i, i))
		}
		text += userLine(20, "call me zaphod")
		add(t, ms[0], write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text), write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), userLine(1, "beeblebrox alone")),
			write(t, filepath.Join(t.TempDir(), "cccc0003.jsonl"), userLine(1, "stays as it is")))
		pushAll(t, ms[0])
		for i, m := range ms[1:] {
			fetchAll(t, m)
			add(t, m, write(t, filepath.Join(t.TempDir(), fmt.Sprintf("dddd%04d.jsonl", i)), userLine(1, fmt.Sprintf("own of %d", i))))
			trustAll(t, m)
			rev := revOf(t, m, "aaaa0001")
			if _, err := derive.Compress(context.Background(), m.DB, rev, compress.Settings{Ratio: 2, Distance: 1}, false); err != nil {
				t.Fatal(err)
			}
			add(t, m, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text)) // it has the file too
			pushAll(t, m)
		}
		forgetText(t, ms[0], forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
		forgetText(t, ms[0], forget.ForgetOptions{Revs: []state.Rev{revOf(t, ms[0], "bbbb0002")}})
		for range 3 {
			for _, i := range order {
				fetchAll(t, ms[i])
				trustAll(t, ms[i])
				fetchAll(t, ms[i])
				pushAll(t, ms[i])
			}
		}
		for _, i := range order {
			fetchAll(t, ms[i])
		}
		for _, text := range []string{"zaphod", "beeblebrox"} {
			if found := stays(t, text, ms, h.dir); len(found) > 0 {
				t.Errorf("order %v: %s stays in %v", order, text, found)
			}
		}
		now := roots(t, ms[0])
		for _, m := range ms[1:] {
			if got := roots(t, m); got != now {
				t.Errorf("order %v: roots differ:\n%s\n%s", order, got, now)
			}
		}
		st, err := trust.State(context.Background(), ms[2].DB, revOf(t, ms[2], "aaaa0001").Project.ID)
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

func trustAll(t testing.TB, m *Memory) {
	t.Helper()
	known, err := trust.Devices(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range known {
		if !d.Own && !d.Trusted {
			if err := trust.TrustDevice(context.Background(), m.DB, d, true); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestForgetNeedsTrust lets a device that the user does not trust say that a session is forgotten: here it stays.
func TestForgetNeedsTrust(t *testing.T) {
	t.Parallel()
	h := newHub(t, "dir")
	a, b := h.memory(t, "a"), h.memory(t, "b")
	src := write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), userLine(1, "mine, whatever others say"))
	add(t, a, src)
	pushAll(t, a)
	fetchAll(t, b)
	forgetText(t, b, forget.ForgetOptions{Revs: []state.Rev{revOf(t, b, "aaaa0001")}})
	pushAll(t, b)
	if in := fetchUntrusted(t, a); len(in.Forgotten) > 0 {
		t.Errorf("fetch: %+v", in)
	}
	if rev := revOf(t, a, "aaaa0001"); rev.Session.Deleted {
		t.Error("the session is out of the lists")
	}
	roots(t, a)
}

// TestStaleEpochIsRefused lets a remote show the lane as it was before something was forgotten, after it showed the new one.
func TestStaleEpochIsRefused(t *testing.T) {
	t.Parallel()
	h := newHub(t, "dir")
	a, b := h.memory(t, "a"), h.memory(t, "b")
	add(t, a, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), userLine(1, "zaphod")), write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), userLine(1, "stays")))
	pushAll(t, a)
	old := filepath.Join(t.TempDir(), "old.git")
	gitRun(t, "", "clone", "-q", "--mirror", h.dir, old)
	fetchAll(t, b)
	forgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{revOf(t, a, "aaaa0001")}})
	pushAll(t, a)
	if in := fetchAll(t, b); len(in.Lanes) != 1 || in.Lanes[0].Status != "updated" || in.Lanes[0].Arrival.Epoch != 1 || in.Lanes[0].Arrival.Removed == 0 {
		t.Errorf("fetch: %+v", in)
	}
	if found := stays(t, "zaphod", []*Memory{b}, h.dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	if err := os.RemoveAll(h.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(old, h.dir); err != nil {
		t.Fatal(err)
	}
	if in := fetchAll(t, b); len(in.Lanes) != 1 || in.Lanes[0].Status != "rewritten" {
		t.Errorf("fetch of the old lane: %+v", in)
	}
	if in := fetchAll(t, a); in.Twin || len(in.Lanes) != 1 || in.Lanes[0].Status != "ahead" {
		t.Errorf("fetch of the own old lane: %+v", in)
	}
	if found := stays(t, "zaphod", []*Memory{a, b}); len(found) > 0 {
		t.Errorf("it came back in %v", found)
	}
	pushAll(t, a)
	if found := stays(t, "zaphod", nil, h.dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
}

// TestForgetSince forgets by time, and what a purge says of it.
func TestForgetSince(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
	add(t, m, session(t, "aaaa0001", "/home/dev/shop", 10))
	out := forgetText(t, m, forget.ForgetOptions{Since: time.Date(2026, 1, 15, 10, 7, 0, 0, time.UTC)})
	if len(out.Things) != 1 || out.Things[0].Name != "aaaa0001#8..10" || out.Things[0].Count != 3 {
		t.Errorf("forgot %+v", out.Things)
	}
	if found := stays(t, "message 8 of", []*Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	roots(t, m)
}

// TestSpellings finds a value in every form in which transcripts hold it, and never in a seal.
func TestSpellings(t *testing.T) {
	t.Parallel()
	m := newMemory(t, testOptions())
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
	m := newMemory(t, testOptions())
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
