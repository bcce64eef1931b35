package gitstore

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

// TestRemove deletes a branch that is loose, packed, or both, next to one that stays.
func TestRemove(t *testing.T) {
	t.Parallel()
	const ref, other = "refs/heads/p/gone", "refs/heads/p/stays"
	a, b := pack.Name(pack.Blob, []byte("a")), pack.Name(pack.Blob, []byte("b"))
	packed := "# pack-refs with: peeled fully-peeled sorted \n" + a.String() + " " + ref + "\n^" + b.String() + "\n" + a.String() + " " + other + "\n"
	for name, c := range map[string]struct{ loose, packed bool }{
		"loose": {true, false}, "packed": {false, true}, "both": {true, true}, "neither": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "r.git")
			if err := Init(dir); err != nil {
				t.Fatal(err)
			}
			r, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if c.packed {
				if err := os.WriteFile(filepath.Join(dir, packedFile), []byte(packed), 0o600); err != nil {
					t.Fatal(err)
				}
			} else if err := r.Update(t.Context(), other, pack.ID{}, a); err != nil {
				t.Fatal(err)
			}
			if c.loose {
				old, err := r.Ref(ref)
				if err == nil {
					err = r.Update(t.Context(), ref, old, b)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Remove(t.Context(), ref); err != nil {
				t.Fatal(err)
			}
			if id, err := r.Ref(ref); err != nil || !id.IsZero() {
				t.Errorf("Ref(%s) = %v, %v", ref, id, err)
			}
			if id, err := r.Ref(other); err != nil || id != a {
				t.Errorf("Ref(%s) = %v, %v", other, id, err)
			}
			if known, err := r.IsRegistered(ref); err != nil || known {
				t.Errorf("Knows(%s) = %v, %v", ref, known, err)
			}
			left, err := filepath.Glob(filepath.Join(dir, "refs", "heads", "p", "*.lock"))
			if more, _ := os.ReadDir(filepath.Join(dir, tempDir)); err != nil || len(left) > 0 || strings.Contains(entries(more), "gone") {
				t.Errorf("left: %q, %s, %v", left, entries(more), err)
			}
			if err := r.Update(t.Context(), ref, pack.ID{}, a); err != nil {
				t.Errorf("Update after Remove: %v", err)
			}
		})
	}
}

// TestRemoveWaits finds packed-refs locked by git, and changes nothing.
func TestRemoveWaits(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "r.git")
	if err := Init(dir); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	const ref = "refs/heads/p/x"
	a := pack.Name(pack.Blob, []byte("a"))
	for name, content := range map[string]string{packedFile: a.String() + " " + ref + "\n", packedFile + ".lock": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Remove(t.Context(), ref); !errors.Is(err, ErrLocked) {
		t.Errorf("Remove = %v, want %v", err, ErrLocked)
	}
	if id, err := r.Ref(ref); err != nil || id != a {
		t.Errorf("Ref = %v, %v", id, err)
	}
}

func entries(all []os.DirEntry) string {
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}
