package main_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/proof"
)

// tortureLarge lets a session with a huge overflow file travel: what a legitimate store holds arrives, whole, without being held
// in memory by the one who fetches. Less than 64 MiB would go another way.
func tortureLarge(t *testing.T, r *rig) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git to make the repository with: apt-get install git")
	}
	size := amount(t, 0, 100, 240) << 20
	if size == 0 {
		t.Skip("SKIPPED: it takes seconds: MEM_TORTURE=commit")
	}
	w := proof.NewTeller(7, "/home/user/large")
	dir := ".claude/projects/-home-user-large/"
	r.write(dir+w.ID+".jsonl", w.More(3))
	r.write(dir+w.ID+"/tool-results/dump.txt", hard(size))
	hub := filepath.Join(r.Home, "hub.git")
	if res := r.run(0, []string{"git", "init", "-q", "--bare", hub}); res.Code != 0 {
		t.Fatal(res)
	}
	r.ok("add", "-q", filepath.Join(r.Home, dir+w.ID+".jsonl"))
	r.ok("remote", "add", "origin", hub)
	r.ok("push", "-q", "--all", "--yes")
	if res := r.run(0, []string{"git", "-C", hub, "cat-file", "--batch-check", "--batch-all-objects"}); !strings.Contains(res.Stdout, fmt.Sprintf(" blob %d\n", size)) {
		t.Fatalf("the file is not on the remote: %s", res)
	}
	other := filepath.Join(t.TempDir(), "other")
	out, peak := r.peak("--mem-dir", other, "clone", "-q", hub, "--device", "second")
	t.Logf("clone: %d MB at most", peak>>10)
	if peak > 256<<10 {
		t.Errorf("clone took %d MB, want at most 256: %s", peak>>10, out)
	}
	if a, b := r.ok("fsck", "--root"), r.ok("--mem-dir", other, "fsck", "--root"); a != b || a == "" {
		t.Errorf("roots %q and %q", a, b)
	}
	if out := r.ok("--mem-dir", other, "fsck", "--full"); !strings.Contains(out, ": ok") {
		t.Errorf("fsck --full: %s", out)
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

// peak runs a command that must succeed, and returns the most memory in kB that it was seen to have; 0 if that cannot be told here.
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
