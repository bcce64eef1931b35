package lane

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

func TestLoadOfAFormat(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	for format, want := range map[string]error{Format: nil, "mem 2\n": ErrFormat, "mem 1": ErrFormat} {
		if _, err := At(g, commit(t, g, pack.ID{}, "", files{"format": format}), "dd"); !errors.Is(err, want) {
			t.Errorf("a lane with the format %q: %v, want %v", format, err, want)
		}
	}
	if _, err := At(g, commit(t, g, pack.ID{}, "", files{"format/a": "mem 1\n"}), "dd"); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("a lane whose format is a directory: %v", err)
	}
	l, err := At(g, pack.ID{1}, "dd")
	if !errors.Is(err, pack.ErrNotFound) || !strings.Contains(err.Error(), "lane of dd") {
		t.Errorf("a missing lane: %v", err)
	}
	if _, _, again := l.Find("format"); !errors.Is(again, pack.ErrNotFound) {
		t.Errorf("a second use of a lane that did not load: %v", again)
	}
}

func TestEmptySnapshot(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	for name, l := range map[string]*Snapshot{"new": New(g, pack.ID{}, "dd"), "restarted": Restarted(g, pack.ID{7}, "dd")} {
		if err := l.Load(); err != nil {
			t.Fatal(err)
		}
		if has, err := l.Has(objects.Sum(nil)); has || err != nil {
			t.Errorf("%s: Has = %v, %v", name, has, err)
		}
		if n, err := l.Segments(objects.Sum(nil)); n != 0 || err != nil {
			t.Errorf("%s: Segments = %v, %v", name, n, err)
		}
		if names, err := l.Names("records"); names != nil || err != nil {
			t.Errorf("%s: Names = %v, %v", name, names, err)
		}
		if rs, err := l.RecordsSince(nil, nil); rs != nil || err != nil {
			t.Errorf("%s: RecordsSince = %v, %v", name, rs, err)
		}
	}
}

