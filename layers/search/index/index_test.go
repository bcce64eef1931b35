package index

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func always() bool { return true }

// planOf makes a plan of sessions, one document for each text.
func planOf(key string, texts map[string][]string) Plan {
	p := Plan{Key: key}
	ids := make([]string, 0, len(texts))
	for id := range texts {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for i, id := range ids {
		p.Sessions = append(p.Sessions, Session{ID: id, Title: "title of " + id, Branch: "main", First: 1, Last: 2, Topics: []string{"t"}, Marks: []Mark{{1, 80}}})
		p.Sources = append(p.Sources, Source{Name: "s/" + id, Version: strings.Join(texts[id], "|"), Session: i, Docs: func(add func(Doc)) error {
			for n, t := range texts[id] {
				add(Doc{N: n + 1, Class: User, Time: int64(100 + n), ID: fmt.Sprintf("00000000-0000-4000-8000-%012d", n), File: "a/b.go", Text: t})
			}
			return nil
		}})
	}
	return p
}

// found returns the texts that have a term, in the live spans of an index.
func found(t *testing.T, dir, term string) (out []string) {
	t.Helper()
	r, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err = lookUp(r, term)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func lookUp(r *Reader, term string) (out []string, err error) {
	for _, s := range r.Spans {
		seg := r.Open[s.Segment]
		post, err := seg.Postings(term)
		if err != nil {
			return nil, err
		}
		for doc, n, ok := post.Next(); ok; doc, n, ok = post.Next() {
			if doc < s.First || doc >= s.First+s.Count {
				continue
			}
			d, err := seg.Doc(doc)
			if err != nil {
				return nil, err
			}
			out = append(out, fmt.Sprintf("%s#%d %s x%d", r.Sessions[s.Session].ID, d.N, d.Text, n))
		}
	}
	slices.Sort(out)
	return out, nil
}

func TestTemporary(t *testing.T) {
	t.Parallel()
	r, err := Temporary(planOf("2", map[string][]string{"a": {"red fox"}, "d": nil}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := lookUp(r, "fox")
	if want := []string{"a#1 red fox x1"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("it has %q, %v; want %q", got, err, want)
	}
	dir := r.temporary
	if r.Close(); dir == "" || !errors.Is(exists(dir), fs.ErrNotExist) {
		t.Errorf("%q is left", dir)
	}
}

func exists(path string) error {
	_, err := os.Stat(path)
	return err
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Update(dir, planOf("1", map[string][]string{"a": {"red fox", "red red hen"}, "b": {"blue fox"}}), always); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir, "red"); !slices.Equal(got, []string{"a#1 red fox x1", "a#2 red red hen x2"}) {
		t.Errorf("red: %q", got)
	}
	old, err := Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	read := 0
	p := planOf("2", map[string][]string{"a": {"red fox", "red red hen", "red owl"}, "c": {"fox"}})
	docs := p.Sources[0].Docs
	p.Sources[0].Docs = func(add func(Doc)) error { read++; return docs(add) }
	if err := Update(dir, p, always); err != nil {
		t.Fatal(err)
	}
	if got := found(t, dir, "fox"); !slices.Equal(got, []string{"a#1 red fox x1", "c#1 fox x1"}) || read != 1 {
		t.Errorf("fox: %q, read %d times", got, read)
	}
	if got, err := lookUp(old, "fox"); err != nil || !slices.Equal(got, []string{"a#1 red fox x1", "b#1 blue fox x1"}) {
		t.Errorf("a reader from before: %q, %v", got, err)
	}
	if err := Update(dir, p, always); err != nil || read != 1 {
		t.Errorf("what has not changed was read again: %d, %v", read, err)
	}
}

// TestKeep checks that nothing is written when the directory is not the one that it was.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Update(dir, planOf("1", map[string][]string{"a": {"secret"}}), func() bool { return false }); !errors.Is(err, ErrBusy) {
		t.Errorf("Update: %v, want %v", err, ErrBusy)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != "lock" {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// TestGrowing checks that an index that grows by many updates has few segments and finds what one that was built at once finds.
func TestGrowing(t *testing.T) {
	t.Parallel()
	dir, whole := t.TempDir(), t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	texts := map[string][]string{}
	for i := range 60 {
		id := fmt.Sprintf("s%02d", rng.IntN(40))
		texts[id] = append(slices.Clone(texts[id]), fmt.Sprintf("word%d common step %d", rng.IntN(20), i))
		if rng.IntN(6) == 0 {
			delete(texts, fmt.Sprintf("s%02d", rng.IntN(40)))
		}
		if err := Update(dir, planOf(fmt.Sprint(i), texts), always); err != nil {
			t.Fatal(err)
		}
	}
	if err := Update(whole, planOf("x", texts), always); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		term := fmt.Sprintf("word%d", i)
		if got, want := found(t, dir, term), found(t, whole, term); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", term, got, want)
		}
	}
	h, err := ReadHead(dir)
	if err != nil || len(h.Segments) > maxSegments+1 {
		t.Errorf("%d segments, %v", len(h.Segments), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != len(h.Segments)+2 {
		t.Errorf("files %v, %v", files, err)
	}
}

// TestDamage flips each byte of an index and cuts it short everywhere: what is read is either what was written or an error.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := Update(dir, planOf("1", map[string][]string{"a": {"red fox", "red red hen"}, "b": {"blue fox"}}), always); err != nil {
		t.Fatal(err)
	}
	want := found(t, dir, "red")
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			for _, bad := range [][]byte{b[:i], slices.Concat(b[:i], []byte{b[i] ^ 0x41}, b[i+1:])} {
				if err := os.WriteFile(name, bad, 0o600); err != nil {
					t.Fatal(err)
				}
				check(t, dir, want, fmt.Sprintf("%s at %d", filepath.Base(name), i))
			}
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func check(t *testing.T, dir string, want []string, what string) {
	t.Helper()
	r, err := Open(dir, nil)
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", what, err)
		}
		return
	}
	defer r.Close()
	got, err := lookUp(r, "red")
	if err != nil && !errors.Is(err, ErrDamaged) {
		t.Errorf("%s: %v", what, err)
	}
	if err == nil && !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func FuzzDoc(f *testing.F) {
	f.Add(appendDoc(nil, Doc{N: 3, Class: Tool, Time: 9, ID: "00000000-0000-4000-8000-000000000001", Text: "x"}, 4))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &decoder{b: b}
		x := d.doc(4)
		if d.failed {
			return
		}
		again := &decoder{b: appendDoc(nil, x, 4)}
		if y := again.doc(4); again.failed || y != x {
			t.Errorf("%+v, want %+v", y, x)
		}
	})
}

