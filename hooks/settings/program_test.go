package settings_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

// TestShellGuard runs the command of a hook with programs that end in every way: a session never sees 2, and nothing is said of a
// program that is gone.
func TestShellGuard(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no sh on Windows")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "mem it's")
	argv := func(p settings.Program) *exec.Cmd {
		command, args := p.Argv(settings.Stop)
		return exec.Command(command, args...)
	}
	for status, want := range map[int]int{0: 0, 1: 1, 2: 1, 3: 3, 127: 0, 128: 128} {
		script := fmt.Sprintf("#!/bin/sh\ntest \"$GOMEMLIMIT$1$2$3$4\" = 'hookstop--mem-dir/a b' || exit 9\nexit %d\n", status)
		if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		cmd := argv(settings.Program{Path: path, Store: "/a b"})
		cmd.Env = append(os.Environ(), "GOMEMLIMIT=lots")
		out, _ := cmd.CombinedOutput() // its status is looked at below
		if got := cmd.ProcessState.ExitCode(); got != want || len(out) > 0 {
			t.Errorf("a program that exits with %d: %d %q, want %d", status, got, out, want)
		}
	}
	for _, gone := range []string{filepath.Join(dir, "mem"), "mem-that-is-nowhere"} {
		if out, err := argv(settings.Program{Path: gone}).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("without %s: %v %q", gone, err, out)
		}
	}
}
