package sync_test

import (
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// TestLackingLane fetches from a remote that has lost an object of one lane, its tip among them: that lane is refused and named, the others
// arrive. What a server has of an encrypted remote are files as in a directory: MEM_TORTURE=full tries those too.
func TestLackingLane(t *testing.T) {
	t.Parallel()
	kinds := []string{"dir", "sealed dir", "http", "ssh", "sealed http", "sealed ssh"}
	for _, kind := range kinds[:layerstest.Tiered(t, 4, 6, 6)] {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a := h.Memory(t, "laptop")
			layerstest.Add(t, a, layerstest.Session(t, "aaaa0001", "/home/dev/shop", 5))
			layerstest.PushAll(t, a)
			before := unpacked(t, h.Dir)
			layerstest.Add(t, a, layerstest.Session(t, "bbbb0002", "/home/dev/desk", 5))
			layerstest.PushAll(t, a)
			var lost []pack.ID
			for id := range unpacked(t, h.Dir) {
				if before[id] == 0 {
					lost = append(lost, id)
				}
			}
			kinds := map[pack.Kind]bool{}
			all := unpacked(t, h.Dir)
			for _, id := range lost {
				if kinds[all[id]] {
					continue // a commit, a tree, a blob
				}
				kinds[all[id]] = true
				lacking(t, h, id)
			}
			if len(kinds) < 3 {
				t.Errorf("only objects of %d kinds were lost", len(kinds))
			}
		})
	}
}

// unpacked returns the objects of a repository that a test has to itself.
func unpacked(t *testing.T, dir string) map[pack.ID]pack.Kind {
	t.Helper()
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	out := map[pack.ID]pack.Kind{}
	layerstest.GitRun(t, dir, "repack", "-adq", "--window=0")
	for id, err := range g.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		kind, _, err := g.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		out[id] = kind
	}
	return out
}

// lacking fetches from a copy of a hub without an object.
func lacking(t *testing.T, h *layerstest.Hub, lost pack.ID) {
	t.Helper()
	b := h.Memory(t, "desk")
	aside := filepath.Join(t.TempDir(), "packs")
	layerstest.GitRun(t, "", "clone", "-q", "--mirror", h.Dir, aside)
	defer layerstest.GitRun(t, h.Dir, "fetch", "-q", "--no-auto-maintenance", "--refetch", aside, "+refs/*:refs/*")
	if err := pack.Drop(filepath.Join(h.Dir, "objects", "pack"), "test", func(id pack.ID) bool { return id != lost }); err != nil {
		t.Fatal(err)
	}
	out, err := sync.Fetch(t.Context(), b.DB, sync.FetchOptions{Remote: layerstest.Origin(t, b)})
	if err != nil {
		t.Errorf("without %s: %v", lost, err)
		return
	}
	status := map[string]int{}
	for _, l := range out.Lanes {
		if status[l.Status]++; l.Status == "refused" && l.Why == "" {
			t.Errorf("without %s: refused, and nobody says why", lost)
		}
	}
	st, err := trust.State(t.Context(), b.DB, lane.ProjectOf("/home/dev/shop"))
	if err != nil || status["refused"] != 1 || status["new"] != 1 {
		t.Errorf("without %s: %v, %d sessions, %v, want one lane refused and one new", lost, status, len(st.Sessions), err)
	}
	layerstest.Roots(t, b)
}
