package forget

import (
	"context"
	"fmt"
	"io/fs"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TestStoreError: a version may be dropped because too little input remains, never because the store cannot be read or
// written.
func TestStoreError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{compress.ErrEmpty, false},
		{&compress.SmallError{Budget: 8}, false},
		{&refs.WriteError{Err: fs.ErrPermission}, true},
		{refs.ErrLocked, true},
		{refs.ErrConflict, true},
		{objects.ErrCorrupt, true},
		{objects.ErrNotFound, true},
		{context.Canceled, true},
		{context.DeadlineExceeded, true},
		{&fs.PathError{Op: "read", Path: "pack-1.pack", Err: fs.ErrPermission}, true},
	} {
		err := c.err
		if err != nil {
			err = fmt.Errorf("rebuild: %w", err)
		}
		if got := storeError(err) != nil; got != c.want {
			t.Errorf("storeError(%v) is an error: %v, want %v", err, got, c.want)
		}
	}
}
