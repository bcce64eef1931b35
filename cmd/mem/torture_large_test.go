package main_test

import (
	"bytes"
	crand "crypto/rand"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// tortureLarge lets a session with a huge overflow file travel, as it is stored now and as an older mem stored it, as one blob: it arrives,
// whole. No object is larger than 64 MiB.
func tortureLarge(t *testing.T, r *rig) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git to make the repository with: apt-get install git")
	}
	size := amount(t, 0, 60, 60) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	w := NewGenerator(7, "/home/user/large")
	dir := ".claude/projects/-home-user-large/"
	file := r.write(dir+w.ID+".jsonl", w.More(3))
	dump := hard(size)
	r.write(dir+w.ID+"/tool-results/dump.txt", dump)
	const most = 150                             // MB
	first := filepath.Join(t.TempDir(), "first") // a capture that ends before it is killed leaves none to measure
	r.ok("--mem-dir", first, "init", "-q")
	r.atMost(most, "--mem-dir", first, "add", "-q", file)
	r.killLarge(file, amount(t, 0, 4, 20))
	hub := filepath.Join(r.Home, "hub.git")
	if res := r.run("git", "init", "-q", "--bare", hub); res.Code != 0 {
		t.Fatal(res)
	}
	r.atMost(most, "add", "-q", file)
	r.atMost(most, "fsck", "--full")
	back := filepath.Join(t.TempDir(), "back.jsonl")
	r.atMost(most, "checkout", "-q", w.ID, "--files", "-o", back)
	if got, err := os.ReadFile(filepath.Join(strings.TrimSuffix(back, ".jsonl"), "tool-results", "dump.txt")); !bytes.Equal(got, dump) {
		t.Errorf("the file came back with %d bytes, want %d: %v", len(got), len(dump), err)
	}
	r.blob(dump)
	r.ok("remote", "add", "origin", hub)
	r.ok("push", "-q", "--all", "--yes")
	if res := r.run("git", "-C", hub, "cat-file", "--batch-check", "--batch-all-objects"); !strings.Contains(res.Stdout, fmt.Sprintf(" blob %d\n", size+1)) {
		t.Fatalf("the blob is not on the remote: %s", res)
	}
	other := filepath.Join(t.TempDir(), "other")
	r.atMost(256, "--mem-dir", other, "clone", "-q", hub, "--device", "second")
	r.ok("--mem-dir", other, "device", "trust", otherDevice(r.ok("--mem-dir", other, "device", "list", "--json")), "--yes")
	if a, b := r.ok("fsck", "--root"), r.ok("--mem-dir", other, "fsck", "--root"); a != b || a == "" {
		t.Errorf("roots %q and %q", a, b)
	}
	if out := r.ok("--mem-dir", other, "fsck", "--full"); !strings.Contains(out, ": ok") {
		t.Errorf("fsck --full: %s", out)
	}
}

// otherDevice returns the device of a list that is not the memory's own, "" if there is none.
func otherDevice(list string) string {
	m := regexp.MustCompile(`"id":"([0-9a-f]+)","name":"[^"]*","key":"[^"]*","fingerprint":"[^"]*","own":false`).FindStringSubmatch(list)
	if m == nil {
		return ""
	}
	return m[1]
}

// tortureLong forgets a word in a long session: its memory is that of a few messages.
func tortureLong(t *testing.T, r *rig) {
	size := amount(t, 0, 48, 400) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	const secret = "quokka-471147"
	w := NewGenerator(8, "/home/user/long")
	words := strings.ReplaceAll(string(hard(1<<20)), "\n", " ")
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		from := n * 7919 % (len(words) / 2)
		text := words[from : from+40<<10]
		if n%50 == 7 {
			text += " " + secret + " "
		}
		w.Record(&b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
	}
	was := []byte(b.String())
	file := r.write(".claude/projects/-home-user-long/"+w.ID+".jsonl", was)
	const most = 150 // MB
	r.atMost(most, "-c", "redact.rules=off", "add", "-q", file)
	r.atMost(most, "forget", "-q", "--all-projects", "--yes", "--secret", secret)
	back := filepath.Join(t.TempDir(), "back.jsonl")
	r.atMost(most, "checkout", "-q", w.ID+":original", "-o", back)
	got, err := os.ReadFile(back)
	if want := bytes.ReplaceAll(was, []byte(secret), bytes.Repeat([]byte("*"), len(secret))); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes came back, want %d with nothing but the word blotted out: %v", len(got), len(want), err)
	}
}

