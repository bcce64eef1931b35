package gitstore_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

func TestTreeOrder(t *testing.T) {
	t.Parallel()
	// Git sorts a directory as if its name ended in "/", which is after "." and before "0".
	es := []gitstore.TreeEntry{{"a-b", false, one}, {"a.b", false, one}, {"a", true, two}, {"a0", false, one}, {"b", false, one}, {"b.c", true, one}}
	mixed := slices.Clone(es)
	slices.Reverse(mixed)
	b, err := gitstore.EncodeTree(mixed)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gitstore.DecodeTree(b)
	if err != nil || !reflect.DeepEqual(got, es) {
		t.Errorf("DecodeTree(EncodeTree) = %v, %v, want %v", got, err, es)
	}
	if b, err := gitstore.EncodeTree(nil); len(b) != 0 || err != nil {
		t.Errorf("EncodeTree of nothing = %q, %v", b, err)
	}
}

func TestTreeRefuses(t *testing.T) {
	t.Parallel()
	for _, es := range [][]gitstore.TreeEntry{
		{{"", false, one}}, {{".", true, one}}, {{"..", true, one}}, {{".git", true, one}}, {{".GiT", false, one}},
		{{"a/b", false, one}}, {{"a\x00b", false, one}}, {{"a", false, pack.ID{}}},
		{{"a", false, one}, {"a", false, two}}, {{"a", false, one}, {"a", true, two}},
		{{"a", false, one}, {"a.b", false, one}, {"a", true, two}},
	} {
		if _, err := gitstore.EncodeTree(es); !errors.Is(err, gitstore.ErrTree) {
			t.Errorf("EncodeTree(%v): %v, want ErrTree", es, err)
		}
	}
	id := string(bytes.Repeat([]byte{1}, 20))
	for _, s := range []string{"100755 a\x00" + id, "120000 a\x00" + id, "160000 a\x00" + id, "040000 a\x00" + id, "100644 a", "100644 a\x00" + id[:19],
		"100644 \x00" + id, "40000 ..\x00" + id, "100644 .git\x00" + id, "100644 a/b\x00" + id, "100644 b\x00" + id + "100644 a\x00" + id,
		"100644 a\x00" + id + "100644 a\x00" + id, "40000 a\x00" + id + "100644 a.b\x00" + id, "100644 a\x00" + strings.Repeat("\x00", 20),
		"100644 a\x00" + id + "100644 a.b\x00" + id + "40000 a\x00" + id, "garbage", "\n"} {
		if es, err := gitstore.DecodeTree([]byte(s)); !errors.Is(err, gitstore.ErrTree) {
			t.Errorf("DecodeTree(%q) = %v, %v, want ErrTree", s, es, err)
		}
	}
}

func FuzzDecodeTree(f *testing.F) {
	b, err := gitstore.EncodeTree([]gitstore.TreeEntry{{"a-b", false, one}, {"a", true, two}, {"a0", false, three}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		es, err := gitstore.DecodeTree(b)
		if err != nil {
			return
		}
		again, err := gitstore.EncodeTree(es)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("EncodeTree(DecodeTree(%q)) = %q, %v", b, again, err)
		}
	})
}

func sampleCommit() gitstore.Commit {
	return gitstore.Commit{Tree: one, Parent: two, Name: "Ada Lovelace", Email: "ada@example.org", Time: time.Unix(1700000000, 0).UTC(),
		Message: "compress abc123:v003  100.2k -> 3.3k tokens\n\nMem-Op: compress\n"}
}

const signature = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ\n\nabc=\n-----END SSH SIGNATURE-----\n"

