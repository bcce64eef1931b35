package refs

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// What a killed writer left is gone after the next commit, and after Compact; what a live writer has stays.
func TestStagesAreSwept(t *testing.T) {
	t.Parallel()
	sweeps := map[string]func(r *Repo) error{
		"update": func(r *Repo) error {
			return r.Update(t.Context(), testProject, "nothing", func(*Tx) error { return nil })
		},
		"compact": func(r *Repo) error { _, _, err := r.Compact(t.Context(), false); return err },
		"sweep":   func(r *Repo) error { return r.Sweep(t.Context()) },
	}
	for name, sweep := range sweeps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			live, err := r.Stage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := live.Put([]byte("of one that lives")); err != nil {
				t.Fatal(err)
			}
			dead := filepath.Join(r.dir, MemoryDir, "mem", "stage-0123456789abcdef.lock")
			packs := filepath.Join(r.dir, MemoryDir, "objects", "pack")
			left := []string{dead}
			for _, name := range []string{"pack_stage-0123456789abcdef_1", "idx_stage-0123456789abcdef_2", "pack_stage-without-a-lock_3", "idx_stage-nor-here_4"} {
				left = append(left, filepath.Join(packs, "tmp_"+name))
			}
			mine := filepath.Join(packs, "tmp_pack_of-somebody-else_1")
			if err := os.WriteFile(mine, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			swept(t, left, func() error { return sweep(r) })
			if _, err := os.Lstat(live.lockPath()); err != nil {
				t.Errorf("the lock of a stage that lives: %v", err)
			}
			if _, err := os.Lstat(mine); err != nil {
				t.Errorf("what no stage wrote: %v", err)
			}
			if locks, err := filepath.Glob(filepath.Join(r.dir, MemoryDir, "mem", "stage-*")); err != nil || len(locks) != 1 {
				t.Errorf("locks of stages: %v, %v; want that of the one that lives", locks, err)
			}
			if err := live.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A stage that begins while others sweep has its lock under its name, by which what it leaves can be found when it is
// killed.
func TestStageKeepsItsLock(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var done atomic.Bool
	var sweepers sync.WaitGroup
	for range 4 {
		sweepers.Go(func() {
			for !done.Load() {
				if err := r.sweepStages(MemoryDir); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	stages := 3000
	if testing.Short() {
		stages = 300
	}
	for range stages {
		s, err := r.Stage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put([]byte("content")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(s.lockPath()); err != nil {
			t.Errorf("while the stage lives: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	done.Store(true)
	sweepers.Wait()
}
