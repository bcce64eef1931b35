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
	f, err := os.Create(filepath.Join(t.TempDir(), "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := Allocate(f, size); err != nil {
		t.Fatal(err)
	}
	fi, err := f.Stat()
	if err != nil || fi.Size() != size {
		t.Fatalf("the file has %d bytes, want %d: %v", fi.Size(), size, err)
	}
	if blocks := fi.Sys().(*syscall.Stat_t).Blocks * 512; blocks < size {
		t.Errorf("only %d of %d bytes are allocated", blocks, size)
	}
}
