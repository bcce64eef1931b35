//go:build unix

package main

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs/refstest"
)

// A hostileCase is an attack, the exit status of the victim's command, and its message.
type hostileCase struct {
	do    func(*forger)
	code  int
	want  string
	alone bool // the other lanes of the remote arrive
}

func hostileCases() map[string]hostileCase {
	all := map[string]hostileCase{}
	for _, some := range []map[string]hostileCase{hostileTrees(), hostilePaths(), hostileCommits(), hostileObjects(), hostileContent(), hostileSegments(), hostileRefs(), hostileFiles()} {
		maps.Copy(all, some)
	}
	return all
}

// denied is the exit status 1 or 128: either the lane alone is not taken, or the whole fetch fails.
const denied = -1

// refused is a lane that this memory does not take. There is nothing else to be had from the remote.
func refused(want string, do func(*forger)) hostileCase { return hostileCase{do, denied, want, false} }

// lacking is a lane that names an object which the remote does not have: it alone is refused by name, the other lanes arrive.
func lacking(want string, do func(*forger)) hostileCase {
	return hostileCase{do, 1, "device [^ ]+~[0-9a-f]{8} was not fetched: .*" + want, true}
}

// failed is a fetch that ends with an error.
func failed(want string, do func(*forger)) hostileCase { return hostileCase{do, 128, want, false} }

// ignored is what nobody looks at.
func ignored(do func(*forger)) hostileCase { return hostileCase{do, 0, "", false} }

// entry puts an entry behind those of the root, in git's order or not.
func entry(mode, name string, last bool) func(*forger) {
	return func(f *forger) {
		id := f.blob("x")
		if mode == "40000" {
			id = f.tree(refstest.Entry{Mode: "100644", Name: "x", ID: id})
		}
		e := refstest.Entry{Mode: mode, Name: name, ID: id}
		if last {
			f.push(append(f.root, e))
		} else {
			f.push(append([]refstest.Entry{e}, f.root...))
		}
	}
}

// mode gives a file where one may be another mode.
func mode(mode string) func(*forger) {
	return func(f *forger) {
		f.push(f.put(f.root, refstest.Fan("objects", b3sum("x"), ""), mode, f.blob("x")))
	}
}

// hostileTrees are trees that mem does not write and git takes in part.
func hostileTrees() map[string]hostileCase {
	const malformed = "malformed tree"
	return map[string]hostileCase{
		"tree: dot dot":          refused(malformed, entry("40000", "..", false)),
		"tree: dot dot file":     refused(malformed, entry("100644", "..", false)),
		"tree: dot":              refused(malformed, entry("40000", ".", false)),
		"tree: .git":             refused(malformed, entry("40000", ".git", false)),
		"tree: .GIT":             refused(malformed, entry("40000", ".GIT", false)),
		"tree: .Git file":        refused(malformed, entry("100644", ".Git", false)),
		"tree: git~1":            refused("path not allowed|is not in order", entry("40000", "git~1", false)),
		"tree: empty name":       refused(malformed, entry("100644", "", false)),
		"tree: slash":            refused(malformed, entry("100644", "a/b", false)),
		"tree: absolute":         refused(malformed, entry("100644", "/etc/passwd", false)),
		"tree: up and out":       refused(malformed, entry("100644", "../../x", false)),
		"tree: backslash":        refused("path not allowed", entry("40000", `zz\..\x`, true)),
		"tree: control bytes":    refused("path not allowed", entry("100644", "zz\x1b]0;x\a\n", true)),
		"tree: long name":        refused("path not allowed", entry("100644", strings.Repeat("z", 100_000), true)),
		"tree: attributes":       refused("path not allowed", entry("100644", ".gitattributes", false)),
		"tree: modules":          refused("path not allowed", entry("100644", ".gitmodules", false)),
		"tree: symlink":          refused(malformed, mode("120000")),
		"tree: submodule":        refused(malformed, mode("160000")),
		"tree: executable":       refused(malformed, mode("100755")),
		"tree: group-writable":   refused(malformed, mode("100664")),
		"tree: padded mode":      refused(malformed, mode("0100644")),
		"tree: no mode":          refused(malformed, mode("")),
		"tree: directory as 644": refused("", mode("40000")),
		"tree: twice": refused(malformed, func(f *forger) {
			f.push(append(f.root, f.root[len(f.root)-1]))
		}),
		"tree: file and directory": refused(malformed, func(f *forger) {
			f.push(append(f.root, refstest.Entry{Mode: "100644", Name: "streams", ID: f.blob("x")}))
		}),
		"tree: unsorted": refused(malformed, func(f *forger) {
			f.root[0], f.root[1] = f.root[1], f.root[0]
			f.push(f.root)
		}),
		"tree: cut off": refused(malformed, func(f *forger) {
			b := refstest.Tree(f.root...)
			f.lead(f.ref, f.write(f.sign(f.next(f.object(pack.Tree, b[:len(b)-5])))))
		}),
		"tree: zero name": refused(malformed, func(f *forger) {
			f.push(append(f.root, refstest.Entry{Mode: "100644", Name: "zz", ID: pack.ID{}}))
		}),
		"tree: a file as directory": refused("", func(f *forger) {
			f.push(f.put(f.root, "objects", "40000", f.blob("x")))
		}),
		"tree: the tip as directory": refused("", func(f *forger) {
			f.push(f.put(f.root, "objects", "40000", f.id))
		}),
	}
}

