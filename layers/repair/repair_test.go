package repair_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// TestRepairFromDamagedRemote repairs lanes of two projects from a server that lacks an object of one of them. The
// other lane is restored.
func TestRepairFromDamagedRemote(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"http", "ssh"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			m := h.Memory(t, "laptop")
			shop := layerstest.Add(t, m, layerstest.Session(t, "s1", "/home/dev/shop", 10))[0].Project.ID
			blog := layerstest.Add(t, m, layerstest.Session(t, "s2", "/home/dev/blog", 10))[0].Project.ID
			layerstest.PushAll(t, m)
			device := m.Refs.Device().ID
			lost := map[pack.ID]bool{}
			for _, p := range []refs.Project{shop, blog} {
				lost[recordsOf(t, m, lane.Ref(p, device))] = true
			}
			gone := recordsOf(t, m, lane.Ref(shop, device)).String()
			layerstest.GitRun(t, h.Dir, "repack", "-adq")
			packs, err := filepath.Glob(filepath.Join(h.Dir, "objects", "pack", "*.pack"))
			if err != nil || len(packs) != 1 {
				t.Fatal(packs, err)
			}
			unpackInto(t, h.Dir, packs[0])
			if err := os.Remove(filepath.Join(h.Dir, "objects", gone[:2], gone[2:])); err != nil {
				t.Fatal(err)
			}
			dir, o := m.Refs.Dir(), layerstest.TestOptions()
			o.World = h.World()
			if err := pack.Drop(m.Refs.Git().PackDir(), "merge", func(id pack.ID) bool { return !lost[id] }); err != nil {
				t.Fatal(err)
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			out, err := repair.Repair(t.Context(), dir, o, repair.RepairOptions{})
			if err != nil {
				t.Fatal(err)
			}
			again, err := refs.Open(dir, o.Refs())
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			for id := range lost {
				if ok, err := again.Git().Has(id); err != nil || ok == (id.String() == gone) {
					t.Errorf("Has(%s) = %v, %v; fixes %v", id, ok, err, out.Fixes)
				}
			}
		})
	}
}

// recordsOf returns the id of the directory "records" of a branch.
func recordsOf(t *testing.T, m *layers.Memory, ref string) pack.ID {
	t.Helper()
	return entryOf(t, m, ref, "records").Dir.ID
}

// entryOf returns the entry at a path of a lane.
func entryOf(t *testing.T, m *layers.Memory, ref string, path ...string) lane.DirEntry {
	t.Helper()
	tip, err := m.Refs.Git().Ref(ref)
	if err != nil {
		t.Fatal(err)
	}
	l, err := lane.At(m.Refs.Git(), tip, m.Refs.Device().ID)
	if err != nil {
		t.Fatal(err)
	}
	e, ok, err := l.Find(path...)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return e
}

// unpackInto turns a pack of a repository into loose objects.
func unpackInto(t *testing.T, dir, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".pack", ".idx"} {
		if err := os.Remove(file[:len(file)-len(".pack")] + ext); err != nil {
			t.Fatal(err)
		}
	}
	layerstest.Git(t, dir, b, "unpack-objects", "-q")
}
