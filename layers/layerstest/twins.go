package layerstest

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// Secretive is a session with a secret in every place that something is derived from: the title, a marker, a path, a
// number, an overflow file.
func Secretive(secret string) (transcript, overflow string) {
	var b strings.Builder
	fmt.Fprintf(&b, `{"type":"user","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/dev/shop","gitBranch":"fix-%s","sessionId":"s1","message":{"role":"user","content":"use %s ##keepit1.00## never lose %s"}}`+"\n", secret, secret, secret)
	for i := range 40 {
		b.WriteString(UserLine(i+2, fmt.Sprintf("step %d\nTOKEN=%s\nand on", i, secret)))
	}
	fmt.Fprintf(&b, `{"type":"summary","summary":"About %s","leafUuid":"u41"}`+"\n", secret)
	return b.String(), "output\nwith " + secret + "\n"
}

// NoBytes looks for secret in every object of a repository, with git, and in the streams.
func NoBytes(t *testing.T, git, secret string) {
	t.Helper()
	out, err := exec.Command("git", "-C", git, "cat-file", "--batch-all-objects", "--batch").Output()
	if err != nil {
		t.Skipf("SKIPPED: no git: %v", err)
	}
	if len(out) == 0 || bytes.Contains(out, []byte(secret)) || bytes.Contains(out, []byte(secret[8:])) {
		t.Errorf("the secret is in %s", git)
	}
}
