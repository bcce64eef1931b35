package secrets_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/refs"
)

// TestScanOutgoing stores sessions without rules and scans them with: every place is named, and what a
// remote has is not looked at again.
func TestScanOutgoing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	text := layerstest.UserLine(1, "see TOKEN_abcd1234 here") + layerstest.UserLine(2, "clean")
	p := layerstest.Add(t, m, layerstest.Write(t, path, text))[0].Project.ID
	m.Opts.Rules = layerstest.ToyRules()
	leaks, err := secrets.ScanOutgoing(ctx, m.DB, p, layerstest.Never)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, l := range leaks {
		kinds[l.Kind]++
		if s := l.String(); strings.Contains(s, "TOKEN_") || !strings.Contains(s, "toy") {
			t.Errorf("leak %q", s)
		}
		if l.Kind == "session" && (l.Session != "s1" || l.Message != 1 || l.Length != 14) {
			t.Errorf("leak %+v", l)
		}
	}
	if kinds["session"] != 1 || kinds["record"] == 0 || kinds["commit"] == 0 { // the title stands in the record and in the message
		t.Errorf("leaks by kind: %v", kinds)
	}
	pushed := tipOf(t, m, p)
	m.Opts.Rules.Rules = nil
	layerstest.Add(t, m, layerstest.Write(t, path, text+layerstest.UserLine(3, "later TOKEN_ffff0000")))
	m.Opts.Rules = layerstest.ToyRules()
	leaks, err = secrets.ScanOutgoing(ctx, m.DB, p, func(commit string) bool { return commit == pushed })
	if err != nil || len(leaks) == 0 {
		t.Fatalf("leaks %v, %v", leaks, err)
	}
	for _, l := range leaks {
		if l.Kind == "session" && l.Message != 3 {
			t.Errorf("leak of what was pushed: %+v", l)
		}
	}
	if leaks, err = secrets.ScanOutgoing(ctx, m.DB, p, func(commit string) bool { return commit == tipOf(t, m, p) }); err != nil || len(leaks) > 0 {
		t.Errorf("nothing to push, but %v, %v", leaks, err)
	}
}

