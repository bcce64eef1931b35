package repair

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/refstest"
)

// TestLossCommits loses an object of each commit: each loss names the commit that added the object.
func TestLossCommits(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	want := map[pack.ID]string{}
	for i := range 60 {
		content, message := fmt.Sprint("object ", i), fmt.Sprint("commit ", i)
		err := r.Update(t.Context(), refstest.Project, message, func(tx *refs.Tx) error {
			_, err := tx.Put(t.Context(), strings.NewReader(content))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want[pack.Name(pack.Blob, []byte(content))] = message
	}
	if err := pack.Drop(r.Git().PackDir(), "merge", func(id pack.ID) bool { return want[id] == "" }); err != nil {
		t.Fatal(err)
	}
	if err := r.Git().Close(); err != nil {
		t.Fatal(err)
	}
	_, lost, err := FixRepositories(t.Context(), r, false, nil)
	if err != nil || len(lost) != len(want) {
		t.Fatalf("%d losses, %v, want %d", len(lost), err, len(want))
	}
	for _, l := range lost {
		if l.Commit != want[l.ID] || l.Old {
			t.Errorf("%s: commit %q, want %q", strings.Join(l.Path, "/"), l.Commit, want[l.ID])
		}
	}
}
