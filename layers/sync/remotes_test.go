package sync_test

import (
	"context"
	"fmt"
	mrand "math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// objectsOf returns all objects of the lanes of a project.
func objectsOf(t *testing.T, m *layers.Memory, p refs.Project) map[pack.ID]struct{} {
	t.Helper()
	ctx := context.Background()
	seen := map[pack.ID]struct{}{}
	lanes, err := m.Refs.Lanes()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lanes {
		if l.Project != p {
			continue
		}
		commits, _, err := lane.CommitsSince(ctx, m.Refs.Git(), l.Tip, pack.ID{}, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range lane.Additions(ctx, m.Refs.Git(), commits, seen) {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return seen
}

// TestIsolation pushes random choices of projects, which grow in between, to random remotes. No remote ever holds an object that is
// not of a project that was pushed to it, nor a branch of another one: 250 remotes in the commit tier, 10,000 in the full one.
func TestIsolation(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	stores, configs := layerstest.Tiered(t, 3, 10, 400), 25
	t.Logf("%d remotes, each with random projects of a store that grows", stores*configs)
	from := layerstest.FirstSeed(t)
	for i := range stores {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			isolation(t, mrand.New(mrand.NewPCG(from+uint64(i), 11)), configs)
		})
	}
}

func isolation(t *testing.T, rng *mrand.Rand, configs int) {
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	sizes := map[string]int{}
	grow := func() {
		project := rng.IntN(4)
		id := fmt.Sprintf("s%d-%d", project, rng.IntN(3))
		sizes[id] += 1 + rng.IntN(4)
		p := layerstest.Add(t, m, layerstest.Session(t, id, fmt.Sprintf("/home/dev/p%d", project), sizes[id]))[0].Project.ID
		if rng.IntN(12) == 0 {
			compressSession(t, m, p, id)
		}
	}
	for range 8 {
		grow()
	}
	dir := t.TempDir()
	for i := range configs {
		name := fmt.Sprintf("r%d", i)
		path := filepath.Join(dir, name)
		if err := gitstore.Init(path); err != nil {
			t.Fatal(err)
		}
		u, _, err := remote.ParseURL(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sync.AddRemote(ctx, m.DB, name, u); err != nil {
			t.Fatal(err)
		}
		allowed := map[refs.Project]bool{}
		for range 1 + rng.IntN(3) {
			all, err := trust.Projects(ctx, m.DB)
			if err != nil {
				t.Fatal(err)
			}
			chosen := slices.DeleteFunc(all, func(state.Project) bool { return rng.IntN(2) == 0 })
			r, err := sync.Remote(m.DB, name)
			if err != nil {
				t.Fatal(err)
			}
			out, err := sync.Push(ctx, m.DB, sync.PushOptions{Remote: r, Projects: chosen, Consent: func(p state.Project, _ refs.Remote) (bool, error) {
				ok := rng.IntN(4) > 0
				allowed[p.ID] = allowed[p.ID] || ok
				return ok, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range out.Lanes {
				if l.Status != "declined" && !allowed[l.Project.ID] {
					t.Fatalf("project %s was %s without consent", l.Project.Name, l.Status)
				}
			}
			grow()
		}
		holdsOnly(t, m, path, allowed)
	}
}

// holdsOnly fails if a repository holds what is of no allowed project.
func holdsOnly(t *testing.T, m *layers.Memory, path string, allowed map[refs.Project]bool) {
	t.Helper()
	g, err := gitstore.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	may := map[pack.ID]struct{}{}
	for p, ok := range allowed {
		if ok {
			for id := range objectsOf(t, m, p) {
				may[id] = struct{}{}
			}
		}
	}
	for id, err := range g.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := may[id]; !ok {
			t.Fatalf("%s holds %s, which is of none of %v", path, id, allowed)
		}
	}
	branches, err := g.Refs("refs/heads/")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range branches {
		if l, ok := lane.ParseRef(b.Name); !ok || !allowed[l.Project] {
			t.Fatalf("%s has the branch %s", path, b.Name)
		}
	}
}
