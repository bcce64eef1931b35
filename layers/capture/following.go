package capture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// ErrChanging reports that a file was rewritten while it was read. A file that only grows causes no error: the next
// capture reads the new bytes.
var ErrChanging = errors.New("the file changed while it was read")

// A source is read more than once if its first cuts are in what is new of it. Nothing of that is taken for true
// unless all have read the same.

// Exact returns the hash of the exact bytes that were captured: those up to end and the tail. read has hashed
// those that the cleaner was given, behind the place at, and if at has a hash of what is before it, that too.
func (c *Capture) Exact(at originals.Place, end int64, cuts bool, read *objects.Hasher) (objects.Hash, error) {
	var whole *objects.Hasher
	switch {
	case !cuts && !at.Cuts: // the clean bytes are the exact ones
		whole = at.Clean.Hash.Clone()
	case at.Exact != nil:
		whole = read.Clone()
	default:
		whole = objects.NewHasher()
		if err := copyRange(whole, c.File, 0, at.Raw); err != nil {
			return objects.Hash{}, err
		}
		if whole.Sum() != c.Base.Original {
			return objects.Hash{}, ErrChanging
		}
		added := objects.NewHasher()
		if err := copyRange(io.MultiWriter(whole, added), c.File, at.Raw, end); err != nil {
			return objects.Hash{}, err
		}
		if added.Sum() != read.Sum() {
			return objects.Hash{}, ErrChanging
		}
	}
	whole.Write(c.tail)
	return whole.Sum(), nil
}

// shorter says that a file ended before the end that it had.
func shorter() error {
	return fmt.Errorf("%w: it got shorter", ErrChanging)
}

// extend stages what the file has more than its stream, and the overflow files that are not stored.
func (c *Capture) extend(ctx context.Context, p refs.Project, s *refs.Stage, end int64) error {
	from, err := c.start(ctx, p, end)
	if err != nil || c.older {
		return err
	}
	if err := c.overflow(ctx, p, s); err != nil {
		return err
	}
	if c.added.Change != "unchanged" {
		return c.grow(ctx, s, from, end)
	}
	if len(c.files) > 0 {
		c.again()
	} else if c.back {
		c.again()
		c.added.Change = "rewritten"
	}
	return nil
}

// start decides which generation of the session the file goes on from, and where. What none of them
// begins is a new generation, beside the old ones; what one of them holds already is unchanged.
func (c *Capture) start(ctx context.Context, p refs.Project, end int64) (originals.Place, error) {
	c.added.Change = "new"
	for _, base := range c.generations() {
		length, err := c.take(ctx, p, base)
		if errors.Is(err, originals.ErrWithheld) { // it was lost, with its exact bytes, which are in the file
			c.added.Change = "rewritten"
			c.snap.Generation = max(c.snap.Generation, base.Generation+1)
			continue
		}
		if err != nil {
			return originals.Place{}, err
		}
		if c.back = c.isBack(base); c.size < length && !c.back {
			whole := io.NewSectionReader(c.File, 0, c.size)
			if c.older, err = c.M.begins(ctx, Moment{p, c.known, base}, whole); c.older || err != nil {
				c.Base, c.added.Change = base, "unchanged"
				return originals.Place{}, err
			}
		}
		at, ok, err := c.follows(ctx, p, base, end)
		if ok || err != nil {
			c.Base, c.added.Change, c.snap.Generation = base, "grown", base.Generation
			if ok && c.size == base.Size && !base.Withheld {
				c.added.Change = "unchanged"
			}
			return at, err
		}
		c.added.Change = "rewritten"
		c.snap.Generation = max(c.snap.Generation, base.Generation+1)
	}
	c.Base, c.prev, c.back = nil, nil, false
	return originals.Place{Clean: stream.Tail{Hash: objects.NewHasher()}, Exact: objects.NewHasher()}, nil
}

// take reads the patches of base and returns how long the file was there.
func (c *Capture) take(ctx context.Context, p refs.Project, base *records.Point) (length int64, err error) {
	if c.prev = nil; !base.Withheld {
		return base.Size, nil
	}
	if c.prev, err = originals.On(c.M.DB).Patches(ctx, p, c.known, base); err != nil {
		return 0, err
	}
	return c.prev[len(c.prev)-1].RawLen, nil
}

// isBack reports whether base is of an earlier file of the session than the one that lay at the same path last:
// what begins with it has taken that one's place again. A copy at another path takes nothing's place.
func (c *Capture) isBack(base *records.Point) bool {
	last := c.known.Last(c.M.Refs.Device().ID)
	return base.Generation != last.Generation && c.known.Source() == cmp.Or(c.src.Origin, c.src.Path)
}

// generations returns the newest snapshot of each generation that this device has stored, newest first.
func (c *Capture) generations() []*records.Point {
	var out []*records.Point
	if c.known == nil {
		return nil
	}
	for i := len(c.known.Points) - 1; i >= 0; i-- {
		p := &c.known.Points[i]
		if p.Stamp.Device == c.M.Refs.Device().ID && !slices.ContainsFunc(out, func(q *records.Point) bool {
			return q.Generation == p.Generation
		}) {
			out = append(out, p)
		}
	}
	return out
}

