package term_test

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// TestShellQuotes lets a shell print words that want to be more than words.
func TestShellQuotes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no sh on Windows")
	}
	dir := t.TempDir()
	for _, w := range []string{"", "a b", "a;touch x", "$(touch x)", "`touch x`", "a\ntouch x", "it's", "'; touch x; '", "~root", "#x", "!x", "a&b", "*", "\\", "\"", "ü한", "x=1"} {
		cmd := exec.Command("sh", "-c", term.Shell("printf", "%s", w))
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != w {
			t.Errorf("%q became %q, %v, by %s", w, out, err, term.Shell("printf", "%s", w))
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a word was run: %v, %v", left, err)
	}
}
