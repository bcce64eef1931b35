package hookcmd

import (
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
)

// TestWorkerCollects runs the worker: what it does after the captures, which may be long, runs with garbage collection.
func TestWorkerCollects(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "memory", "spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	percent, limit := debug.SetGCPercent(100), debug.SetMemoryLimit(-1)
	defer func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}()
	e := app.OsEnv()
	e.Stdin, e.Stdout, e.Stderr, e.Dir, e.NoTimeLimit = strings.NewReader(""), io.Discard, io.Discard, dir, true
	env := map[string]string{"HOME": dir, "USERPROFILE": dir, "MEM_DIR": filepath.Join(dir, "memory")}
	e.Getenv = func(name string) string { return env[name] }
	RunHook(&e, hooks.Work)
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("GC percent %d, want 100", got)
	}
	if got := debug.SetMemoryLimit(-1); got <= hookMemory || got == math.MaxInt64 {
		t.Errorf("memory limit %d, want that of a command", got)
	}
}