func TestCommit(t *testing.T) {
	t.Parallel()
	c := sampleCommit()
	const want = "tree 0100000000000000000000000000000000000000\nparent 0200000000000000000000000000000000000000\n" +
		"author Ada Lovelace <ada@example.org> 1700000000 +0000\ncommitter Ada Lovelace <ada@example.org> 1700000000 +0000\n" +
		"\ncompress abc123:v003  100.2k -> 3.3k tokens\n\nMem-Op: compress\n"
	if b, err := gitstore.EncodeCommit(c); string(b) != want || err != nil {
		t.Errorf("EncodeCommit = %q, %v, want %q", b, err, want)
	}
	signed := c
	signed.Signature = signature
	for _, c := range []gitstore.Commit{c, signed, {Tree: one, Name: "x", Time: time.Unix(0, 0).UTC()}} {
		b, err := gitstore.EncodeCommit(c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := gitstore.DecodeCommit(b)
		if err != nil || got != c {
			t.Errorf("DecodeCommit(%q) = %+v, %v, want %+v", b, got, err, c)
		}
	}
	if got := string(signed.Payload()); got != want {
		t.Errorf("Payload = %q, want %q", got, want)
	}
	short := signed
	short.Signature = strings.TrimSuffix(signature, "\n")
	a, err := gitstore.EncodeCommit(signed)
	b, err2 := gitstore.EncodeCommit(short)
	if !bytes.Equal(a, b) || err != nil || err2 != nil {
		t.Errorf("EncodeCommit with and without the last newline of the signature: %q, %v, %q, %v", a, err, b, err2)
	}
}

func TestCommitRefuses(t *testing.T) {
	t.Parallel()
	for i, change := range []func(*gitstore.Commit){
		func(c *gitstore.Commit) { c.Tree = pack.ID{} },
		func(c *gitstore.Commit) { c.Name = "" },
		func(c *gitstore.Commit) { c.Name = "a <b>" },
		func(c *gitstore.Commit) { c.Name = "a\nparent x" },
		func(c *gitstore.Commit) { c.Name = " a" },
		func(c *gitstore.Commit) { c.Email = "a>\n" },
		func(c *gitstore.Commit) { c.Time = time.Unix(-1, 0) },
		func(c *gitstore.Commit) { c.Time = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		func(c *gitstore.Commit) { c.Message = "a\x00b" },
		func(c *gitstore.Commit) { c.Signature = "a\x00b" },
	} {
		c := sampleCommit()
		change(&c)
		if _, err := gitstore.EncodeCommit(c); !errors.Is(err, gitstore.ErrCommit) {
			t.Errorf("case %d: EncodeCommit(%+v): %v, want ErrCommit", i, c, err)
		}
	}
	good, err := gitstore.EncodeCommit(sampleCommit())
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"tree ", "tre "}, {"tree 01", "tree zz"}, {"tree 01", "tree 1"}, {"author", "nobody"}, {"committer", "nobody"},
		{"parent 02", "parent 00"}, {"\nauthor", "\nparent 0300000000000000000000000000000000000000\nauthor"}, {"\nauthor", "\ntree 0300000000000000000000000000000000000000\nauthor"},
		{" <ada", " ada"}, {"1700000000 +0000\nc", "+0000\nc"}, {"1700000000 +0000\nc", "-5 +0000\nc"}, {"1700000000 +0000\nc", "99999999999999 +0000\nc"},
		{"+0000", "UTC"}, {"\n\n", "\n"}, {"tree", " tree"}} {
		b := strings.Replace(string(good), change[0], change[1], 1)
		if change[0] == "\n\n" {
			b = b[:strings.Index(b, "compress")]
		}
		if c, err := gitstore.DecodeCommit([]byte(b)); !errors.Is(err, gitstore.ErrCommit) {
			t.Errorf("DecodeCommit(%q) = %+v, %v, want ErrCommit", b, c, err)
		}
	}
}

// TestForeignCommit refuses commits in the forms of other programs: with other headers, time zones and committers.
func TestForeignCommit(t *testing.T) {
	t.Parallel()
	good, err := gitstore.EncodeCommit(sampleCommit())
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{"1700000000 +0000\nc", "1700000000 +0130\nc"}, {"committer Ada", "committer Bea"}, {"\n\n", "\nencoding latin1\n\n"},
		{"\n\n", "\nmergetag object x\n type commit\n \n\n"}, {"\nauthor", "\nparent 0300000000000000000000000000000000000000\nauthor"}, {"tree 01", "tree 0A"},
		{"\n\n", "\ngpgsig \n\n"}, {"Ada Lovelace <ada", "Ada Lovelace  <ada"}, {"1700000000", "01700000000"}} {
		b := strings.Replace(string(good), change[0], change[1], 1)
		if c, err := gitstore.DecodeCommit([]byte(b)); !errors.Is(err, gitstore.ErrCommit) {
			t.Errorf("DecodeCommit(%q) = %+v, %v, want ErrCommit", b, c, err)
		}
	}
}

func FuzzDecodeCommit(f *testing.F) {
	c := sampleCommit()
	for _, c.Signature = range []string{"", signature} {
		b, err := gitstore.EncodeCommit(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("tree 0100000000000000000000000000000000000000\nauthor A <a@b> 1 +0130\ncommitter C <c@d> 1 -0800\nx y\n z\n\nm"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := gitstore.DecodeCommit(b)
		if err != nil {
			return
		}
		if c.Signature == "" && !bytes.Equal(c.Payload(), b) {
			t.Errorf("Payload of the unsigned %q = %q", b, c.Payload())
		}
		if again, err := gitstore.EncodeCommit(c); err != nil || !bytes.Equal(again, b) {
			t.Errorf("EncodeCommit(DecodeCommit(%q)) = %q, %v", b, again, err)
		}
	})
}

// The other way round: what we can write is read back as it was.
func FuzzEncodeCommit(f *testing.F) {
	f.Add("Ada", "ada@example.org", int64(1), "message\n", signature)
	f.Fuzz(func(t *testing.T, name, email string, at int64, message, sig string) {
		c := gitstore.Commit{Tree: one, Name: name, Email: email, Time: time.Unix(at, 0).UTC(), Message: message, Signature: sig}
		b, err := gitstore.EncodeCommit(c)
		if err != nil {
			return
		}
		if sig != "" && !strings.HasSuffix(sig, "\n") {
			c.Signature += "\n"
		}
		if got, err := gitstore.DecodeCommit(b); err != nil || got != c {
			t.Errorf("DecodeCommit(%q) = %+v, %v, want %+v", b, got, err, c)
		}
	})
}
