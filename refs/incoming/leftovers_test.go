package incoming

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/refstest"
)

// TestCompactBesideFetch compacts while a fetch is under way: nothing of that goes.
func TestCompactBesideFetch(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	q, err := Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(r.Git().PackDir(), "tmp_pack_fetch_1")
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := r.Compact(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{mine, filepath.Join(q.dir, "HEAD")} {
		if _, err := os.Lstat(f); err != nil {
			t.Errorf("of a fetch that lives: %v", err)
		}
	}
	if err := q.Close(); err != nil {
		t.Error(err)
	}
}

// TestFetchOverSuperseded fetches a pack that was here, was merged, and of whose removal a kill left the mark alone: it is there, and stays.
func TestFetchOverSuperseded(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	q, err := Begin(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	w, err := q.Writer()
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Blob, []byte("what came"), 1)
	if err := errors.Join(w.Add(e), q.Finish(w)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(q.git.PackDir(), "*.pack"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	mark := strings.TrimSuffix(filepath.Base(names[0]), ".pack") + ".superseded"
	if err := os.WriteFile(filepath.Join(r.Git().PackDir(), mark), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := q.adoptPacks(map[pack.ID]struct{}{e.ID: {}}); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Git().Has(e.ID); !ok || err != nil {
		t.Errorf("Has = %v, %v", ok, err)
	}
	if err := pack.Expire(r.Git().PackDir(), 0); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Git().Has(e.ID); !ok || err != nil {
		t.Errorf("after Expire Has = %v, %v", ok, err)
	}
}
