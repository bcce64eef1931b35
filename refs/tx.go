package refs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// A Tx is a snapshot of the union of a project's lanes and, inside an [Repo.Update], what is staged on
// top of this device's lane. It must not be used after its function returned, nor from several
// goroutines at once, but for Get.
type Tx struct {
	r        *Repo
	project  Project
	lanes    []*lane // this device's first, then by device id
	write    bool
	anew     bool   // lanes that were lost begin anew
	stage    *Stage // of memory.git, made when first needed
	patches  *Stage // of originals.git
	origin   *lane  // this device's lane in originals.git, nil until needed
	lamport  uint64
	added    [][]byte // the records, encoded
	trailers []string
	subject  string // instead of the message of Update, if fn said one
	ctx      context.Context
}

// Project returns the project whose lanes these are.
func (tx *Tx) Project() Project { return tx.project }

// A Tip is the newest commit of a lane.
type Tip struct{ Device, Commit string }

// Tips returns the tips of the lanes that have a commit, sorted by device.
func (tx *Tx) Tips() []Tip {
	var tips []Tip
	for _, l := range tx.lanes {
		if !l.tip.IsZero() {
			tips = append(tips, Tip{l.device, l.tip.String()})
		}
	}
	slices.SortFunc(tips, func(a, b Tip) int { return strings.Compare(a.Device, b.Device) })
	return tips
}

// Commit returns the commit that this device's lane is at, 40 hexadecimal digits: after an [Repo.Update], what
// that made. It is empty if the lane has none.
func (tx *Tx) Commit() string {
	if tx.own().tip.IsZero() {
		return ""
	}
	return tx.own().tip.String()
}

// Get opens an object of any of the lanes: a blob, or a point of growth of a stream. The reader fails with
// [objects.ErrCorrupt], at the latest at its end, if the bytes do not match h. The error wraps
// [objects.ErrNotFound] if there is no such object.
func (tx *Tx) Get(_ context.Context, h objects.Hash) (io.ReadCloser, error) {
	for _, l := range tx.lanes {
		rc, err := l.open(h)
		if !errors.Is(err, objects.ErrNotFound) {
			return rc, err
		}
	}
	return nil, fmt.Errorf("read %s: %w", h, objects.ErrNotFound)
}

func (l *lane) open(h objects.Hash) (io.ReadCloser, error) {
	b, err := l.read(objectPath(h)...)
	if err == nil {
		if objects.Sum(b) != h {
			return nil, fmt.Errorf("read %s: %w", h, objects.ErrCorrupt)
		}
		return io.NopCloser(bytes.NewReader(b)), nil
	}
	if !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	p, err := l.point(h)
	if err != nil {
		return nil, err
	}
	return &content{stream.NewReader(p.Segments, l.blobs(p.Stream)), h}, nil
}

// content reads an object from a stream, whose reader checks every byte against the hashes in the
// segments; what is left to check is that the last of them is the name of the object.
type content struct {
	*stream.Reader
	want objects.Hash
}

func (c *content) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if err == io.EOF {
		return n, c.check()
	}
	return n, err
}

func (c *content) WriteTo(w io.Writer) (int64, error) {
	n, err := c.Reader.WriteTo(w)
	if err != nil {
		return n, err
	}
	if err := c.check(); err != io.EOF {
		return n, err
	}
	return n, nil
}

func (c *content) check() error {
	if c.Sum() != c.want {
		return fmt.Errorf("read %s: %w", c.want, objects.ErrCorrupt)
	}
	return io.EOF
}

// Segments returns how many segments of a stream this device has stored.
func (tx *Tx) Segments(name objects.Hash) (int, error) { return tx.lanes[0].segments(name) }

// All yields the names of all objects of the lanes in increasing order.
func (tx *Tx) All(context.Context) iter.Seq2[objects.Hash, error] {
	return func(yield func(objects.Hash, error) bool) {
		names, err := tx.names("objects", "points")
		if err != nil {
			yield(objects.Hash{}, err)
			return
		}
		for _, h := range names {
			if !yield(h, nil) {
				return
			}
		}
	}
}