// hostilePaths are well-formed trees with what is not in a lane.
func hostilePaths() map[string]hostileCase {
	h := b3sum("x")
	return map[string]hostileCase{
		"path: readme":     refused("path not allowed", func(f *forger) { f.push(f.with("README", "x")) }),
		"path: hook":       refused("path not allowed", func(f *forger) { f.push(f.with("hooks/post-checkout", "#!/bin/sh\n")) }),
		"path: patch":      refused("path not allowed", func(f *forger) { f.push(f.with(refstest.Fan("patches", h, ""), "x")) }),
		"path: high":       refused("path not allowed", func(f *forger) { f.push(f.with("objects/"+h, "x")) }),
		"path: upper case": refused("path not allowed", func(f *forger) { f.push(f.with(refstest.Fan("objects", strings.ToUpper(b3sum("abc")), ""), "abc")) }),
		"path: deep": refused("deep|path not allowed", func(f *forger) {
			dir := f.tree(refstest.Entry{Mode: "100644", Name: "a", ID: f.blob("x")})
			for range 100 {
				dir = f.tree(refstest.Entry{Mode: "40000", Name: "a", ID: dir})
			}
			f.push(f.put(f.root, "objects", "40000", dir))
		}),
		"path: format":  refused("was changed", func(f *forger) { f.push(f.with("format", "mem 2\n")) }),
		"path: removed": refused("removed", func(f *forger) { f.push(f.root[:len(f.root)-1]) }),
		"path: emptied": refused("removed", func(f *forger) { f.push(nil) }),
		"path: changed": refused("was changed", func(f *forger) {
			names, _ := f.blobs("records")
			f.push(f.with(names[0], "x"))
		}),
		"path: point changed": refused("object is corrupt", func(f *forger) {
			names, _ := f.blobs("points")
			f.push(f.with(names[0], "x"))
		}),
		"path: point led to another": refused("object is corrupt", func(f *forger) {
			names, content := f.blobs("points")
			f.push(f.with(names[0], string(content[names[1]])))
		}),
		"path: many names of one point":   refused("", func(f *forger) { f.push(f.manyNames("points")) }),
		"path: many names of one segment": refused("names lead to", func(f *forger) { f.push(f.manyNames("streams")) }),
	}
}

