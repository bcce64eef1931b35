package repair

import (
	"context"
	"sync"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/refstest"
)

// A meanwhile is a context in which something happens when it is first asked whether it is over.
type meanwhile struct {
	context.Context
	happens func()
}

func (m meanwhile) Err() error { m.happens(); return m.Context.Err() }

// TestCheckBesideRewrite checks a store while a lane begins anew and what it had before is swept: that is no damage.
func TestCheckBesideRewrite(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	for range 10 {
		if err := r.Update(t.Context(), refstest.Project, "one", func(tx *refs.Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }); err != nil {
			t.Fatal(err)
		}
	}
	reader, err := refs.Open(r.Dir(), refstest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	var once sync.Once
	ctx := meanwhile{t.Context(), func() {
		once.Do(func() {
			err := r.Rewrite(t.Context(), refstest.Project, "anew", func(old, tx *refs.Tx) error {
				return tx.CopyFrom(old, func(string, objects.Hash) bool { return true })
			})
			if err == nil {
				err = r.Sweep(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}}
	n, err := Check(ctx, reader, true, func(p Problem) { t.Error(p) })
	if err != nil || n.Lanes != 3 || n.Records != 12 {
		t.Errorf("Check = %+v, %v, want 3 lanes and 12 records", n, err)
	}
}