// TestIncomplete checks that a source with lost documents is read again by each update until it is complete.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := planOf("1", map[string][]string{"a": {"red fox", "red hen"}, "b": {"blue fox"}})
	whole := p.Sources[0].Docs
	p.Sources[0].Docs = func(add func(Doc)) error {
		add(Doc{N: 1, Class: User, Text: "red fox"})
		return fmt.Errorf("read: %w", ErrIncomplete)
	}
	r, err := Temporary(p)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := lookUp(r, "red"); err != nil || len(got) != 1 {
		t.Errorf("temporary: %q, %v", got, err)
	}
	for range 2 {
		if err := Update(dir, p, always); err != nil {
			t.Fatal(err)
		}
		if h, err := ReadHead(dir); err != nil || h.Key != "1" {
			t.Errorf("key %q, %v; want 1", h.Key, err)
		}
		if got := found(t, dir, "fox"); len(got) != 2 {
			t.Errorf("fox: %q", got)
		}
	}
	p.Sources[0].Docs = whole
	if err := Update(dir, p, always); err != nil {
		t.Fatal(err)
	}
	if got, want := found(t, dir, "red"), []string{"a#1 red fox x1", "a#2 red hen x1"}; !slices.Equal(got, want) {
		t.Errorf("red: %q, want %q", got, want)
	}
	if h, err := ReadHead(dir); err != nil || h.Key != "1" {
		t.Errorf("key %q, %v; want 1", h.Key, err)
	}
}
