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

	"github.com/memvcs/mem/refs"
)

// tortureLarge lets a session with a huge overflow file travel, as it is stored now and as an older mem stored it, as one blob: it arrives,
// whole, without being held in memory. A blob of less than 64 MiB would go another way.
func tortureLarge(t *testing.T, r *rig) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git to make the repository with: apt-get install git")
	}
	size := amount(t, 0, 100, 240) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	w := NewGenerator(7, "/home/user/large")
	dir := ".claude/projects/-home-user-large/"
	file := r.write(dir+w.ID+".jsonl", w.More(3))
	dump := hard(size)
	r.write(dir+w.ID+"/tool-results/dump.txt", dump)
	r.killLarge(file, amount(t, 0, 4, 20))
	hub := filepath.Join(r.Home, "hub.git")
	if res := r.run("git", "init", "-q", "--bare", hub); res.Code != 0 {
		t.Fatal(res)
	}
	const most = 150 // MB
	r.atMost(most, "add", "-q", file)
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
	size := amount(t, 0, 100, 400) << 20
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
	const most = 200 // MB
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
