package layerstest

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs/lane"
)

// Stays looks for a text in every file of directories, as it is; in every object of the git repositories under them, unpacked; and
// in every stream and patch of stores, decompressed.
func Stays(t testing.TB, text string, stores []*layers.Memory, dirs ...string) (found []string) {
	t.Helper()
	for _, m := range stores {
		lanes, err := forget.AllLanes(m.DB)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lanes {
			v := &forget.Prover{M: m.DB, Needles: [][]byte{[]byte(text)}, Out: forget.Proof{Others: map[string]int{}}}
			if err := v.Lane(context.Background(), l); err != nil {
				t.Fatal(err)
			}
			if len(v.Out.Left)+len(v.Out.Others) > 0 {
				found = append(found, "lane "+l.Ref())
			}
		}
		dirs = append(dirs, m.Refs.Dir())
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && strings.HasSuffix(path, ".git") {
				found = append(found, StaysIn(t, text, path)...)
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(text)) {
				found = append(found, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// StaysIn looks for a text in every object of a repository, those that nothing leads to as well.
func StaysIn(t testing.TB, text, dir string) (found []string) {
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for id, err := range g.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		_, b, err := g.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte(text)) {
			found = append(found, dir+" "+id.String())
		}
	}
	live, err := lane.Reachable(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	for id, err := range g.Packs().All() {
		if _, ok := live[id]; !ok || err != nil {
			found = append(found, dir+" holds "+id.String()+", which nothing leads to")
		}
	}
	return found
}

// ForgetText forgets and proves that the text is gone.
func ForgetText(t testing.TB, m *layers.Memory, o forget.ForgetOptions) forget.Forgotten {
	t.Helper()
	if o.Projects == nil && o.Revs == nil {
		all, err := trust.Projects(context.Background(), m.DB)
		if err != nil {
			t.Fatal(err)
		}
		o.Projects = all
	}
	out, err := forget.Forget(context.Background(), m.DB, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Proof.Left) > 0 {
		t.Errorf("left: %v", out.Proof.Left)
	}
	return out
}

// RevOf resolves a name in any project.
func RevOf(t testing.TB, m *layers.Memory, name string) state.Rev {
	t.Helper()
	all, err := trust.Projects(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	rev, err := revision.Resolve(context.Background(), m.DB, state.Scope{Project: all[0]}, name)
	if err != nil {
		t.Fatal(err)
	}
	return rev
}

// TrustAll trusts every device that the memory knows.
func TrustAll(t testing.TB, m *layers.Memory) {
	t.Helper()
	known, err := trust.Devices(context.Background(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range known {
		if !d.Own && !d.Trusted {
			if err := trust.TrustDevice(context.Background(), m.DB, d, true); err != nil {
				t.Fatal(err)
			}
		}
	}
}
