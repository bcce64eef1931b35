package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func reserveOf(t *testing.T, r *Repo, want int64) {
	t.Helper()
	if n, err := r.Reserve(); err != nil || n != want {
		t.Errorf("Reserve() = %d, %v, want %d", n, err, want)
	}
}

// TestFreeing runs something that meets a full disk: it runs again with the room of the reserve, which is there again
// afterwards.
func TestFreeing(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	reserveOf(t, r, ReserveSize)
	full := fmt.Errorf("write pack: %w", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC})

	runs := 0
	err := r.WithReserve(func() error {
		if runs++; runs == 1 {
			reserveOf(t, r, ReserveSize)
			return full
		}
		reserveOf(t, r, 0)
		return nil
	})
	if err != nil || runs != 2 {
		t.Errorf("Freeing ran it %d times: %v, want 2 and no error", runs, err)
	}
	reserveOf(t, r, ReserveSize)

	runs = 0
	if err := r.WithReserve(func() error { runs++; return full }); !errors.Is(err, syscall.ENOSPC) || runs != 2 {
		t.Errorf("Freeing of what stays full ran it %d times: %v, want 2 and ENOSPC", runs, err)
	}
	reserveOf(t, r, ReserveSize)

	runs = 0
	if err := r.WithReserve(func() error { runs++; return os.ErrPermission }); !errors.Is(err, os.ErrPermission) || runs != 1 {
		t.Errorf("Freeing of another error ran it %d times: %v, want 1 and that error", runs, err)
	}
	if err := os.Remove(r.reservePath()); err != nil {
		t.Fatal(err)
	}
	runs = 0
	if err := r.WithReserve(func() error { runs++; return full }); !errors.Is(err, syscall.ENOSPC) || runs != 1 {
		t.Errorf("Freeing without a reserve ran it %d times: %v, want 1 and ENOSPC", runs, err)
	}
	if _, _, err := r.Compact(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	reserveOf(t, r, 0)
	if _, _, err := r.Compact(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	reserveOf(t, r, ReserveSize)
}

// TestReserveIsAFile finds something else where the reserve should be: it is neither followed nor removed.
func TestReserveIsAFile(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	other := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(os.WriteFile(other, []byte("x"), 0o600), os.Remove(r.reservePath()), os.Symlink(other, r.reservePath())); err != nil {
		t.Fatal(err)
	}
	if err := r.KeepReserve(); err == nil {
		t.Error("KeepReserve follows a link")
	}
	if err := r.WithReserve(func() error { return syscall.ENOSPC }); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Freeing: %v, want ENOSPC", err)
	}
	if b, err := os.ReadFile(r.reservePath()); err != nil || string(b) != "x" {
		t.Errorf("the link leads to %q, %v", b, err)
	}
}
