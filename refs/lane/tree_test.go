package lane

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// TestDirIsAMap sets random paths and compares with a map, before and after the directory is written and read again.
func TestDirIsAMap(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	rng := rand.New(rand.NewPCG(1, 2))
	names := []string{"a", "a.b", "a-b", "a0", "b", "s0000", "z"} // git sorts "a" as a directory after "a.b" and "a-b"
	want := map[string]pack.ID{}
	d := DirAt(pack.ID{})
	for round := range 20 {
		for range 30 {
			path := []string{names[rng.IntN(len(names))], names[rng.IntN(len(names))], names[rng.IntN(len(names))]}
			id := pack.Name(pack.Blob, fmt.Append(nil, rng.IntN(5)))
			key := strings.Join(path, "/")
			changed, err := d.Set(g, id, path...)
			if err != nil || changed != (want[key] != id) {
				t.Fatalf("Set(%s) = %v, %v; had %v, now %v", key, changed, err, want[key], id)
			}
			want[key] = id
		}
		compareDir(t, g, d, want)
		d = DirAt(encode(t, g, d))
		compareDir(t, g, d, want)
		if d.Changed() {
			t.Fatalf("round %d: a directory that was only read has changed", round)
		}
	}
}

func encode(t *testing.T, g *gitstore.Repo, d *Dir) (tree pack.ID) {
	t.Helper()
	_, err := pack.Write(g.PackDir(), "test", func(w *pack.Writer) (err error) {
		tree, err = d.Encode(func(k pack.Kind, b []byte) (pack.ID, error) {
			e := pack.Encode(k, b, 1)
			return e.ID, w.Add(e)
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func compareDir(t *testing.T, g *gitstore.Repo, d *Dir, want map[string]pack.ID) {
	t.Helper()
	got := map[string]pack.ID{}
	var order []string
	if err := d.Walk(g, nil, func(path []string, id pack.ID) error {
		got[strings.Join(path, "/")] = id
		order = append(order, strings.Join(path, "\x00"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) || !slices.IsSorted(order) {
		t.Fatalf("%d files, want %d, in order %v", len(got), len(want), slices.IsSorted(order))
	}
	for path, id := range want {
		e, ok, err := d.Find(g, strings.Split(path, "/")...)
		if err != nil || !ok || e.ID != id {
			t.Fatalf("Find(%s) = %v, %v, %v", path, e, ok, err)
		}
	}
}

// TestSetOverTheOtherKind replaces a file by a directory and a directory by a file.
func TestSetOverTheOtherKind(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	one, two := pack.Name(pack.Blob, []byte("1")), pack.Name(pack.Blob, []byte("2"))
	d := DirAt(pack.ID{})
	for i, path := range []string{"a", "a/b", "a/b/c", "a"} {
		id := []pack.ID{one, two}[i%2]
		if changed, err := d.Set(g, id, strings.Split(path, "/")...); err != nil || !changed {
			t.Fatalf("Set(%s) = %v, %v", path, changed, err)
		}
		compareDir(t, g, d, map[string]pack.ID{path: id})
	}
}

// TestEncodeWritesOnlyChanges writes the directories of a changed path and no others.
func TestEncodeWritesOnlyChanges(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	tip := commit(t, g, pack.ID{}, "", files{"a/b/c": "1", "a/d/e": "2", "f/g/h": "3"})
	c, err := g.Commit(tip)
	if err != nil {
		t.Fatal(err)
	}
	d := DirAt(c.Tree)
	puts := 0
	put := func(k pack.Kind, b []byte) (pack.ID, error) { puts++; return pack.Name(k, b), nil }
	if id, err := d.Encode(put); id != c.Tree || err != nil || puts != 0 {
		t.Errorf("Encode of an unchanged directory = %v, %v with %d writes", id, err, puts)
	}
	if _, err := d.Set(g, pack.Name(pack.Blob, []byte("4")), "a", "b", "x"); err != nil {
		t.Fatal(err)
	}
	if id, err := d.Encode(put); id == c.Tree || err != nil || puts != 3 {
		t.Errorf("Encode of a changed directory = %v, %v with %d writes, want 3", id, err, puts)
	}
	puts = 0
	if _, err := d.Encode(put); err != nil || puts != 0 {
		t.Errorf("a second Encode: %v with %d writes", err, puts)
	}
	d.Touch()
	if _, err := d.Encode(put); err != nil || puts != 1 {
		t.Errorf("Encode after Touch: %v with %d writes, want 1", err, puts)
	}
	full := errors.New("full")
	if _, err := d.Set(g, pack.ID{9}, "f", "g", "i"); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Encode(func(pack.Kind, []byte) (pack.ID, error) { return pack.ID{}, full }); !errors.Is(err, full) {
		t.Errorf("Encode on a full disk = %v", err)
	}
	if !d.Changed() {
		t.Error("after a failed Encode the directory counts as written")
	}
}

func TestWalkNew(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	dir := func(tip pack.ID) *Dir {
		c, err := g.Commit(tip)
		if err != nil {
			t.Fatal(err)
		}
		return DirAt(c.Tree)
	}
	first := commit(t, g, pack.ID{}, "", files{"a/1": "1", "a/2": "2", "b/1": "1"})
	second := commit(t, g, first, "", files{"a/2": "other", "a/3": "3", "c/1": "1"})
	var got []string
	if err := dir(second).WalkNew(g, dir(first), nil, func(path []string, _ pack.ID) error {
		got = append(got, strings.Join(path, "/"))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a/2", "a/3", "c/1"}; !slices.Equal(got, want) {
		t.Errorf("WalkNew = %v, want %v", got, want)
	}
	stop := errors.New("stop")
	n := 0
	if err := dir(second).Walk(g, nil, func([]string, pack.ID) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("Walk after an error: %v after %d files", err, n)
	}
}
