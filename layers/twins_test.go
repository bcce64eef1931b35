package layers

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/secrets"
)

// zeros is a source of randomness that makes the same device each time.
type zeros struct{ n byte }

func (z *zeros) Read(p []byte) (int, error) {
	for i := range p {
		z.n = z.n*167 + 13
		p[i] = z.n
	}
	return len(p), nil
}

// secretive is a session with a secret in every place that something is derived from: the title, a marker, a path, a
// number, an overflow file.
func secretive(secret string) (transcript, overflow string) {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"user","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/dev/shop","gitBranch":"fix-%s","sessionId":"s1","message":{"role":"user","content":"use %s ##keepit1.00## never lose %s"}}`+"\n", secret, secret, secret)
	for i := range 40 {
		b.WriteString(userLine(i+2, fmt.Sprintf("step %d\nTOKEN=%s\nand on", i, secret)))
	}
	fmt.Fprintf(&b, `{"type":"summary","summary":"About %s","leafUuid":"u41"}`+"\n", secret)
	return b.String(), "output\nwith " + secret + "\n"
}

// TestTwins makes two stores that differ in nothing but the value of a secret, also in its length: their lanes of
// memory.git are the same commits, and the secret is nowhere in them, packed or unpacked.
func TestTwins(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	rules, err := redact.New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var tips []string
	dir := t.TempDir()
	for _, secret := range []string{"ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi", "ghp_9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi4kTz", "ghp_Xy9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi4kTzAb7"} {
		o := testOptions()
		o.Rules, o.Rand = rules, &zeros{}
		m := newMemory(t, o)
		text, overflow := secretive(secret)
		path := filepath.Join(dir, "s1.jsonl")
		file := write(t, filepath.Join(dir, "tool.txt"), overflow).Path
		var tip string
		lines := strings.SplitAfter(text, "\n")
		for _, n := range []int{1, 20, len(lines)} {
			part := strings.Join(lines[:n], "")
			src := write(t, path, part)
			src.Path, src.Files = path, []string{file}
			p := add(t, m, src)[0].Project.ID
			tip = tipOf(t, m, p)
			if got := restored(t, m, p, "s1"); string(got[len(got)-1]) != part {
				t.Fatal("the original does not come back")
			}
			leaks, err := secrets.ScanOutgoing(ctx, m.DB, p, never)
			if err != nil || len(leaks) > 0 {
				t.Errorf("leaks %v, %v", leaks, err)
			}
		}
		noBytes(t, filepath.Join(m.Refs.Dir(), "memory.git"), secret)
		tips = append(tips, tip)
	}
	if tips[0] != tips[1] || tips[0] != tips[2] {
		t.Errorf("commits %v, want the same", tips)
	}
}

// noBytes looks for secret in every object of a repository, with git, and in the streams.
func noBytes(t *testing.T, git, secret string) {
	t.Helper()
	out, err := exec.Command("git", "-C", git, "cat-file", "--batch-all-objects", "--batch").Output()
	if err != nil {
		t.Skipf("SKIPPED: no git: %v", err)
	}
	if len(out) == 0 || bytes.Contains(out, []byte(secret)) || bytes.Contains(out, []byte(secret[8:])) {
		t.Errorf("the secret is in %s", git)
	}
}
