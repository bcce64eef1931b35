package lane

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// A Snapshot is a lane at one commit. The commit and the directories are read when they are first needed.
type Snapshot struct {
	Device   string
	Tip      pack.ID // zero: no commit yet
	Replaces pack.ID // the former tip of a restarted lane; else zero
	Git      *gitstore.Repo

	loading sync.Once
	err     error           // of Load
	Commit  gitstore.Commit // the tip
	Root    *Dir            // its root directory; valid after Load
}

// Open loads the lane of ref.
func Open(g *gitstore.Repo, ref, device string) (*Snapshot, error) {
	tip, err := g.Ref(ref)
	if err != nil {
		return nil, err
	}
	return At(g, tip, device)
}

// New returns the lane at the commit tip without reading it; a zero tip is an empty lane.
func New(g *gitstore.Repo, tip pack.ID, device string) *Snapshot {
	return &Snapshot{Device: device, Tip: tip, Root: &Dir{}, Git: g}
}

// Restarted returns an empty lane that will replace the lane with the tip was.
func Restarted(g *gitstore.Repo, was pack.ID, device string) *Snapshot {
	return &Snapshot{Device: device, Root: &Dir{loaded: true}, Git: g, Replaces: was}
}

// At is [New], loaded.
func At(g *gitstore.Repo, tip pack.ID, device string) (*Snapshot, error) {
	l := New(g, tip, device)
	return l, l.Load()
}

// Load reads the tip once. The error wraps [ErrFormat] if the lane has an unknown format.
func (l *Snapshot) Load() error {
	l.loading.Do(func() {
		if l.err = l.readTip(); l.err != nil {
			l.err = fmt.Errorf("lane of %s: %w", l.Device, l.err)
		}
	})
	return l.err
}

func (l *Snapshot) readTip() (err error) {
	if l.Tip.IsZero() {
		return nil
	}
	if l.Commit, err = l.Git.Commit(l.Tip); err != nil {
		return err
	}
	l.Root.ID = l.Commit.Tree
	e, ok, err := l.Root.Find(l.Git, "format")
	switch {
	case err != nil:
		return fmt.Errorf("read format: %w", err)
	case !ok || e.Dir != nil:
		return fmt.Errorf("read format: %w", objects.ErrNotFound)
	case e.ID == pack.Name(pack.Blob, []byte(Format)):
		return nil // the id suffices: the blob itself is in the oldest pack
	}
	b, err := l.Git.Get(e.ID, pack.Blob)
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	return fmt.Errorf("format %q: %w", strings.TrimSpace(string(b)), ErrFormat)
}

// Find returns the entry at path, or ok == false if there is none.
func (l *Snapshot) Find(path ...string) (e DirEntry, ok bool, err error) {
	if err := l.Load(); err != nil {
		return DirEntry{}, false, err
	}
	return l.Root.Find(l.Git, path...)
}

// Read returns the blob at path; the error wraps objects.ErrNotFound if there is none.
func (l *Snapshot) Read(path ...string) ([]byte, error) {
	e, ok, err := l.Find(path...)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), err)
	}
	if !ok || e.Dir != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), objects.ErrNotFound)
	}
	b, err := l.Git.Get(e.ID, pack.Blob)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.Join(path, "/"), err)
	}
	return b, nil
}

// A Point is a growth point: the first Segments segments of a stream are the content of an object.
type Point struct {
	Stream   objects.Hash `json:"stream"`
	Segments int          `json:"segments"`
}

// Point returns the growth point of an object. The error wraps [objects.ErrNotFound] if there is none.
func (l *Snapshot) Point(h objects.Hash) (Point, error) {
	var p Point
	b, err := l.Read(PointPath(h)...)
	if err != nil {
		return p, err
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("point %s: %w: %w", h, err, objects.ErrCorrupt)
	}
	return p, nil
}

// Blobs returns a function that reads the segments of a stream. It is not safe for concurrent use.
func (l *Snapshot) Blobs(name objects.Hash) stream.Blobs {
	return func(i int) ([]byte, error) {
		b, err := l.Read(SegmentPath(name, i)...)
		if errors.Is(err, objects.ErrNotFound) {
			return nil, fmt.Errorf("%w: %w", err, objects.ErrCorrupt)
		}
		return b, err
	}
}

// Resolve is [Snapshot.Blobs] for the first n segments. It reads all directories first, so the returned function is
// safe for concurrent use.
func (l *Snapshot) Resolve(name objects.Hash, n int) (stream.Blobs, error) {
	ids, err := l.SegmentIDs(name, n)
	return func(i int) ([]byte, error) { return l.Git.Get(ids[i], pack.Blob) }, err
}

// SegmentIDs returns the blobs of the first n segments of a stream.
func (l *Snapshot) SegmentIDs(name objects.Hash, n int) ([]pack.ID, error) {
	ids := make([]pack.ID, n)
	for i := range ids {
		e, ok, err := l.Find(SegmentPath(name, i)...)
		if err != nil {
			return nil, err
		}
		if !ok || e.Dir != nil {
			return nil, fmt.Errorf("stream %s: segment %d is missing: %w", name.Short(), i, objects.ErrCorrupt)
		}
		ids[i] = e.ID
	}
	return ids, nil
}

