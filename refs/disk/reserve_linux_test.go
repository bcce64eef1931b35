package disk

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestAllocate allocates the blocks of a file, not only its size: a store writes its reserve so that a full disk can
// still be tidied up.
func TestAllocate(t *testing.T) {
	t.Parallel()
	const size = 200_000
	for name, allocate := range map[string]func(*os.File, int64) error{"Allocate": Allocate, "writeZeros": writeZeros} {
		f, err := os.Create(filepath.Join(t.TempDir(), "a"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := allocate(f, size); err != nil {
			t.Fatal(err)
		}
		fi, err := f.Stat()
		if err != nil || fi.Size() != size {
			t.Fatalf("%s: the file has %d bytes, want %d: %v", name, fi.Size(), size, err)
		}
		if blocks := fi.Sys().(*syscall.Stat_t).Blocks * 512; blocks < size {
			t.Errorf("%s: only %d of %d bytes are allocated", name, blocks, size)
		}
	}
}
