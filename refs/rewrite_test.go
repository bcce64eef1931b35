package refs

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/objects"
)

// TestLookBesideRewrite looks at a project while its lane begins anew and what it had before is swept: who looks sees
// the one or the other.
func TestLookBesideRewrite(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for range 10 {
		if err := r.Update(t.Context(), testProject, "one", func(tx *Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }); err != nil {
			t.Fatal(err)
		}
	}
	var done atomic.Bool
	var readers sync.WaitGroup
	readers.Go(func() {
		for !done.Load() {
			reader, err := Open(r.dir, testOptions())
			if err != nil {
				t.Error(err)
				return
			}
			err = reader.ViewRetry(t.Context(), testProject, func(tx *Tx) error {
				_, err := tx.Records(t.Context(), nil)
				return err
			})
			reader.Close()
			if err != nil {
				t.Errorf("Look: %v", err)
				return
			}
		}
	})
	for range 20 {
		err := r.Rewrite(t.Context(), testProject, "anew", func(old, tx *Tx) error {
			if _, err := tx.Add("set", map[string]string{"c": "d"}); err != nil {
				return err
			}
			return tx.CopyFrom(old, func(string, objects.Hash) bool { return true })
		})
		if err == nil {
			err = r.Sweep(t.Context())
		}
		if err != nil {
			t.Error(err)
			break
		}
	}
	done.Store(true)
	readers.Wait()
}