// Segments counts the segments of a stream in the lane.
func (l *Snapshot) Segments(name objects.Hash) (int, error) {
	e, ok, err := l.Find(StreamPath(name)...)
	if err != nil || !ok || e.Dir == nil {
		return 0, err
	}
	if err := e.Dir.load(l.Git); err != nil {
		return 0, err
	}
	if len(e.Dir.entries) == 0 {
		return 0, nil
	}
	last := e.Dir.entries[len(e.Dir.entries)-1]
	n, err := strconv.Atoi(strings.TrimPrefix(last.name, "s"))
	if err != nil || last.Dir == nil {
		return 0, fmt.Errorf("stream %s: %w", name, objects.ErrCorrupt)
	}
	if err := last.Dir.load(l.Git); err != nil {
		return 0, err
	}
	return n*SegmentsPerDir + len(last.Dir.entries), nil
}

// A Tip is the newest commit of a lane.
type Tip struct{ Device, Commit string }

// Open opens the object h: a blob, or the content up to a growth point. Reading fails with [objects.ErrCorrupt] if the
// bytes do not match h.
func (l *Snapshot) Open(h objects.Hash) (io.ReadCloser, error) {
	b, err := l.Read(ObjectPath(h)...)
	if err == nil {
		if objects.Sum(b) != h {
			return nil, fmt.Errorf("read %s: %w", h, objects.ErrCorrupt)
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	if !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	p, err := l.Point(h)
	if err != nil {
		return nil, err
	}
	return &objectReader{stream.NewReader(p.Segments, l.Blobs(p.Stream)), h}, nil
}

// objectReader reads an object from a stream. The stream's reader compares every byte with the hashes in the segments;
// objectReader checks that the last of these is the name of the object.
type objectReader struct {
	*stream.Reader
	name objects.Hash
}

func (c *objectReader) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF && c.Sum() != c.name {
		err = fmt.Errorf("read %s: %w", c.name, objects.ErrCorrupt)
	}
	return n, err
}

// Close does nothing; a stream has no open files.
func (c *objectReader) Close() error { return nil }

// RecordsSince appends to out the records that the lane has added since its tip in since.
func (l *Snapshot) RecordsSince(out []Record, since []Tip) ([]Record, error) {
	e, ok, err := l.Find("records")
	if err != nil || !ok || e.Dir == nil {
		return out, err
	}
	var old *Dir
	for _, t := range since {
		if t.Device != l.Device {
			continue
		}
		if old, err = l.recordsAt(t.Commit); err != nil {
			return nil, err
		}
	}
	err = e.Dir.WalkNew(l.Git, old, nil, func(path []string, blob pack.ID) error {
		id, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
		if err != nil {
			return err
		}
		b, err := l.Git.Get(blob, pack.Blob)
		if err != nil {
			return err
		}
		r, err := CheckRecord(b, id)
		out = append(out, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("records of %s: %w", l.Device, err)
	}
	return out, nil
}

// recordsAt returns the directory of records at a commit, nil if the commit does not exist any more.
func (l *Snapshot) recordsAt(commit string) (*Dir, error) {
	id, err := pack.ParseID(commit)
	if err != nil {
		return nil, err
	}
	was, err := At(l.Git, id, l.Device)
	if errors.Is(err, pack.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, _, err := was.Find("records")
	return e.Dir, err
}

// Has reports whether the lane contains an object: a blob or a growth point.
func (l *Snapshot) Has(h objects.Hash) (bool, error) {
	for _, path := range [][]string{ObjectPath(h), PointPath(h)} {
		if _, ok, err := l.Find(path...); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// WithPrefix returns the names in a directory of hashes that start with a prefix of four digits or more.
func (l *Snapshot) WithPrefix(dir, prefix string) (names []objects.Hash, err error) {
	e, ok, err := l.Find(dir, prefix[:1], prefix[1:2], prefix[2:3], prefix[3:4])
	if err != nil || !ok || e.Dir == nil {
		return nil, err
	}
	if err := e.Dir.load(l.Git); err != nil {
		return nil, err
	}
	for _, f := range e.Dir.entries {
		if !strings.HasPrefix(f.name, prefix[4:]) {
			continue
		}
		h, err := objects.ParseHash(prefix[:4] + f.name)
		if err != nil {
			return nil, err
		}
		names = append(names, h)
	}
	return names, nil
}

// Names returns the names in a directory of hashes, in increasing order.
func (l *Snapshot) Names(dir string) (names []objects.Hash, err error) {
	e, ok, err := l.Find(dir)
	if err != nil || !ok || e.Dir == nil {
		return nil, err
	}
	err = e.Dir.Walk(l.Git, nil, func(path []string, _ pack.ID) error {
		h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
		names = append(names, h)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list %s of %s: %w", dir, l.Device, err)
	}
	return names, nil
}

// CheckPoint checks that the name of a growth point is the hash in the head of its last segment.
func (l *Snapshot) CheckPoint(h objects.Hash) error {
	p, err := l.Point(h)
	if err != nil {
		return err
	}
	b, err := l.Blobs(p.Stream)(p.Segments - 1)
	if err != nil {
		return err
	}
	head, _, err := stream.ParseHead(b)
	if err == nil && head.Sum != h {
		err = objects.ErrCorrupt
	}
	return err
}