// manyNames is a bomb of trees: some kilobytes in which one file has millions of names.
func (f *forger) manyNames(under string) []refstest.Entry {
	names, content := f.blobs(under)
	id := pack.Name(pack.Blob, content[names[0]])
	var leaf []refstest.Entry
	levels := 4
	if under == "points" {
		for i := range 1000 {
			leaf = append(leaf, refstest.Entry{Mode: "100644", Name: fmt.Sprintf("%060x", i), ID: id})
		}
	} else {
		var files []refstest.Entry
		for i := range 16 {
			files = append(files, refstest.Entry{Mode: "100644", Name: fmt.Sprintf("%06d", i), ID: id})
		}
		dir := f.tree(refstest.Entry{Mode: "40000", Name: "s0000", ID: f.tree(files...)})
		for i := range 1000 {
			leaf = append(leaf, refstest.Entry{Mode: "40000", Name: fmt.Sprintf("%061x", i), ID: dir})
		}
		levels = 3
	}
	for range levels {
		dir := f.tree(leaf...)
		leaf = nil
		for i := range 16 {
			leaf = append(leaf, refstest.Entry{Mode: "40000", Name: fmt.Sprintf("%x", i), ID: dir})
		}
	}
	// What was there stays: only the branches without anything are new.
	old := f.entries(f.entry(f.root, under))
	for i, e := range leaf {
		for _, o := range old {
			if o.Name == e.Name {
				leaf[i] = o
			}
		}
	}
	return f.put(f.root, under, "40000", f.tree(leaf...))
}

func (f *forger) entry(dir []refstest.Entry, name string) pack.ID {
	for _, e := range dir {
		if e.Name == name {
			return e.ID
		}
	}
	f.t.Fatalf("there is no %s", name)
	return pack.ID{}
}

// hostileCommits are commits that the lane's device did not make, or not so.
func hostileCommits() map[string]hostileCase {
	commit := func(change func(*forger, *gitstore.Commit)) func(*forger) {
		return func(f *forger) {
			c := f.next(f.tip.Tree)
			change(f, &c)
			f.lead(f.ref, f.write(f.sign(c)))
		}
	}
	raw := func(old, new string) func(*forger) {
		return func(f *forger) {
			c := f.next(f.tip.Tree)
			text := strings.Replace(string(c.Payload()), old, new, 1)
			sig := strings.TrimSuffix(strings.ReplaceAll(refstest.SignSSH(f.seed, []byte(text)), "\n", "\n "), " ")
			head, body, _ := strings.Cut(text, "\n\n")
			f.lead(f.ref, f.object(pack.Commit, []byte(head+"\ngpgsig "+sig+"\n"+body)))
		}
	}
	return map[string]hostileCase{
		"commit: unsigned": refused("signature", func(f *forger) { f.lead(f.ref, f.write(f.next(f.tip.Tree))) }),
		"commit: another key": refused("signed with another key", func(f *forger) {
			f.seed = make([]byte, 32)
			f.push(f.root)
		}),
		"commit: signature of another": refused("signature does not match", func(f *forger) {
			c := f.next(f.tip.Tree)
			c.Signature = f.tip.Signature
			f.lead(f.ref, f.write(c))
		}),
		"commit: garbled signature": refused("signature", func(f *forger) {
			c := f.next(f.tip.Tree)
			c.Signature = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n"
			f.lead(f.ref, f.write(c))
		}),
		"commit: another device": refused("not the lane's device", commit(func(_ *forger, c *gitstore.Commit) {
			c.Email = strings.Repeat("0", 32) + "@mem.invalid"
		})),
		"commit: clock at its end": refused("Lamport", commit(func(_ *forger, c *gitstore.Commit) {
			c.Message = "x\n\nMem-Lamport: 18446744073709551615\n"
		})),
		"commit: clock back":     refused("Lamport", commit(func(_ *forger, c *gitstore.Commit) { c.Message = "x\n\nMem-Lamport: 1\n" })),
		"commit: no clock":       refused("Lamport", commit(func(_ *forger, c *gitstore.Commit) { c.Message = "x\n" })),
		"commit: another one":    {commit(func(_ *forger, c *gitstore.Commit) { c.Parent = pack.ID{} }), denied, "rewritten|does not continue", false},
		"commit: two parents":    refused("", raw("\nauthor", "\nparent "+strings.Repeat("1", 40)+"\nauthor")),
		"commit: more heads":     refused("form that mem writes", raw("\n\n", "\nencoding latin-1\n\n")),
		"commit: time zone":      refused("malformed commit", raw("+0000", "+0100")),
		"commit: tree is a file": refused("", commit(func(f *forger, c *gitstore.Commit) { c.Tree = f.blob("x") })),
		"commit: no commit":      refused("", func(f *forger) { f.lead(f.ref, f.object(pack.Commit, []byte("x"))) }),
	}
}