// killLarge kills captures of a large file: each time the store is as it was, or has all of it.
func (r *rig) killLarge(file string, times int) {
	r.t.Helper()
	start := time.Now()
	r.ok("add", "-n", "-q", file)
	took := max(time.Since(start), 50*time.Millisecond)
	for i := range times {
		r.kill(took*time.Duration(i+1)/time.Duration(times), "add", "-q", file)
		r.fsck(fmt.Sprintf("capture %d of a large file was killed", i))
	}
}

// blob adds a large file to the lane as an older mem stored it: an object that is one blob.
func (r *rig) blob(content []byte) {
	r.t.Helper()
	repo, err := refs.Open(r.Dir, refs.Options{Now: time.Now, Rand: crand.Reader})
	if err != nil {
		r.t.Fatal(err)
	}
	defer repo.Close()
	lanes, err := repo.Lanes()
	if err != nil || len(lanes) != 1 {
		r.t.Fatal(lanes, err)
	}
	err = repo.Update(r.t.Context(), lanes[0].Project, "a blob", func(tx *refs.Tx) error {
		tx.Trailer("Op", "add")
		_, err := tx.Put(r.t.Context(), bytes.NewReader(append(content, '!')))
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

// atMost runs a command that must succeed and may take so many MB of memory.
func (r *rig) atMost(most int, args ...string) {
	r.t.Helper()
	out, peak := r.peak(args...)
	r.t.Logf("mem %s: %d MB at most", strings.Join(args, " "), peak>>10)
	if peak > most<<10 {
		r.t.Errorf("mem %s took %d MB, want at most %d: %s", strings.Join(args, " "), peak>>10, most, out)
	}
}

// hard makes lines of text that can be compressed little.
func hard(n int) []byte {
	raw := make([]byte, n/4*3)
	if _, err := rand.NewChaCha8([32]byte{3}).Read(raw); err != nil {
		panic(err) // it never fails
	}
	text := []byte(base64.StdEncoding.EncodeToString(raw))
	for i := 100; i < len(text); i += 101 {
		text[i] = '\n'
	}
	return text
}

// peak runs a command that must succeed, and returns its peak memory in kB; 0 if it is unknown here.
func (r *rig) peak(args ...string) (string, int) {
	r.t.Helper()
	var out strings.Builder
	cmd := exec.Command(r.Bin, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.Home, &out, &out
	cmd.Env = slices.Concat(os.Environ(), r.Environ())
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	most := 0
	for {
		select {
		case err := <-done:
			if err != nil {
				r.t.Fatalf("mem %v: %v: %s", args, err, out.String())
			}
			return out.String(), most
		case <-time.After(5 * time.Millisecond):
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)) // not there, or over: what was seen last counts
			_, rest, _ := strings.Cut(string(status), "VmHWM:")
			var kb int
			if _, err := fmt.Sscan(rest, &kb); err == nil {
				most = max(most, kb)
			}
		}
	}
}

// tortureTyped captures, shows, compresses, compares and blames a session that is mostly text typed by the user, which every layer keeps whole.
// Those that need L1 or its texts read them into memory, the others do not.
func tortureTyped(t *testing.T, r *rig) {
	size := amount(t, 0, 16, 200) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	const id = "7a7a7a7a-2222-4333-8444-555555555555"
	most := 56 + size>>23 // MB, for what streams
	file := r.write(".claude/projects/-home-user-typed/"+id+".jsonl", typed(id, size))
	whole := max(240, 160+3*size>>20) // MB, with L1 and what is made of it in memory
	r.atMost(whole, "import", "-q", file)
	for skip := range amount(t, 0, 1, 2) {
		for name, limit := range map[string]int{id + ":L1": whole, id + ":original": most} {
			r.atMost(limit, "show", name, "--format", "text")
			r.atMost(limit, "show", name, "--format", "jsonl")
		}
		r.atMost(most, "count", id)
		r.atMost(whole, "compress", id, "--ratio", "20", "--skip", fmt.Sprint(skip)) // each time another version
		r.atMost(whole, "blame", fmt.Sprintf("%s:v%03d", id, skip+1))
		r.atMost(whole, "diff", fmt.Sprintf("%s:v%03d", id, skip+1), []string{"--json", "--text"}[skip])
		if err := os.RemoveAll(filepath.Join(r.Dir, "cache")); err != nil { // the second time all is made again
			t.Fatal(err)
		}
	}
}

// typed makes a session of about so many bytes: messages of 4 to 100 KB that the user typed, each with a short answer.
func typed(id string, size int) []byte {
	var pool, b bytes.Buffer
	for i := 0; pool.Len() < 1<<20; i++ {
		fmt.Fprintf(&pool, "step %d of the plan has %d parts and comes after the other %d ones. ", i%97, i%11, i%31)
	}
	for i := 0; b.Len() < size; i++ {
		n := 4_000 + i*7919%96_000
		at := i * 104_729 % (pool.Len() - n)
		fmt.Fprintf(&b, `{"type":"user","cwd":"/home/user/typed","sessionId":"%s","timestamp":"2026-01-05T01:02:03.000Z","uuid":"u%d","message":{"role":"user","content":"%s"}}`+"\n", id, i, pool.Bytes()[at:at+n])
		fmt.Fprintf(&b, `{"type":"assistant","cwd":"/home/user/typed","sessionId":"%s","timestamp":"2026-01-05T01:02:04.000Z","uuid":"a%d","message":{"id":"m%d","role":"assistant","model":"claude-opus-4-6","content":[{"type":"text","text":"done %d"}]}}`+"\n", id, i, i, i)
	}
	return b.Bytes()
}

// tortureSplits adds a transcript after every one of a random number of appends, cut anywhere. The
// bytes come back each time, and every state that ends with a record has the name of its bytes,
// however it came about.
func tortureSplits(t *testing.T, r *rig) {
	rng := rand.New(rand.NewPCG(seed(t)+2, 4))
	for i := range amount(t, 3, 12, 400) {
		w := NewGenerator(uint64(200+i), "/home/user/splits")
		text := w.More(10 + rng.IntN(60))
		if rng.IntN(2) == 0 {
			text = bytes.TrimSuffix(text, []byte("\n")) // as clients leave it sometimes
		}
		file := filepath.Join(r.Home, w.ID+".jsonl")
		for _, n := range cuts(rng, text) {
			if err := os.WriteFile(file, text[:n], 0o600); err != nil {
				t.Fatal(err)
			}
			when := fmt.Sprintf("transcript %d up to byte %d", i, n)
			if res := r.mem("add", file); res.Code != 0 {
				t.Fatalf("%s: %s", when, res)
			}
			r.same(w.ID, text[:n], when)
			if text[n-1] == '\n' {
				r.named(text[:n], when)
			}
		}
	}
	r.fsck("after all splits")
}

// cuts returns where to cut text: some places anywhere, some after a record, and the end.
func cuts(rng *rand.Rand, text []byte) []int {
	first := bytes.IndexByte(text, '\n') + 1
	at := []int{len(text)}
	for range 1 + rng.IntN(8) {
		n := first + rng.IntN(len(text)-first)
		if rng.IntN(2) == 0 {
			n = bytes.LastIndexByte(text[:n], '\n') + 1
		}
		at = append(at, max(n, first))
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// named checks that content is an object under the name that b3sum would print.
func (r *rig) named(content []byte, when string) {
	r.t.Helper()
	res := r.mem("cat-file", "b3:"+objects.Sum(content).String())
	if res.Code != 0 || res.Stdout != string(content) {
		r.t.Fatalf("%s: the state is not an object of its name: exit %d, %d bytes, want %d: %s", when, res.Code, len(res.Stdout), len(content), res.Stderr)
	}
}
