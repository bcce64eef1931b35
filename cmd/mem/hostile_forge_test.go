package main

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/refstest"
)

// A forger writes into the bare repository of a remote whatever it likes, and signs it with the key of a device.
type forger struct {
	t    testing.TB
	dir  string // the remote
	ref  string // the lane that it goes on with
	tip  gitstore.Commit
	id   pack.ID // of the tip
	root []refstest.Entry
	seed []byte
}

// newForger returns a forger with the key of the device whose lane is in the remote.
func newForger(t testing.TB, dir, device string) *forger {
	t.Helper()
	var d struct{ Seed []byte }
	b, err := os.ReadFile(device)
	if err == nil {
		err = json.Unmarshal(b, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	all, err := g.Refs("refs/heads/p/")
	if err != nil || len(all) != 1 {
		t.Fatalf("lanes of the remote: %v, %v", all, err)
	}
	f := openForger(t, dir, all[0].Name)
	f.seed = d.Seed
	return f
}

// openForger returns a forger without a key that reads a lane.
func openForger(t testing.TB, dir, ref string) *forger {
	t.Helper()
	g, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	f := &forger{t: t, dir: dir, ref: ref}
	if f.id, err = g.Ref(ref); err == nil {
		f.tip, err = g.Commit(f.id)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.root = f.entries(f.tip.Tree)
	return f
}

// entries reads a tree of the remote.
func (f *forger) entries(id pack.ID) (out []refstest.Entry) {
	f.t.Helper()
	g, err := gitstore.Open(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	defer g.Close()
	es, err := g.Tree(id)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, e := range es {
		mode := "100644"
		if e.Tree {
			mode = "40000"
		}
		out = append(out, refstest.Entry{Mode: mode, Name: e.Name, ID: e.ID})
	}
	return out
}

// blobs returns the names of all files of the tip under a directory, sorted, with their content.
func (f *forger) blobs(under string) (names []string, content map[string][]byte) {
	f.t.Helper()
	g, err := gitstore.Open(f.dir)
	if err != nil {
		f.t.Fatal(err)
	}
	defer g.Close()
	content = map[string][]byte{}
	var walk func(path string, id pack.ID)
	walk = func(path string, id pack.ID) {
		for _, e := range f.entries(id) {
			name := strings.TrimPrefix(path+"/"+e.Name, "/")
			if e.Mode == "40000" {
				walk(name, e.ID)
			} else if strings.HasPrefix(name, under+"/") {
				b, err := g.Get(e.ID, pack.Blob)
				if err != nil {
					f.t.Fatal(err)
				}
				names, content[name] = append(names, name), b
			}
		}
	}
	walk("", f.tip.Tree)
	slices.Sort(names)
	return names, content
}

// file writes a file of the remote.
func (f *forger) file(name string, b []byte) {
	f.t.Helper()
	name = filepath.Join(f.dir, name)
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	if err == nil {
		err = os.WriteFile(name, b, 0o600)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func loosePath(id pack.ID) string { return filepath.Join("objects", id.String()[:2], id.String()[2:]) }

// deflate compresses the parts, one behind the other.
func deflate(parts ...[]byte) []byte {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	for _, p := range parts {
		if err == nil {
			_, err = z.Write(p)
		}
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// zeros compresses a head and n zero bytes.
func zeros(head string, n int) []byte {
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err == nil {
		_, err = io.WriteString(z, head)
	}
	for part := make([]byte, 1<<20); err == nil && n > 0; n -= len(part) {
		_, err = z.Write(part)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // as above
	}
	return b.Bytes()
}

// object writes an object of its own file.
func (f *forger) object(k pack.Kind, content []byte) pack.ID {
	f.t.Helper()
	id := pack.Name(k, content)
	f.file(loosePath(id), deflate(fmt.Appendf(nil, "%s %d\x00", k, len(content)), content))
	return id
}

func (f *forger) blob(content string) pack.ID { return f.object(pack.Blob, []byte(content)) }

func (f *forger) tree(es ...refstest.Entry) pack.ID { return f.object(pack.Tree, refstest.Tree(es...)) }

// put returns a copy of a directory in which a path leads to something.
func (f *forger) put(dir []refstest.Entry, path, mode string, id pack.ID) []refstest.Entry {
	f.t.Helper()
	name, rest, deeper := strings.Cut(path, "/")
	i := slices.IndexFunc(dir, func(e refstest.Entry) bool { return e.Name == name })
	if deeper {
		var sub []refstest.Entry
		if i >= 0 {
			sub = f.entries(dir[i].ID)
		}
		mode, id = "40000", f.tree(f.put(sub, rest, mode, id)...)
	}
	dir = slices.Clone(dir)
	if i >= 0 {
		dir = slices.Delete(dir, i, i+1)
	}
	dir = append(dir, refstest.Entry{Mode: mode, Name: name, ID: id})
	slices.SortFunc(dir, func(a, b refstest.Entry) int { return strings.Compare(a.Key(), b.Key()) })
	return dir
}

// with returns the root of the tip with one more file.
func (f *forger) with(path, content string) []refstest.Entry {
	f.t.Helper()
	return f.put(f.root, path, "100644", f.blob(content))
}

// next returns a commit on top of the tip that changes nothing but the tree, not yet signed.
func (f *forger) next(tree pack.ID) gitstore.Commit {
	c := f.tip
	c.Tree, c.Parent, c.Signature = tree, f.id, ""
	return c
}

// sign returns a commit with the signature of the device's key.
func (f *forger) sign(c gitstore.Commit) gitstore.Commit {
	c.Signature = ""
	c.Signature = refstest.SignSSH(f.seed, c.Payload())
	return c
}

// write writes a commit.
func (f *forger) write(c gitstore.Commit) pack.ID {
	f.t.Helper()
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		f.t.Fatal(err)
	}
	return f.object(pack.Commit, b)
}

// lead makes a branch lead to an object.
func (f *forger) lead(ref string, id pack.ID) {
	f.t.Helper()
	f.file(ref, []byte(id.String()+"\n"))
}

// push goes on with the lane by a signed commit of a tree.
func (f *forger) push(es []refstest.Entry) {
	f.t.Helper()
	f.lead(f.ref, f.write(f.sign(f.next(f.tree(es...)))))
}

func b3sum(s string) string { return objects.Sum([]byte(s)).String() }