// lost takes an object away from the remote, which therefore has all in files of their own.
func (f *forger) lose(id pack.ID) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, loosePath(id))); err != nil {
		f.t.Fatal(err)
	}
}

// hostileObjects are objects that are missing, or have other content than their name.
func hostileObjects() map[string]hostileCase {
	as := func(file func(id pack.ID, content []byte) []byte) func(*forger) {
		return func(f *forger) {
			f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "x"))
			id := pack.Name(pack.Blob, []byte("x"))
			f.file(loosePath(id), file(id, []byte("x")))
		}
	}
	const wrong = "corrupt|damaged|does not match|is not"
	return map[string]hostileCase{
		"object: missing blob": lacking("not found", func(f *forger) {
			f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "x"))
			f.lose(pack.Name(pack.Blob, []byte("x")))
		}),
		"object: missing tree": lacking("not found", func(f *forger) {
			es := f.with(refstest.Fan("objects", b3sum("x"), ""), "x")
			f.push(es)
			f.lose(f.entry(es, "objects"))
		}),
		"object: missing root": lacking("not found", func(f *forger) {
			f.push(f.with("format", "x"))
			f.lose(pack.Name(pack.Tree, refstest.Tree(f.with("format", "x")...)))
		}),
		"object: missing parent": lacking("not found", func(f *forger) {
			c := f.next(f.tip.Tree)
			c.Parent = pack.ID{1}
			f.lead(f.ref, f.write(f.sign(c)))
		}),
		"object: missing tip":   lacking("not found", func(f *forger) { f.lead(f.ref, pack.ID{1}) }),
		"object: another one":   failed(wrong, as(func(_ pack.ID, _ []byte) []byte { return deflate([]byte("blob 1\x00y")) })),
		"object: another kind":  failed(wrong, as(func(_ pack.ID, _ []byte) []byte { return deflate([]byte("tree 1\x00x")) })),
		"object: no zlib":       failed("", as(func(_ pack.ID, _ []byte) []byte { return []byte("hello hello") })),
		"object: empty":         failed("", as(func(_ pack.ID, _ []byte) []byte { return nil })),
		"object: cut off":       failed("", as(func(_ pack.ID, b []byte) []byte { d := deflate([]byte("blob 1\x00"), b); return d[:len(d)-6] })),
		"object: longer":        failed("", as(func(_ pack.ID, _ []byte) []byte { return deflate([]byte("blob 1\x00x"), make([]byte, 1<<20)) })),
		"object: huge size":     failed("large|corrupt", as(func(_ pack.ID, _ []byte) []byte { return deflate([]byte("blob 4611686018427387904\x00x")) })),
		"object: negative size": failed("", as(func(_ pack.ID, _ []byte) []byte { return deflate([]byte("blob -1\x00x")) })),
		"object: endless head": failed("", as(func(_ pack.ID, _ []byte) []byte {
			return zeros("", 300<<20)
		})),
		"object: bomb": failed("large|corrupt", as(func(_ pack.ID, _ []byte) []byte {
			return zeros(fmt.Sprintf("blob %d\x00", 300<<20), 300<<20)
		})),
	}
}

