package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/refstest"
)

// TestDamagedPackedRefs repairs a packed-refs with damaged lines, while other programs hold the locks of all branches: the
// branches of its valid lines stay where they are, and no moment of the repair needs them to be written one by one.
func TestDamagedPackedRefs(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	refstest.Populate(t, r)
	g := r.Git()
	want, err := g.Refs("refs/heads/")
	if err != nil || len(want) == 0 {
		t.Fatal(want, err)
	}
	valid := "# pack-refs with: peeled fully-peeled sorted \n"
	for _, ref := range want {
		valid += fmt.Sprintf("%s %s\n", ref.ID, ref.Name)
		file := filepath.Join(g.Dir(), filepath.FromSlash(ref.Name))
		if err := errors.Join(os.Remove(file), os.WriteFile(file+".lock", nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	tag := fmt.Sprintf("%s refs/tags/v1\n^%s\n", want[0].ID, want[0].ID)
	damaged := valid + tag + "zz refs/tags/v2\n^" + pack.ID{1}.String() + "\n" + want[0].ID.String()[:20]
	packed := filepath.Join(g.Dir(), "packed-refs")
	if err := os.WriteFile(packed, []byte(damaged), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nothing waits for a lock
	x := &repair{fixer: fixer{store: r.Dir()}, r: r, Part: r.Parts()[0], ctx: ctx}
	if err := x.branches(g); err != nil {
		t.Errorf("branches: %v", err)
	}
	for _, ref := range want {
		if id, err := g.Ref(ref.Name); err != nil || id != ref.ID {
			t.Errorf("Ref(%s) = %s, %v, want %s", ref.Name, id, err, ref.ID)
		}
	}
	if got, err := os.ReadFile(packed); err != nil || string(got) != valid+tag {
		t.Errorf("packed-refs is %q, %v, want %q", got, err, valid+tag)
	}
	for _, fix := range x.fixes {
		if got, err := os.ReadFile(filepath.Join(r.Dir(), fix.Kept)); err != nil || string(got) != damaged {
			t.Errorf("%v: kept %q, %v, want %q", fix, got, err, damaged)
		}
	}
	if len(x.fixes) != 2 {
		t.Errorf("%d fixes, want 2, of the damaged lines: %v", len(x.fixes), x.fixes)
	}
}
