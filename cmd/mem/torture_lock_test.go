package main_test

import (
	"path/filepath"
	"testing"

	"github.com/gofrs/flock"
)

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