// TestOpenOfContent reads a blob and every growth point of a stream whose segments fill more than one directory.
func TestOpenOfContent(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	name := stream.Name("s", 0)
	var parts []string
	for i := range SegmentsPerDir*2 + 3 {
		parts = append(parts, text(i))
	}
	grown, points := segments(t, name, parts...)
	blob := objects.Sum([]byte("blob"))
	tip := commit(t, g, pack.ID{}, "", with(grown, files{strings.Join(ObjectPath(blob), "/"): "blob"}))
	l, err := At(g, tip, "dd")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := l.Segments(name); n != len(parts) || err != nil {
		t.Errorf("Segments = %v, %v; want %d", n, err, len(parts))
	}
	read := func(h objects.Hash, direct bool) string {
		t.Helper()
		rc, err := l.Open(h)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		var r io.Reader = rc
		if !direct {
			r = struct{ io.Reader }{rc} // without WriteTo
		}
		if _, err := io.Copy(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for i, h := range points {
		want := strings.Join(parts[:i+1], "")
		if got := read(h, true); got != want {
			t.Errorf("point %d has %d bytes, want %d", i, len(got), len(want))
		}
		if got := read(h, false); got != want {
			t.Errorf("point %d read in pieces has %d bytes, want %d", i, len(got), len(want))
		}
		if has, err := l.Has(h); !has || err != nil {
			t.Errorf("Has of point %d = %v, %v", i, has, err)
		}
		if err := l.CheckPoint(h); err != nil {
			t.Errorf("CheckPoint of point %d = %v", i, err)
		}
	}
	if got := read(blob, true); got != "blob" {
		t.Errorf("the blob is %q", got)
	}
	if _, err := l.Open(objects.Sum([]byte("other"))); !errors.Is(err, objects.ErrNotFound) {
		t.Errorf("Open of a missing object: %v", err)
	}
}

// TestOpenOfWrongContent stores content under names that it does not have, as a damaged or a forged lane may.
func TestOpenOfWrongContent(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	name := stream.Name("s", 0)
	grown, points := segments(t, name, text(1), text(2), text(3))
	wrong, early, beyond, none, garbled := objects.Sum([]byte("1")), objects.Sum([]byte("2")), objects.Sum([]byte("3")),
		objects.Sum([]byte("4")), objects.Sum([]byte("5"))
	l, err := At(g, commit(t, g, pack.ID{}, "", with(grown, files{
		strings.Join(ObjectPath(wrong), "/"):  "something else",
		strings.Join(PointPath(early), "/"):   string(PointBlob(name, 2)),
		strings.Join(PointPath(beyond), "/"):  string(PointBlob(name, 4)),
		strings.Join(PointPath(none), "/"):    string(PointBlob(stream.Name("other", 0), 1)),
		strings.Join(PointPath(garbled), "/"): "{",
	})), "dd")
	if err != nil {
		t.Fatal(err)
	}
	for what, h := range map[string]objects.Hash{"a blob of another name": wrong, "a point of another name": early,
		"a point beyond the stream": beyond, "a point of no stream": none, "a point that is not JSON": garbled} {
		rc, err := l.Open(h)
		var n int64
		if err == nil {
			n, err = io.Copy(io.Discard, rc)
		}
		if !errors.Is(err, objects.ErrCorrupt) {
			t.Errorf("%s: read %d bytes, %v; want ErrCorrupt", what, n, err)
		}
		if what != "a blob of another name" && l.CheckPoint(h) == nil {
			t.Errorf("%s: CheckPoint accepts it", what)
		}
	}
	if _, err := io.Copy(io.Discard, struct{ io.Reader }{mustOpen(t, l, early)}); !errors.Is(err, objects.ErrCorrupt) {
		t.Errorf("a point of another name, read in pieces: %v", err)
	}
	if ids, err := l.SegmentIDs(name, 4); !errors.Is(err, objects.ErrCorrupt) {
		t.Errorf("SegmentIDs beyond the stream = %v, %v", ids, err)
	}
	blobs, err := l.Resolve(name, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		want, err := l.Read(SegmentPath(name, i)...)
		got, rerr := blobs(i)
		if err != nil || rerr != nil || !bytes.Equal(got, want) {
			t.Errorf("segment %d: %v, %v, equal %v", i, err, rerr, bytes.Equal(got, want))
		}
	}
	// A point whose content is intact stays readable beside the others.
	if _, err := io.Copy(io.Discard, mustOpen(t, l, points[2])); err != nil {
		t.Error(err)
	}
}

func mustOpen(t *testing.T, l *Snapshot, h objects.Hash) io.ReadCloser {
	t.Helper()
	rc, err := l.Open(h)
	if err != nil {
		t.Fatal(err)
	}
	return rc
}

// TestLostSegment loses a segment in the middle: what ends before it can be read, the rest is corrupt and not absent.
func TestLostSegment(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	name := stream.Name("s", 0)
	grown, points := segments(t, name, text(1), text(2), text(3))
	l, err := At(g, commit(t, g, pack.ID{}, "", grown), "dd")
	if err != nil {
		t.Fatal(err)
	}
	lose(t, g, blobOf(t, l, SegmentPath(name, 1)...))
	for i, h := range points {
		rc, err := l.Open(h)
		if err == nil {
			_, err = io.Copy(io.Discard, rc)
		}
		if (err == nil) != (i == 0) {
			t.Errorf("point %d: %v, want an error from the lost segment on", i, err)
		}
		if errors.Is(err, objects.ErrNotFound) {
			t.Errorf("point %d: %v; a reader would take it for an object that was never stored", i, err)
		}
	}
}

// TestRecordsSince reads the records that each commit adds, of a lane that restarts, too.
func TestRecordsSince(t *testing.T) {
	t.Parallel()
	g, d := newGit(t), testDevice(t, 1)
	var tips []pack.ID
	var want []objects.Hash
	for i := range 3 {
		r, fs := record(t, d, uint64(i+1), text(i))
		var parent pack.ID
		if i > 0 {
			parent = tips[i-1]
		}
		tips = append(tips, commit(t, g, parent, "", fs))
		want = append(want, r.ID)
	}
	ids := func(rs []Record) (out []objects.Hash) {
		for _, r := range rs {
			out = append(out, r.ID)
		}
		return out
	}
	l, err := At(g, tips[2], d.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		since []Tip
		want  []objects.Hash
	}{
		{nil, want},
		{[]Tip{{d.ID, tips[0].String()}}, want[1:]},
		{[]Tip{{d.ID, tips[2].String()}}, nil},
		{[]Tip{{strings.Repeat("e", 32), tips[1].String()}}, want}, // of another lane
		{[]Tip{{d.ID, strings.Repeat("f", 40)}}, want},             // a commit that a restart removed
	} {
		got, err := l.RecordsSince(nil, c.since)
		have := ids(got)
		slices.SortFunc(have, objects.Hash.Compare)
		wanted := slices.SortedFunc(slices.Values(c.want), objects.Hash.Compare)
		if err != nil || !slices.Equal(have, wanted) {
			t.Errorf("case %d: %v, %v; want %v", i, have, err, wanted)
		}
	}
	if _, err := l.RecordsSince(nil, []Tip{{d.ID, "short"}}); err == nil {
		t.Error("a malformed commit is accepted")
	}
}

// TestRecordsThatAreNone refuses a record under a wrong name and a file that is no record.
func TestRecordsThatAreNone(t *testing.T) {
	t.Parallel()
	g, d := newGit(t), testDevice(t, 1)
	_, fs := record(t, d, 1, "a")
	other := objects.Sum([]byte("other"))
	for what, fs := range map[string]files{
		"a wrong name":      {strings.Join(RecordPath(other), "/"): slicesOf(fs)[0]},
		"no hash as a name": {"records/a/b/c/d/ef.json": slicesOf(fs)[0]},
		"no record":         {strings.Join(RecordPath(objects.Sum([]byte("x"))), "/"): "x"},
	} {
		l, err := At(g, commit(t, g, pack.ID{}, "", fs), d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if rs, err := l.RecordsSince(nil, nil); err == nil || !strings.Contains(err.Error(), "records of "+d.ID) {
			t.Errorf("%s: %v, %v; want an error with the device", what, rs, err)
		}
	}
}

// slicesOf returns the contents of files.
func slicesOf(fs files) (out []string) {
	for _, c := range fs {
		out = append(out, c)
	}
	return out
}

func TestNamesWithPrefix(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	fs := files{}
	var all []objects.Hash
	for i := range 40 {
		b := text(i)
		h := objects.Sum([]byte(b))
		fs[strings.Join(ObjectPath(h), "/")] = b
		all = append(all, h)
	}
	slices.SortFunc(all, objects.Hash.Compare)
	l, err := At(g, commit(t, g, pack.ID{}, "", fs), "dd")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := l.Names("objects"); err != nil || !slices.Equal(got, all) {
		t.Errorf("Names = %d names, %v; want %d in increasing order", len(got), err, len(all))
	}
	for _, digits := range []int{4, 5, 63, 64} {
		for _, h := range all[:10] {
			if got, err := l.WithPrefix("objects", h.String()[:digits]); err != nil || !slices.Contains(got, h) {
				t.Errorf("WithPrefix of %d digits of %s = %v, %v", digits, h, got, err)
			}
		}
	}
	if got, err := l.WithPrefix("objects", all[0].String()[:5]+"!"); err != nil || got != nil {
		t.Errorf("WithPrefix of what is no hash = %v, %v", got, err)
	}
	if got, err := l.WithPrefix("records", "abcd"); err != nil || got != nil {
		t.Errorf("WithPrefix in a missing directory = %v, %v", got, err)
	}
	bad := commit(t, g, pack.ID{}, "", files{"objects/a/b/c/d/short": ""})
	if l, err = At(g, bad, "dd"); err != nil {
		t.Fatal(err)
	}
	if got, err := l.Names("objects"); err == nil {
		t.Errorf("Names of a lane with a malformed name = %v", got)
	}
	if got, err := l.WithPrefix("objects", "abcd"); err == nil {
		t.Errorf("WithPrefix of a lane with a malformed name = %v", got)
	}
}

func TestReadOfADirectory(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	l, err := At(g, commit(t, g, pack.ID{}, "", files{"a/b": "c"}), "dd")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"a", "a/b/c", "x"} {
		if b, err := l.Read(strings.Split(path, "/")...); !errors.Is(err, objects.ErrNotFound) || !strings.Contains(err.Error(), path) {
			t.Errorf("Read(%s) = %q, %v; want ErrNotFound with the path", path, b, err)
		}
	}
	if b, err := l.Read("a", "b"); err != nil || string(b) != "c" {
		t.Errorf("Read(a/b) = %q, %v", b, err)
	}
	lose(t, g, blobOf(t, l, "a", "b"))
	if _, err := l.Read("a", "b"); err == nil || errors.Is(err, objects.ErrNotFound) {
		t.Errorf("Read of a lost blob: %v; want an error that is not ErrNotFound", err)
	}
}