// names returns the sorted names of all that lies in some directories of the lanes.
func (tx *Tx) names(dirs ...string) ([]objects.Hash, error) {
	var names []objects.Hash
	for _, l := range tx.lanes {
		for _, dir := range dirs {
			e, ok, err := l.find(dir)
			if err != nil {
				return nil, err
			}
			if !ok || e.dir == nil {
				continue
			}
			err = e.dir.walk(l.git, nil, func(path []string, _ pack.ID) error {
				h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
				names = append(names, h)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("list %s of %s: %w", dir, l.device, err)
			}
		}
	}
	slices.SortFunc(names, objects.Hash.Compare)
	return slices.Compact(names), nil
}

// RecordIDs returns the sorted names of all records of the lanes.
func (tx *Tx) RecordIDs() ([]objects.Hash, error) { return tx.names("records") }

// Record returns one record of any lane.
func (tx *Tx) Record(id objects.Hash) (Record, error) {
	for _, l := range tx.lanes {
		b, err := l.read(recordPath(id)...)
		if errors.Is(err, objects.ErrNotFound) {
			continue
		}
		if err != nil {
			return Record{}, err
		}
		return checkRecord(b, id)
	}
	return Record{}, fmt.Errorf("record %s: %w", id, objects.ErrNotFound)
}

func checkRecord(b []byte, id objects.Hash) (Record, error) {
	if objects.Sum(b) != id {
		return Record{}, fmt.Errorf("record %s: %w", id, objects.ErrCorrupt)
	}
	r, err := DecodeRecord(b)
	if err != nil {
		return r, fmt.Errorf("record %s: %w", id, err)
	}
	return r, nil
}

// Records returns the records of all lanes that were not there when the lanes had the given tips, in
// the order of [Record.Compare]. Without tips it returns all. A tip that a lane does not know (because
// it was rewritten) counts as none. Records of other devices that say nothing ([Options.Body]) are left out.
func (tx *Tx) Records(ctx context.Context, since []Tip) ([]Record, error) {
	var out []Record
	for _, l := range tx.lanes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var err error
		from := len(out)
		if out, err = l.recordsSince(out, since); err != nil {
			return nil, err
		}
		if l.device != tx.r.device.ID { // the bodies of its own were checked when they were written
			out = out[:from+len(tx.r.sane(out[from:]))]
		}
	}
	slices.SortFunc(out, Record.Compare)
	return slices.CompactFunc(out, func(a, b Record) bool { return a.ID == b.ID }), nil
}

// sane returns the records that say something, in the same array.
func (r *Repo) sane(all []Record) []Record {
	return slices.DeleteFunc(all, func(rec Record) bool { return rec.Lamport > maxLamport || r.opts.body(rec) != nil })
}

func (l *lane) recordsSince(out []Record, since []Tip) ([]Record, error) {
	e, ok, err := l.find("records")
	if err != nil || !ok || e.dir == nil {
		return out, err
	}
	var old *node
	for _, t := range since {
		if t.Device != l.device {
			continue
		}
		if old, err = l.recordsAt(t.Commit); err != nil {
			return nil, err
		}
	}
	err = e.dir.walkNew(l.git, old, nil, func(path []string, blob pack.ID) error {
		id, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
		if err != nil {
			return err
		}
		b, err := l.git.Get(blob, pack.Blob)
		if err != nil {
			return err
		}
		r, err := checkRecord(b, id)
		out = append(out, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("records of %s: %w", l.device, err)
	}
	return out, nil
}

// recordsAt returns the directory of records at a commit, nil if the commit is not there any more.
func (l *lane) recordsAt(commit string) (*node, error) {
	id, err := pack.ParseID(commit)
	if err != nil {
		return nil, err
	}
	was, err := laneAt(l.git, id, l.device)
	if errors.Is(err, pack.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e, _, err := was.find("records")
	return e.dir, err
}

// Follows reports whether every lane still goes on from the given tips: whether what was known at those
// tips is still true, and [Tx.Records] since them is all there is to learn.
func (tx *Tx) Follows(tips []Tip) (bool, error) {
	for _, t := range tips {
		i := slices.IndexFunc(tx.lanes, func(l *lane) bool { return l.device == t.Device })
		if i < 0 {
			return false, nil
		}
		ok, err := tx.lanes[i].follows(t.Commit)
		if err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (l *lane) follows(commit string) (bool, error) {
	for id := l.tip; !id.IsZero(); {
		if id.String() == commit {
			return true, nil
		}
		c, err := l.git.Commit(id)
		if err != nil {
			return false, err
		}
		id = c.Parent
	}
	return false, nil
}

// Find returns the names of the objects that begin with the given hexadecimal digits, sorted. A full name
// costs one look-up a level, a prefix as much of the tree as it leaves open.
func (tx *Tx) Find(prefix string) ([]objects.Hash, error) {
	if len(prefix) < 4 || len(prefix) > 2*objects.Size || !isHex(prefix) {
		return nil, nil
	}
	var names []objects.Hash
	for _, l := range tx.lanes {
		for _, dir := range []string{"objects", "points"} {
			e, ok, err := l.find(dir, prefix[:1], prefix[1:2], prefix[2:3], prefix[3:4])
			if err != nil {
				return nil, err
			}
			if !ok || e.dir == nil {
				continue
			}
			if err := e.dir.load(l.git); err != nil {
				return nil, err
			}
			for _, f := range e.dir.entries {
				if !strings.HasPrefix(f.name, prefix[4:]) {
					continue
				}
				h, err := objects.ParseHash(prefix[:4] + f.name)
				if err != nil {
					return nil, err
				}
				names = append(names, h)
			}
		}
	}
	slices.SortFunc(names, objects.Hash.Compare)
	return slices.Compact(names), nil
}
