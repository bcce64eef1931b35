package layers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// extend stages what the file has more than its stream, and the overflow files that are not stored.
func (c *capture) extend(ctx context.Context, p refs.Project, s *refs.Stage, end int64) error {
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

// errRewritten says that a file does not start with what is stored of it, though it seemed to have grown.
var errRewritten = errors.New("the file does not start with what is stored")

// A place is where in the file and in its stream the new bytes begin.
type place struct {
	raw      int64
	clean    stream.Tail
	segments int
	carry    transcript.Carry
	cuts     bool            // the stored part has cuts
	exact    *objects.Hasher // of the exact bytes before raw; nil if those are the clean ones
}

// start decides which generation of the session the file goes on from, and where. What none of them
// begins is a new generation, beside the old ones; what one of them holds already is unchanged.
func (c *capture) start(ctx context.Context, p refs.Project, end int64) (place, error) {
	c.added.Change = "new"
	for _, base := range c.generations() {
		length, err := c.take(ctx, p, base)
		if errors.Is(err, ErrWithheld) { // it was lost, with its exact bytes, which are in the file
			c.added.Change = "rewritten"
			c.snap.Generation = max(c.snap.Generation, base.Generation+1)
			continue
		}
		if err != nil {
			return place{}, err
		}
		if c.back = c.isBack(base); c.size < length && !c.back {
			if c.older, err = c.m.begins(ctx, p, c.known, base, c.file, c.size); c.older || err != nil {
				c.base, c.added.Change = base, "unchanged"
				return place{}, err
			}
		}
		at, ok, err := c.follows(ctx, p, base, end)
		if ok || err != nil {
			c.base, c.added.Change, c.snap.Generation = base, "grown", base.Generation
			if ok && c.size == base.Size && !base.Withheld {
				c.added.Change = "unchanged"
			}
			return at, err
		}
		c.added.Change = "rewritten"
		c.snap.Generation = max(c.snap.Generation, base.Generation+1)
	}
	c.base, c.prev, c.back = nil, nil, false
	return place{clean: stream.Tail{Hash: objects.NewHasher()}, exact: objects.NewHasher()}, nil
}

// take reads the patches of base and returns how long the file was there.
func (c *capture) take(ctx context.Context, p refs.Project, base *Point) (length int64, err error) {
	if c.prev = nil; !base.Withheld {
		return base.Size, nil
	}
	if c.prev, err = c.m.patches(ctx, p, c.known, base); err != nil {
		return 0, err
	}
	return c.prev[len(c.prev)-1].RawLen, nil
}

// isBack reports whether base is of an earlier file of the session than the one that lay at the same path last: what begins with
// it has taken that one's place again. A copy at another path takes nothing's place.
func (c *capture) isBack(base *Point) bool {
	last := c.known.last(c.m.repo.Device().ID)
	return base.Generation != last.Generation && c.known.Source() == c.src.Path
}

// generations returns the newest snapshot of each generation that this device has stored, newest first.
func (c *capture) generations() []*Point {
	var out []*Point
	if c.known == nil {
		return nil
	}
	for i := len(c.known.Points) - 1; i >= 0; i-- {
		p := &c.known.Points[i]
		if p.Stamp.Device == c.m.repo.Device().ID && !slices.ContainsFunc(out, func(q *Point) bool { return q.Generation == p.Generation }) {
			out = append(out, p)
		}
	}
	return out
}

// follows reports whether the file starts with the closed values that base stands for, and where its new bytes
// begin. What came after them then, the torn end of a value, may be gone or be another by now.
func (c *capture) follows(ctx context.Context, p refs.Project, base *Point, end int64) (at place, ok bool, err error) {
	at = place{segments: base.Segments, carry: base.Scan}
	at.cuts = slices.ContainsFunc(c.prev, func(p redact.Patch) bool { return len(p.Cuts) > 0 })
	if at.cuts {
		ok, err = c.followsRaw(ctx, p, base, &at, end)
	} else {
		ok, err = c.followsClean(base, &at, end)
	}
	return at, ok, err
}

// begins reports whether a whole file is a beginning of what was captured up to a growth point, as an older copy of it is.
func (m *Memory) begins(ctx context.Context, project refs.Project, s *Session, p *Point, f io.ReaderAt, size int64) (bool, error) {
	file := objects.NewHasher()
	if err := copyRange(file, f, 0, size); err != nil {
		return false, err
	}
	stored := &beginning{w: objects.NewHasher(), left: size}
	err := m.WriteOriginal(ctx, project, s, p, stored)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err == nil && stored.left == 0 && stored.w.Sum() == file.Sum(), err
}

// beginning hashes as many bytes as are left, and then has enough.
type beginning struct {
	w    *objects.Hasher
	left int64
}

var errEnough = errors.New("enough")

func (b *beginning) Write(p []byte) (int, error) {
	n := min(int64(len(p)), b.left)
	b.w.Write(p[:n])
	if b.left -= n; b.left == 0 {
		return int(n), errEnough
	}
	return len(p), nil
}

// followsClean reports whether the file starts with the stored stream, which has no cuts.
func (c *capture) followsClean(base *Point, at *place, end int64) (bool, error) {
	size := base.Size
	if size > end {
		return false, nil
	}
	at.raw, at.clean = size, stream.Tail{Length: size, Hash: objects.NewHasher()}
	if size == c.size { // no growth needs no dictionary
		err := copyRange(at.clean.Hash, c.file, 0, size)
		return err == nil && at.clean.Hash.Sum() == base.Original, err
	}
	dict := make(chan []byte, 1)
	same := c.compare(at.clean, dict, base)
	c.m.growing()
	at.clean.Expect = end - size
	at.clean.Dict = stream.NewDict(size, at.clean.Expect)
	_, err := c.file.ReadAt(at.clean.Dict, size-int64(len(at.clean.Dict)))
	dict <- at.clean.Dict
	if err != nil {
		return false, err
	}
	if !c.sure {
		at.clean.Before = same
		return true, nil
	}
	if err = same(); errors.Is(err, errRewritten) {
		return false, nil
	}
	return err == nil, err
}

// compare hashes the part of the file that is stored already while what is new is compressed: nearly all files only
// grow. Its end is what dict brings, for that is what the growth is compressed by. It returns a function that waits for that, and
// fails with errRewritten if the file is another one.
func (c *capture) compare(t stream.Tail, dict <-chan []byte, base *Point) func() error {
	read := make(chan error, 1)
	go func() {
		err := copyRange(t.Hash, c.file, 0, t.Length-stream.DictLen(t.Length))
		t.Hash.Write(<-dict)
		read <- err
	}()
	return func() error {
		err := <-read
		if err == nil && t.Hash.Sum() != base.Original {
			err = errRewritten
		}
		return err
	}
}

// followsRaw reports whether the file starts with the bytes that the stored stream was made from by cuts.
func (c *capture) followsRaw(ctx context.Context, p refs.Project, base *Point, at *place, end int64) (bool, error) {
	last := c.prev[len(c.prev)-1]
	closed := last.RawLen - int64(len(last.Tail))
	if closed > end {
		return false, nil
	}
	exact := objects.NewHasher()
	read := make(chan error, 1)
	go func() { read <- copyRange(exact, c.file, 0, closed) }()
	clean, dict, err := c.stored(ctx, p, base)
	if err := cmp.Or(<-read, err); err != nil {
		return false, err
	}
	whole := exact.Clone()
	whole.Write(last.Tail)
	if whole.Sum() != last.Raw {
		return false, nil
	}
	at.raw, at.clean, at.exact = closed, stream.Tail{Length: base.Size, Dict: dict, Hash: clean}, exact
	return true, nil
}

// stored reads what is stored of the session up to base: its hash, to go on from, and its end, which the growth is compressed by.
// Whoever reads a stream hashes it to check it.
func (c *capture) stored(ctx context.Context, p refs.Project, base *Point) (hash *objects.Hasher, dict []byte, err error) {
	dict = stream.NewDict(base.Size, 0)
	end := &ending{skip: base.Size - int64(len(dict)), b: dict[:0]}
	err = c.m.repo.View(ctx, p, func(tx *refs.Tx) error {
		rc, err := tx.Get(ctx, base.Original)
		if err != nil {
			return err
		}
		defer rc.Close()
		read, ok := rc.(interface{ Hasher() *objects.Hasher })
		if !ok {
			return fmt.Errorf("%s is no stream: %w", base.Original.Short(), objects.ErrCorrupt)
		}
		if _, err = io.Copy(end, rc); err == nil {
			hash = read.Hasher()
		}
		return err
	})
	return hash, end.b, err
}

// ending keeps what is written to it behind the first bytes.
type ending struct {
	skip int64
	b    []byte
}

func (e *ending) Write(p []byte) (int, error) {
	n := min(e.skip, int64(len(p)))
	e.skip, e.b = e.skip-n, append(e.b, p[n:]...)
	return len(p), nil
}
