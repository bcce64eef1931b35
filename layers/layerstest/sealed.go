package layerstest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Git runs git in a repository and returns what it prints, without the line end.
func Git(t testing.TB, dir string, in []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=mem", "GIT_AUTHOR_EMAIL=mem@mem.invalid", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=mem", "GIT_COMMITTER_EMAIL=mem@mem.invalid", "GIT_COMMITTER_DATE=@0 +0000")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSuffix(string(out), "\n")
}