func tipOf(t *testing.T, m *layers.Memory, p refs.Project) (tip string) {
	t.Helper()
	err := m.Refs.View(context.Background(), p, func(tx *refs.Tx) error {
		tip = tx.Tips()[0].Commit
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

// TestCleaner cleans lines of every length, read in pieces of other lengths: nothing planted is left, the cuts give the bytes
// back, and a line is cleaned as it is alone.
func TestCleaner(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	rules := rulesOf(t)
	for _, size := range []int{10, 1 << 20, 17 << 20} {
		var line strings.Builder
		line.WriteString(`{"type":"user","message":{"content":"`)
		n := 0
		for ; line.Len() < size; n++ {
			fmt.Fprintf(&line, `PASSWORD=h7Kq2pXw9z%06d word %s`, n, strings.Repeat("and so on ", 20_000))
		}
		line.WriteString("\"}}\n")
		text := line.String() + "short\n" + line.String()
		for _, files := range []bool{false, true} {
			c := &secrets.Cleaner{R: strings.NewReader(text), Rules: rules}
			if files {
				c = secrets.NewFileCleaner(strings.NewReader(text), rules)
			}
			clean, err := io.ReadAll(c)
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(clean, []byte("h7Kq2pXw9z")) || len(c.Cuts) != 2*n {
				t.Errorf("%d bytes, file %v: %d of %d cuts", size, files, len(c.Cuts), 2*n)
			}
			if i := bytes.Index(clean, []byte("short\n")); i < 0 || !bytes.Equal(clean[:i], clean[i+len("short\n"):]) {
				t.Errorf("%d bytes, file %v: the same line is clean in two ways", size, files)
			}
			var back bytes.Buffer
			patch := redact.Patch{After: int64(len(clean)), RawLen: int64(len(text)), Cuts: c.Cuts}
			if err := redact.Restore(&back, bytes.NewReader(clean), patch); back.String() != text {
				t.Errorf("%d bytes, file %v: the cuts do not give the line back: %v", size, files, err)
			}
		}
	}
}

// TestCleanerLongLine cleans a line longer than a piece whose writer escapes HTML, with a secret at the end of each piece.
func TestCleanerLongLine(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	const border = 16<<20 - redact.Ahead // of the first piece
	rules := rulesOf(t)
	fill := strings.Repeat("and so on ", 20_000)
	line := []byte(`{"type":"user","message":{"content":"`)
	n := 0
	for ; len(line) < border-500_000; n += 3 {
		line = fmt.Appendf(line, `'password' =\u003e 'h7Kq2pXw9z%06d', jdbc:mysql://db/x?user=a\u0026password=h7Kq2pXw9z%06d {\n  \"password\": 739184%06d\n} %s`, n, n+1, n+2, fill)
	}
	for _, secret := range []string{`"},"password": |"h7Kq2pXw9z999999","b":{"c":"`, `Authorization: Bearer |h7Kq2pXw9z999999999999`,
		`\n-----BEGIN PRIVATE| KEY-----\nh7Kq2pXw9z8sWq0Lm3Xc5Yd1Zf6Gh2Jk9Pn7Qr4St8Uv0Wx3Yz5Ab1Cd6Ef2Gh9Ij7Kl4M\n-----END PRIVATE KEY-----\n`} {
		before, after, _ := strings.Cut(secret, "|")
		words := bytes.Repeat([]byte("x "), border/2)
		text := slices.Concat(line, words[len(line)+len(before):], []byte(before+after), bytes.Repeat([]byte("and so on "), 200_000), []byte("\"}}\n"))
		c := &secrets.Cleaner{R: bytes.NewReader(text), Rules: rules}
		clean, err := io.ReadAll(c)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(clean, []byte("h7Kq2pXw9z")) || bytes.Contains(clean, []byte("739184")) || len(c.Cuts) != n+1 {
			t.Errorf("%s: %d of %d cuts", secret, len(c.Cuts), n+1)
		}
		if !json.Valid(clean) {
			t.Errorf("%s: no JSON any more", secret)
		}
		var back bytes.Buffer
		patch := redact.Patch{After: int64(len(clean)), RawLen: int64(len(text)), Cuts: c.Cuts}
		if err := redact.Restore(&back, bytes.NewReader(clean), patch); !bytes.Equal(back.Bytes(), text) {
			t.Errorf("%s: the cuts do not give the line back: %v", secret, err)
		}
	}
}

// TestCleanerLongFile cleans a file longer than a piece, with a private key over the end of the first piece.
func TestCleanerLongFile(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	const border = 16<<20 - redact.Ahead
	line, body := "and so on, a line of a build\n", strings.Repeat("h7Kq2pXw9z8sWq0Lm3Xc5Yd1Zf6Gh2Jk9Pn7Qr4St8Uv0Wx3Yz5Ab1Cd6Ef2Gh9I\n", 20)
	text := strings.Repeat(line, (border-700)/len(line)) + "-----BEGIN PRIVATE KEY-----\n" + body + "-----END PRIVATE KEY-----\n" +
		strings.Repeat(line, 100_000)
	c := secrets.NewFileCleaner(strings.NewReader(text), rulesOf(t))
	clean, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(clean, []byte("h7Kq2pXw9z")) || bytes.Count(clean, []byte("\n")) != strings.Count(text, "\n") {
		t.Errorf("the key is left, or another number of lines: %d cuts", len(c.Cuts))
	}
	var back bytes.Buffer
	patch := redact.Patch{After: int64(len(clean)), RawLen: int64(len(text)), Cuts: c.Cuts}
	if err := redact.Restore(&back, bytes.NewReader(clean), patch); back.String() != text {
		t.Errorf("the cuts do not give the file back: %v", err)
	}
}
