package main_test

import (
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/memvcs/mem/layers/layerstest"
)

// TestTorture runs the real binary as processes do run it, and lets them be killed, collide, and
// meet failing system calls, full disks and bad input. After each fault it holds: what a command has
// acknowledged by its exit status is there byte for byte; existing data was requested; "mem fsck" is
// clean without any repair; the next command works; nothing half-written is visible.
//
// MEM_TORTURE is the tier: "" a little of everything, "commit" for every change, "full" for a
// night. MEM_TORTURE_SEED changes the random choices. MEM_TORTURE_BIN names a binary to run instead of a new build.
func TestTorture(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: written for systems with signals")
	}
	bin := os.Getenv("MEM_TORTURE_BIN")
	if bin == "" {
		bin = build(t, ".", "mem")
	}
	for _, tt := range []struct {
		name string
		run  func(*testing.T, string)
	}{
		{"Kill", tortureKill}, // the longest first
		{"Faults", tortureFaults},
		{"ForgetPush", tortureForgetPush},
		{"PowerCut", torturePowerCut},
		{"Writers", tortureWriters},
		{"Storm", tortureStorm},
		{"Liar", tortureLiar},
		{"Large", onRig(tortureLarge)},
		{"Typed", onRig(tortureTyped)},
		{"Long", onRig(tortureLong)},
		{"Splits", onRig(tortureSplits)},
		{"FullDisk", onRig(tortureFullDisk)},
		{"Hooks", onRig(tortureHooks)},
		{"Repair", onRig(tortureRepair)},
		{"BadInput", onRig(tortureBadInput)},
		{"BadStore", onRig(tortureBadStore)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, bin)
		})
	}
}

// onRig gives a test an empty store.
func onRig(run func(*testing.T, *rig)) func(*testing.T, string) {
	return func(t *testing.T, bin string) { run(t, newRig(t, bin, homeOf(t))) }
}

// build builds the program in dir, which is relative to this package.
func build(t *testing.T, dir, name string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	cmd := exec.Command("go", "build", "-o", bin, "./"+dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return bin
}

// amount returns how often to do something in the tier that MEM_TORTURE names.
func amount(t *testing.T, taste, commit, full int) int {
	t.Helper()
	return layerstest.Tiered(t, taste, commit, full)
}

// calls returns which of n system calls meet a fault: about taste or commit of them, all in the full tier.
// MEM_TORTURE_SEED moves the sample.
func calls(t *testing.T, n, taste, commit int) iter.Seq[int] {
	t.Helper()
	step := amount(t, max(1, n/taste), max(1, n/commit), 1)
	first := 1 + int(seed(t)%uint64(step))
	return func(yield func(int) bool) {
		for at := first; at <= n && yield(at); at += step {
		}
	}
}

// seed returns the number that all choices follow from.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := os.Getenv("MEM_TORTURE_SEED")
	if s == "" {
		return 1
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatalf("MEM_TORTURE_SEED=%q: %v", s, err)
	}
	return n
}