// hostileContent is content that is not what its name, its record or its head says.
func hostileContent() map[string]hostileCase {
	record := func(change func(string) string) func(*forger) {
		return func(f *forger) {
			names, content := f.blobs("records")
			text := change(string(content[names[0]]))
			f.push(f.with(refstest.Fan("records", b3sum(text), ".json"), text))
		}
	}
	point := func(text string) func(*forger) {
		return func(f *forger) { f.push(f.with(refstest.Fan("points", b3sum("x"), ""), text)) }
	}
	return map[string]hostileCase{
		"content: another":                   refused("corrupt", func(f *forger) { f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "y")) }),
		"content: record under another name": refused("record", func(f *forger) { f.push(f.with(refstest.Fan("records", b3sum("x"), ".json"), "{}")) }),
		"content: record with a space":       refused("canonical", record(func(s string) string { return strings.Replace(s, ":", ": ", 1) })),
		"content: record with more":          refused("canonical", record(func(s string) string { return strings.Replace(s, "{", `{"zz":1,`, 1) })),
		"content: record of nothing":         refused("record", record(func(string) string { return "null\n" })),
		"content: record very deep":          refused("record", record(func(string) string { return strings.Repeat("[", 200_000) })),
		"content: record of another":         refused("of the device 0000", record(otherDevice)),
		"content: record of tomorrow":        refused("Lamport time 999999", record(otherLamport)),
		"content: array as a body":           refused("not an object", record(otherBody("set", `[1,2,3]`))),
		"content: weight that is no number":  refused(`weight "nan"`, record(otherBody("keepit", `{"session":"x","generation":0,"message":1,"start":0,"end":5,"weight":"nan"}`))),
		"content: malformed date":            refused(`"nonsense"`, record(otherBody("session", `{"session":"x","size":9,"segments":1,"scan":{"first":"nonsense"},"source":"x"}`))),
		"content: point to nowhere":          refused("point", point(`{"stream":"`+b3sum("y")+`","segments":1}`+"\n")),
		"content: point of minus one":        refused("point", point(`{"stream":"`+b3sum("y")+`","segments":-1}`+"\n")),
		"content: point far away":            refused("point", point(`{"stream":"`+b3sum("y")+`","segments":9223372036854775807}`+"\n")),
		"content: point no JSON":             refused("point", point("x")),
	}
}

// hostileSegments are growths of a stream whose head lies.
func hostileSegments() map[string]hostileCase {
	grow := func(at int, change func(*stream.Head, []byte) []byte) hostileCase {
		return refused("segment", func(f *forger) {
			names, content := f.blobs("streams")
			h, frame, err := stream.ParseHead(content[names[0]])
			if err != nil {
				f.t.Fatal(err)
			}
			frame = change(&h, frame)
			head, err := json.Marshal(h)
			if err != nil {
				f.t.Fatal(err)
			}
			blob := binary.LittleEndian.AppendUint32([]byte{0x50, 0x2a, 0x4d, 0x18}, uint32(len(head)))
			name := b3sum("x")
			path := fmt.Sprintf("streams/%s/%s/%s/%s/s0000/%06d", name[:1], name[1:2], name[2:3], name[3:], at)
			f.push(f.with(path, string(append(append(blob, head...), frame...))))
		})
	}
	lie := func(change func(*stream.Head)) hostileCase {
		return grow(0, func(h *stream.Head, b []byte) []byte { change(h); return b })
	}
	return map[string]hostileCase{
		"segment: longer":               lie(func(h *stream.Head) { h.Length++ }),
		"segment: shorter":              lie(func(h *stream.Head) { h.Length-- }),
		"segment: empty":                lie(func(h *stream.Head) { h.Length = 0 }),
		"segment: huge":                 lie(func(h *stream.Head) { h.Length = 1 << 60 }),
		"segment: elsewhere":            lie(func(h *stream.Head) { h.Offset = 5 }),
		"segment: before the beginning": lie(func(h *stream.Head) { h.Offset = -5 }),
		"segment: dictionary":           lie(func(h *stream.Head) { h.Dict = 1 << 20 }),
		"segment: negative dictionary":  lie(func(h *stream.Head) { h.Dict = -1 }),
		"segment: another hash":         lie(func(h *stream.Head) { h.Sum[0]++ }),
		"segment: no zstd":              grow(0, func(_ *stream.Head, _ []byte) []byte { return []byte("hello") }),
		"segment: bomb":                 grow(0, func(_ *stream.Head, _ []byte) []byte { return zstdBomb(4 << 30) }),
		"segment: gap":                  grow(3, func(_ *stream.Head, b []byte) []byte { return b }),
	}
}

// otherDevice is a record that another device seems to have made.
func otherDevice(s string) string {
	i := strings.Index(s, `"device":"`) + len(`"device":"`)
	return s[:i] + strings.Repeat("0", 32) + s[i+32:]
}

// otherBody replaces what a record says.
func otherBody(kind, body string) func(string) string {
	return func(s string) string {
		i, j := strings.Index(s, `","device"`), strings.Index(s, `"body":`)
		return `{"kind":"` + kind + s[i:j] + `"body":` + body + "}\n"
	}
}

