package main_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

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

// inPath returns the mem that the scripts run: this program, which need not be built once more.
func inPath(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("mem")
	if err != nil {
		t.Fatal(err)
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

// newProof returns a rig below a home of the test.
func newProof(t *testing.T, bin string) *Rig {
	t.Helper()
	start := time.Now()
	return &Rig{
		Bin: bin, Dir: homeOf(t), Path: os.Getenv("PATH"), Now: time.Now, Seed: seed(t), Note: t.Logf,
		Uptime: func() time.Duration { return time.Since(start) },
	}
}

// proved logs the checks of a proof.
func proved(t *testing.T, all []Promise, err error) {
	t.Helper()
	var why *Skipped
	switch {
	case errors.As(err, &why):
		t.Skip("SKIPPED: " + why.Why)
	case err != nil:
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Why != "" {
			t.Errorf("%s: %s", p.What, p.Why)
		}
		t.Logf("%s: %d %s", p.What, p.Times, p.Of)
	}
}

func tortureKill(t *testing.T, bin string) {
	all, err := newProof(t, bin).Kills(t.Context(), amount(t, 24, 450, 10_000))
	proved(t, all, err)
}

func tortureWriters(t *testing.T, bin string) {
	all, err := newProof(t, bin).Writers(t.Context(), 16, amount(t, 9, 90, 10_000))
	proved(t, all, err)
}

func tortureStorm(t *testing.T, bin string) {
	all, err := newProof(t, bin).Storm(t.Context(), amount(t, 40, 1000, 1000))
	proved(t, all, err)
}

func torturePowerCut(t *testing.T, bin string) {
	all, err := newProof(t, bin).PowerCuts(t.Context(), amount(t, 4, 40, 2000))
	proved(t, all, err)
}

// A Rig tries to break a memory on a real disk: it runs the program as a user does, kills commands with SIGKILL, runs
// many at once and cuts the power of a disk. It records the requested and the acknowledged data, where exit code 0 is
// the acknowledgement, and compares the content of the store with both:
//
//   - acknowledged data exists, byte for byte
//   - existing data was requested
//   - "mem fsck" is clean, and nothing is ever repaired
//   - the next command works
//
// The programs that it starts use a home, a memory and settings below its directory, never those of the user. It is
// safe for concurrent use.
type Rig struct {
	Bin    string               // the program
	Dir    string               // an empty directory on the disk under test
	Path   string               // where the program checks for others
	Now    func() time.Time     // the clock of memories opened in this process
	Uptime func() time.Duration // a monotonic clock
	Seed   uint64               // of every random choice
	Note   func(format string, args ...any)
}

// A Broken error reports a promise that did not hold.
type Broken struct{ What string }

func (b *Broken) Error() string { return b.What }

func brokenf(format string, args ...any) error { return &Broken{fmt.Sprintf(format, args...)} }

// A Skipped error reports why a proof cannot run on this machine.
type Skipped struct{ Why string }

func (s *Skipped) Error() string { return s.Why }

func skipped(format string, args ...any) error { return &Skipped{fmt.Sprintf(format, args...)} }

// A Promise is the result of one property: the number of checks, and the error if it did not hold.
type Promise struct {
	What  string
	Times int
	Of    string // what was counted
	Why   string // the violation, "" for none
}

// dir creates a directory below that of the rig.
func (r *Rig) dir(name string) (string, error) {
	dir := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

func (r *Rig) note(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}

// RemoveAll removes a directory, with retries because background programs may still write to it.
func RemoveAll(dir string) error {
	var err error
	for range 300 {
		if err = os.RemoveAll(dir); err == nil {
			time.Sleep(20 * time.Millisecond)
			if _, gone := os.Lstat(dir); errors.Is(gone, os.ErrNotExist) {
				return nil
			}
		}
		time.Sleep(80 * time.Millisecond)
	}
	return cmp.Or(err, fmt.Errorf("remove %s: a program still writes to it", dir))
}

// parallel calls work for 0 to n-1, at most limit at a time. The first error stops the others.
func parallel(ctx context.Context, n, limit int, work func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	slots := make(chan struct{}, limit)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if ctx.Err() != nil {
				return
			}
			if err := work(ctx, i); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return ctx.Err()
}

// random is a deterministic random generator for the choices of a proof.
type random uint64

// next is SplitMix64.
func (d *random) next() uint64 {
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// IntN returns a number from 0 to n-1.
func (d *random) IntN(n int) int { return int(d.next() >> 1 % uint64(n)) }

// chance returns true with the probability 1/n.
func (d *random) chance(n int) bool { return d.IntN(n) == 0 }

// locked holds the locks of all lanes while a command waits for one.
func (r *rig) locked(file string) {
	r.t.Helper()
	c := r.clone(r.t.(*testing.T).TempDir())
	locks, err := filepath.Glob(filepath.Join(c.Dir, "*.git", "mem", "*.lock"))
	if err != nil || len(locks) == 0 {
		r.t.Fatalf("no locks: %v", err)
	}
	for _, name := range locks {
		l := flock.New(name)
		if ok, err := l.TryLock(); err != nil || !ok {
			r.t.Fatalf("lock %s: %v %v", name, ok, err)
		}
		defer l.Close()
	}
	for _, args := range [][]string{{"ls", "--all-projects"}, {"log", "--all-projects"}, {"fsck"}} {
		if res := c.mem(args...); res.Code != 0 {
			r.t.Errorf("reading beside a lock: %s", res)
		}
	}
	c.refuses(refusal{"locked", []string{"add", file, "--lock-timeout", "300ms"}, 11, `lock`})
}
