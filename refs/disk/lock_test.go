package disk

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// Who waited too long for a lock does not get it later.
func TestLockThatComesTooLate(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.lock")
	unlock, err := Lock(t.Context(), file, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := Lock(t.Context(), file, time.Millisecond); !errors.Is(err, ErrLocked) {
			t.Fatalf("%v, want ErrLocked", err)
		}
	}
	unlock()
	for range 100 {
		if unlock, err = Lock(t.Context(), file, time.Minute); err != nil {
			t.Fatal(err)
		}
		unlock()
		time.Sleep(time.Millisecond) // the others try it in between
	}
}