// otherLamport is a record of a later time than its commit.
func otherLamport(s string) string {
	i := strings.Index(s, `"lamport":`) + len(`"lamport":`)
	return s[:i] + "999999" + strings.TrimLeft(s[i:], "0123456789")
}

// zstdBomb is a zstd frame of n zero bytes: blocks of one byte that is repeated.
func zstdBomb(n int) []byte {
	const block = 128 << 10
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // no size, a window of 2 MiB
	for left := n; left > 0; left -= block {
		v := uint32(block)<<3 | 1<<1
		if left <= block {
			v |= 1
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16), 0)
	}
	return b
}

// hostileRefs are branches that are none, or not whose they seem.
func hostileRefs() map[string]hostileCase {
	packed := func(name string) func(*forger) {
		return func(f *forger) { f.file("packed-refs", fmt.Appendf(nil, "%s %s\n", f.id, name)) }
	}
	return map[string]hostileCase{
		"ref: up and out":    failed("not a branch", packed("refs/heads/p/../../../x")),
		"ref: absolute":      ignored(packed("/etc/passwd")),
		"ref: lock":          failed("not a branch", packed("refs/heads/p/0011223344556677/00112233445566778899aabbccddeeff.lock")),
		"ref: control bytes": failed("not a branch", packed("refs/heads/p/\x1b]0;x\a")),
		"ref: no id": failed("malformed", func(f *forger) {
			f.file("packed-refs", []byte("zz refs/heads/p/0011223344556677/00112233445566778899aabbccddeeff\n"))
		}),
		"ref: no project":     ignored(func(f *forger) { f.lead("refs/heads/p/zz/"+filepath.Base(f.ref), f.id) }),
		"ref: main":           ignored(func(f *forger) { f.lead("refs/heads/main", f.id) }),
		"ref: home":           ignored(func(f *forger) { f.lead("refs/heads/p/0000000000000000/"+filepath.Base(f.ref), f.id) }),
		"ref: symbolic":       failed("", func(f *forger) { f.file(f.ref, []byte("ref: refs/heads/main\n")) }),
		"ref: empty":          failed("", func(f *forger) { f.file(f.ref, nil) }),
		"ref: long":           failed("", func(f *forger) { f.file(f.ref, bytes.Repeat([]byte("0"), 1<<20)) }),
		"ref: a file":         refused("", func(f *forger) { f.lead(f.ref, f.blob("x")) }),
		"ref: a tree":         refused("", func(f *forger) { f.lead(f.ref, f.tip.Tree) }),
		"ref: backwards":      {func(f *forger) { f.lead(f.ref, f.tip.Parent) }, denied, "behind|less|rolled|back", false},
		"ref: gone":           {func(f *forger) { _ = os.Remove(filepath.Join(f.dir, f.ref)) }, denied, "missing|gone|no longer", false},
		"ref: another device": refused("not the lane's device", func(f *forger) { f.lead(filepath.Dir(f.ref)+"/"+strings.Repeat("1", 32), f.id) }),
		"ref: this device": {func(f *forger) {
			own, err := os.ReadFile(filepath.Join(f.dir, "..", "victim", "device.json"))
			var d struct{ ID string }
			if err == nil {
				err = json.Unmarshal(own, &d)
			}
			if err != nil {
				f.t.Fatal(err)
			}
			f.ref = filepath.Dir(f.ref) + "/" + d.ID
			c := f.next(f.tip.Tree)
			c.Email = d.ID + "@mem.invalid"
			f.lead(f.ref, f.write(f.sign(c)))
		}, denied, ".", false},
		"ref: another project": {func(f *forger) {
			c := f.next(f.tip.Tree)
			c.Parent, f.seed = pack.ID{}, make([]byte, 32)
			f.lead("refs/heads/p/0011223344556677/"+filepath.Base(f.ref), f.write(f.sign(c)))
		}, denied, "another key", false},
	}
}

