package lane

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// testDevice returns a device whose id and key follow from seed.
func testDevice(t testing.TB, seed byte) Device {
	t.Helper()
	d, err := NewDevice("desk", bytes.NewReader(bytes.Repeat([]byte{seed}, 100)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// newGit returns an empty repository.
func newGit(t testing.TB) *gitstore.Repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "git")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// files are the blobs of a lane, by path.
type files map[string]string

// commit commits the files to the lane with the given tip and returns the new tip. An empty message is an ordinary one.
func commit(t testing.TB, g *gitstore.Repo, parent pack.ID, message string, fs files) pack.ID {
	t.Helper()
	l := &Snapshot{Root: &Dir{loaded: true}}
	if !parent.IsZero() {
		c, err := g.Commit(parent)
		if err != nil {
			t.Fatal(err)
		}
		l.Root = DirAt(c.Tree)
	} else if _, ok := fs["format"]; !ok {
		fs = maps.Clone(fs)
		if fs == nil {
			fs = files{}
		}
		fs["format"] = Format
	}
	if message == "" {
		message = "add\n\nMem-Lamport: 1\n"
	}
	var tip pack.ID
	_, err := pack.Write(g.PackDir(), "test", func(w *pack.Writer) error {
		put := func(k pack.Kind, b []byte) (pack.ID, error) {
			e := pack.Encode(k, b, 1)
			return e.ID, w.Add(e)
		}
		for _, path := range slices.Sorted(maps.Keys(fs)) {
			id, err := put(pack.Blob, []byte(fs[path]))
			if err != nil {
				return err
			}
			if _, err := l.Root.Set(g, id, strings.Split(path, "/")...); err != nil {
				return err
			}
		}
		tree, err := l.Root.Encode(put)
		if err != nil {
			return err
		}
		b, err := gitstore.EncodeCommit(gitstore.Commit{Tree: tree, Parent: parent, Name: "desk", Email: "x@mem.invalid",
			Time: time.Unix(1e9, 0), Message: message})
		if err != nil {
			return err
		}
		tip, err = put(pack.Commit, b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tip
}

// record returns the path and the bytes of a record.
func record(t testing.TB, d Device, lamport uint64, body string) (Record, files) {
	t.Helper()
	r, b, err := NewRecord("note", d, lamport, time.Unix(1e9, 0), map[string]string{"text": body})
	if err != nil {
		t.Fatal(err)
	}
	return r, files{strings.Join(RecordPath(r.ID), "/"): string(b)}
}

// segments returns a stream of parts, each of them one segment with a growth point, and the names of the points.
func segments(t testing.TB, name objects.Hash, parts ...string) (files, []objects.Hash) {
	t.Helper()
	tail := &stream.Tail{Hash: objects.NewHasher()}
	out := files{}
	var points []objects.Hash
	for i, part := range parts {
		n := 0
		for s, err := range stream.Append(t.Context(), tail, strings.NewReader(part)) {
			if err != nil {
				t.Fatal(err)
			}
			out[strings.Join(SegmentPath(name, i), "/")] = string(s.Blob)
			n++
		}
		if n != 1 {
			t.Fatalf("part %d has %d segments", i, n)
		}
		h := tail.Hash.Sum()
		points = append(points, h)
		out[strings.Join(PointPath(h), "/")] = string(PointBlob(name, i+1))
	}
	return out, points
}

// with merges maps of files.
func with(all ...files) files {
	out := files{}
	for _, fs := range all {
		maps.Copy(out, fs)
	}
	return out
}

// lose removes the object with the given id from a repository.
func lose(t testing.TB, g *gitstore.Repo, lost pack.ID) {
	t.Helper()
	if has, err := g.Has(lost); err != nil || !has {
		t.Fatalf("the object to lose is not there: %v, %v", has, err)
	}
	if err := pack.Drop(g.PackDir(), "test", func(id pack.ID) bool { return id != lost }); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil { // of the removed packs
		t.Fatal(err)
	}
}

// blobOf returns the id of the blob at path.
func blobOf(t testing.TB, l *Snapshot, path ...string) pack.ID {
	t.Helper()
	e, ok, err := l.Find(path...)
	if err != nil || !ok {
		t.Fatalf("%s: %v, %v", strings.Join(path, "/"), ok, err)
	}
	return e.ID
}

// text returns content of a stream that is different for each n.
func text(n int) string { return strings.Repeat(fmt.Sprintf("line %d\n", n), 50+n) }

// dataFile writes a file in a new directory and returns the directory.
func dataFile(t testing.TB, name, content string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
