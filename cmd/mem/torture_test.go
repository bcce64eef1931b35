package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// TestTorture runs the real binary as processes do run it, and lets them be killed, collide, and
// meet failing system calls, full disks and bad input. After each fault it holds: what a command has
// acknowledged by its exit status is there byte for byte; what is there was asked for; "mem fsck" is
// clean without any repair; the next command works; nothing half-written is visible.
//
// MEM_TORTURE says how much: "" a taste of everything in some seconds, "commit" what every change must
// survive, "full" all of it. MEM_TORTURE_BIN names a binary to run instead of a new build.
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
		run  func(*testing.T, *rig)
	}{
		{"Kill", tortureKill},
		{"Writers", tortureWriters},
		{"Faults", tortureFaults},
		{"FullDisk", tortureFullDisk},
		{"BadInput", tortureBadInput},
		{"BadStore", tortureBadStore},
		{"Splits", tortureSplits},
		{"Hooks", tortureHooks},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t, newRig(t, bin, t.TempDir()))
		})
	}
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
	switch tier := os.Getenv("MEM_TORTURE"); tier {
	case "":
		return taste
	case "commit":
		return commit
	case "full":
		return full
	default:
		t.Fatalf("MEM_TORTURE=%q, want nothing, commit or full", tier)
		return 0
	}
}
