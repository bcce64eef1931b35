package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServeYields looks at the priority of the threads of "mem serve": all of them come after hooks.
func TestServeYields(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "mem", args...)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir, "MEM_DIR=" + filepath.Join(dir, "memory"), "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	if out, err := command("init").CombinedOutput(); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	cmd := command("serve")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }() // it is killed with the context
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", cmd.Process.Pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("%d threads, %v", len(threads), err)
	}
	for _, name := range threads {
		b, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		_, rest, _ := strings.Cut(string(b), ") ")
		if f := strings.Fields(rest); len(f) < 17 || f[16] != "10" {
			t.Errorf("%s: the niceness is %v, want 10", name, f[16])
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
}