// follows reports whether the file starts with the closed values that base stands for, and where its new bytes
// begin. What came after them then, the torn end of a value, may be gone or be another by now.
func (c *Capture) follows(ctx context.Context, p refs.Project, base *records.Point, end int64) (at originals.Place,
	ok bool, err error) {
	at = originals.Place{Segments: base.Segments, Carry: base.Scan}
	at.Cuts = slices.ContainsFunc(c.prev, func(p redact.Patch) bool { return len(p.Cuts) > 0 })
	if at.Cuts {
		ok, err = c.followsRaw(ctx, p, base, &at, end)
	} else {
		ok, err = c.followsClean(base, &at, end)
	}
	return at, ok, err
}

// A Moment is a session of a project at a growth point.
type Moment struct {
	Project refs.Project
	Session *state.Session
	Point   *records.Point
}

// begins reports whether a whole file is a beginning of what was captured up to a growth point, as an older
// copy of it is.
func (m Ops) begins(ctx context.Context, at Moment, f *io.SectionReader) (bool, error) {
	file := objects.NewHasher()
	if err := copyRange(file, f, 0, f.Size()); err != nil {
		return false, err
	}
	stored := &originals.Beginning{W: objects.NewHasher(), Left: f.Size()}
	err := originals.On(m.DB).WriteOriginal(ctx, at.Project, at.Session, at.Point, stored)
	if errors.Is(err, originals.ErrEnough) {
		err = nil
	}
	return err == nil && stored.Left == 0 && stored.W.Sum() == file.Sum(), err
}

// followsClean reports whether the file starts with the stored stream, which has no cuts.
func (c *Capture) followsClean(base *records.Point, at *originals.Place, end int64) (bool, error) {
	size := base.Size
	if size > end {
		return false, nil
	}
	at.Raw, at.Clean = size, stream.Tail{Length: size, Hash: objects.NewHasher()}
	if size == c.size { // no growth needs no dictionary
		err := copyRange(at.Clean.Hash, c.File, 0, size)
		return err == nil && at.Clean.Hash.Sum() == base.Original, err
	}
	dict := make(chan []byte, 1)
	same := c.compare(at.Clean, dict, base)
	c.M.Growing()
	at.Clean.Expect = end - size
	at.Clean.Dict = stream.NewDict(size, at.Clean.Expect)
	_, err := c.File.ReadAt(at.Clean.Dict, size-int64(len(at.Clean.Dict)))
	dict <- at.Clean.Dict
	if err != nil {
		return false, err
	}
	if !c.sure {
		at.Clean.Before = same
		return true, nil
	}
	if err = same(); errors.Is(err, originals.ErrRewritten) {
		return false, nil
	}
	return err == nil, err
}

// compare hashes the part of the file that is stored already while what is new is compressed: nearly all files only
// grow. Its end is what dict brings, for that is what the growth is compressed by. It returns a function that
// waits for that, and fails with errRewritten if the file is another one.
func (c *Capture) compare(t stream.Tail, dict <-chan []byte, base *records.Point) func() error {
	read := make(chan error, 1)
	go func() {
		err := copyRange(t.Hash, c.File, 0, t.Length-stream.DictLen(t.Length))
		t.Hash.Write(<-dict)
		read <- err
	}()
	return func() error {
		err := <-read
		if err == nil && t.Hash.Sum() != base.Original {
			err = originals.ErrRewritten
		}
		return err
	}
}

// followsRaw reports whether the file starts with the bytes that the stored stream was made from by cuts.
func (c *Capture) followsRaw(ctx context.Context, p refs.Project, base *records.Point, at *originals.Place,
	end int64) (bool, error) {
	last := c.prev[len(c.prev)-1]
	closed := last.RawLen - int64(len(last.Tail))
	if closed > end {
		return false, nil
	}
	exact := objects.NewHasher()
	read := make(chan error, 1)
	go func() { read <- copyRange(exact, c.File, 0, closed) }()
	clean, dict, err := c.stored(ctx, p, base)
	if err := cmp.Or(<-read, err); err != nil {
		return false, err
	}
	whole := exact.Clone()
	whole.Write(last.Tail)
	if whole.Sum() != last.Raw {
		return false, nil
	}
	at.Raw, at.Clean, at.Exact = closed, stream.Tail{Length: base.Size, Dict: dict, Hash: clean}, exact
	return true, nil
}

// stored reads what is stored of the session up to base: its hash, to go on from, and its end, which the growth
// is compressed by. Whoever reads a stream hashes it to check it.
func (c *Capture) stored(ctx context.Context, p refs.Project, base *records.Point) (hash *objects.Hasher, dict []byte,
	err error) {
	dict = stream.NewDict(base.Size, 0)
	end := &originals.Ending{Skip: base.Size - int64(len(dict)), B: dict[:0]}
	err = c.M.Refs.View(ctx, p, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, base.Original)
		if err != nil {
			return err
		}
		defer rc.Close()
		read, ok := rc.(interface{ Hasher() *objects.Hasher })
		if !ok {
			return fmt.Errorf("%s is not a stream: %w", base.Original.Short(), objects.ErrCorrupt)
		}
		if _, err = io.Copy(end, rc); err == nil {
			hash = read.Hasher()
		}
		return err
	})
	return hash, end.B, err
}
