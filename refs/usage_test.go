package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/stream"
)

// TestUsage adds objects and a stream in several commits. What is visited is each object of the packs, once, under the
// kind and the name that it has in its lane.
func TestUsage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRepo(t)
	name, sizes := stream.Name("aaaa1111", 0), map[objects.Hash]int{}
	for i := range 5 {
		err := r.Update(ctx, testProject, fmt.Sprintf("put %d", i), func(tx *Tx) error {
			h, err := tx.Put(ctx, bytes.NewReader(fmt.Appendf(nil, "object %d", i)))
			sizes[h] = 0
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := grow(t, r, name, &stream.Tail{Hash: objects.NewHasher()}, 0, make([]byte, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	kinds := map[string]int{}
	err = r.Usage(ctx, func(Project) bool { return true }, func(u Usage) error {
		sum += u.Bytes
		if u.Lane.Project == testProject {
			kinds[u.Kind]++
			if _, ok := sizes[u.Name]; ok && u.Kind == "object" {
				sizes[u.Name]++
			}
		}
		if u.Kind == "stream" && u.Name != name {
			t.Errorf("a segment of %s", u.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	for _, g := range []*gitstore.Repo{r.memory, r.originals} {
		for id, err := range g.Packs().All() {
			n, serr := g.Packs().EntrySize(id)
			if err = errors.Join(err, serr); err != nil {
				t.Fatal(err)
			}
			want += n
		}
	}
	if sum != want {
		t.Errorf("the entries of the packs take %d bytes, %d were visited", want, sum)
	}
	for h, n := range sizes {
		if n != 1 {
			t.Errorf("%s was visited %d times", h, n)
		}
	}
	if kinds["stream"] != g.Segments || kinds["commit"] != 6 || kinds["point"] != 1 {
		t.Errorf("%v", kinds)
	}
}