// hostileFiles are things in the way where a directory remote has files, and packs that lie.
func hostileFiles() map[string]hostileCase {
	instead := func(name func(*forger) string, put func(path string) error) func(*forger) {
		return func(f *forger) {
			path := filepath.Join(f.dir, name(f))
			_ = os.RemoveAll(path) // it need not be there
			err := os.MkdirAll(filepath.Dir(path), 0o700)
			if err == nil {
				err = put(path)
			}
			if err != nil {
				f.t.Fatal(err)
			}
		}
	}
	fifo := func(path string) error { return syscall.Mkfifo(path, 0o600) }
	zero := func(path string) error { return os.Symlink("/dev/zero", path) }
	at := func(name string) func(*forger) string { return func(*forger) string { return name } }
	lane := func(f *forger) string { return f.ref }
	object := func(f *forger) string {
		f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "x"))
		return loosePath(pack.Name(pack.Blob, []byte("x")))
	}
	return map[string]hostileCase{
		"file: pipe as HEAD":        failed("", instead(at("HEAD"), fifo)),
		"file: device as HEAD":      failed("", instead(at("HEAD"), zero)),
		"file: pipe as config":      failed("", instead(at("config"), fifo)),
		"file: pipe as a branch":    failed("", instead(lane, fifo)),
		"file: device as a branch":  failed("", instead(lane, zero)),
		"file: pipe as an object":   failed("", instead(object, fifo)),
		"file: device as an object": failed("", instead(object, zero)),
		"file: pipe as packed-refs": failed("", instead(at("packed-refs"), fifo)),
		"file: borrowed objects": failed("borrows", func(f *forger) {
			f.file("objects/info/alternates", []byte("/etc\n"))
		}),
		"file: pipe as alternates": failed("", instead(at("objects/info/alternates"), fifo)),
		"file: branches lead up":   refused("is gone", instead(at("refs/heads"), func(path string) error { return os.Symlink("..", path) })),
		"file: pipe as a pack": failed("", func(f *forger) {
			f.packs([]byte("x"))
			instead(at("objects/pack/pack-"+strings.Repeat("1", 40)+".pack"), fifo)(f)
		}),
		"pack: no objects":           failed("", func(f *forger) { f.packs(nil) }),
		"pack: bomb":                 refused("", func(f *forger) { f.packs(packed(pack.Blob, 3, zeros("", 300<<20))) }),
		"pack: a size that lies":     refused("", func(f *forger) { f.packs(packed(pack.Blob, 1<<50, deflate([]byte("x")))) }),
		"pack: difference to itself": failed("", func(f *forger) { f.packs(append(packed(6, 4, []byte{0}), deflate([]byte{1, 1, 1, 'x'})...)) }),
		"pack: difference to nothing": failed("", func(f *forger) {
			f.packs(append(packed(7, 4, bytes.Repeat([]byte{1}, 20)), deflate([]byte{1, 1, 1, 'x'})...))
		}),
		"pack: difference to a bomb": failed("", func(f *forger) {
			f.packs(append(packed(7, 9, f.id[:]), deflate([]byte{0xff, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 'x'})...))
		}),
	}
}

// packed is an entry of a pack.
func packed(k pack.Kind, size int64, rest []byte) []byte {
	c := byte(k)<<4 | byte(size&15)
	size >>= 4
	var b []byte
	for ; size > 0; size >>= 7 {
		b = append(b, c|0x80)
		c = byte(size & 0x7f)
	}
	return append(append(b, c), rest...)
}

// packs puts an entry into a pack of the remote, where its index says that an object of the next commit is.
func (f *forger) packs(e []byte) {
	f.t.Helper()
	f.push(f.with(refstest.Fan("objects", b3sum("x"), ""), "x"))
	id := pack.Name(pack.Blob, []byte("x"))
	f.lose(id)
	p := append([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01"), e...)
	sum := sha1.Sum(p)
	p = append(p, sum[:]...)
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for i := range 256 {
		n := uint32(0)
		if i >= int(id[0]) {
			n = 1
		}
		idx = binary.BigEndian.AppendUint32(idx, n)
	}
	idx = append(append(append(idx, id[:]...), 0, 0, 0, 0, 0, 0, 0, 12), sum[:]...)
	own := sha1.Sum(idx)
	name := "objects/pack/pack-" + strings.Repeat("1", 40)
	f.file(name+".pack", p)
	f.file(name+".idx", append(idx, own[:]...))
}
