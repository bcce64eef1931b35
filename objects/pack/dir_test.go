package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestLookBesideWriters looks for what is not there while packs are added all the time, faster than a directory is listed.
func TestLookBesideWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w, err := Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	there := Encode(Blob, []byte("what is there"), 1)
	if err := w.Add(there); err != nil {
		t.Fatal(err)
	}
	name, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	var adding sync.WaitGroup
	done := make(chan struct{})
	adding.Go(func() {
		defer close(done)
		for i := range 3000 {
			base := filepath.Join(dir, fmt.Sprintf("pack-%040x", i))
			err := os.Link(filepath.Join(dir, name+".idx"), base+".idx")
			if err = errors.Join(err, os.Link(filepath.Join(dir, name+".pack"), base+".pack")); err != nil {
				t.Error(err)
				return
			}
		}
	})
	d := OpenDir(dir)
	defer d.Close()
	missing := Name(Blob, []byte("what is not"))
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		for id, want := range map[ID]bool{missing: false, there.ID: true} {
			if ok, err := d.Has(id); ok != want || err != nil {
				t.Errorf("Has(%s) = %v, %v, want %v", id, ok, err, want)
				looking = false
			}
		}
	}
	adding.Wait()
}
