package lane

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

// TestReachable counts the objects of lanes of all prefixes, and none that only a removed lane has.
func TestReachable(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	device := strings.Repeat("d", 32)
	tips := map[string]pack.ID{
		Ref("00000000000000aa", device):              commit(t, g, pack.ID{}, "", files{"a": "1", "both": "2"}),
		OutsidePrefix + "00000000000000aa/" + device: commit(t, g, pack.ID{}, "", files{"b": "3", "both": "2"}),
		"refs/heads/main":                            commit(t, g, pack.ID{}, "", files{"c": "4"}),
	}
	commit(t, g, pack.ID{}, "", files{"lost": "5"})
	for ref, tip := range tips {
		if err := g.Update(t.Context(), ref, pack.ID{}, tip); err != nil {
			t.Fatal(err)
		}
	}
	seen, err := Reachable(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]bool{"1": true, "2": true, "3": true, "4": true, "5": false, Format: true} {
		if _, ok := seen[pack.Name(pack.Blob, []byte(content))]; ok != want {
			t.Errorf("the blob %q is reachable: %v, want %v", content, ok, want)
		}
	}
	for ref, tip := range tips {
		if _, ok := seen[tip]; !ok {
			t.Errorf("the tip of %s is not reachable", ref)
		}
	}
	if len(seen) != 3+3+5 { // commits, trees, blobs
		t.Errorf("%d objects are reachable, want 11", len(seen))
	}
}

func TestReachableOfALostObject(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	tip := commit(t, g, pack.ID{}, "", files{"a/b": "1"})
	tip = commit(t, g, tip, "", files{"c": "2"})
	l, err := At(g, tip, "dd")
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := l.Find("a")
	if err != nil {
		t.Fatal(err)
	}
	lose(t, g, e.Dir.ID)
	if err := AddReachable(t.Context(), g, tip, map[pack.ID]struct{}{}); !errors.Is(err, pack.ErrNotFound) {
		t.Errorf("AddReachable over a lost directory = %v; a sweep would remove what is below it", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := AddReachable(ctx, g, tip, map[pack.ID]struct{}{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled walk: %v", err)
	}
}

// TestAddReachableSkipsSeen adds a lane to a set that has an older commit of it: only what is new is walked.
func TestAddReachableSkipsSeen(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := chain(t, g, 3, plain)
	once, twice := map[pack.ID]struct{}{}, map[pack.ID]struct{}{}
	if err := AddReachable(t.Context(), g, c[2], once); err != nil {
		t.Fatal(err)
	}
	for _, tip := range []pack.ID{c[1], c[2], c[2]} {
		if err := AddReachable(t.Context(), g, tip, twice); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(once, twice) {
		t.Errorf("%d objects at once, %d in steps", len(once), len(twice))
	}
	lose(t, g, c[0])
	if err := AddReachable(t.Context(), g, c[2], map[pack.ID]struct{}{c[1]: {}}); err != nil {
		t.Errorf("a walk that should end at a seen commit: %v", err)
	}
	if keys := slices.Collect(maps.Keys(once)); len(keys) != 3+3+4 {
		t.Errorf("%d objects, want 10", len(keys))
	}
}
