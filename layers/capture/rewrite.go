package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A regrown growth point is one made anew, without what was forgotten.
type Regrown struct {
	Body  json.RawMessage
	Patch []byte // nil for none
	Was   records.Snapshot
	Now   records.Snapshot
}

// An edit says what becomes of a value of a stream, exact as it was in the file: nothing, nothing but a
// placeholder is left of it, or some places of it are blotted out. It stays as long as it was.
type edit func(v transcript.Value) (whole bool, spots [][2]int)

// OwnStream is a stream of this device with what makes it exact.
type OwnStream struct {
	session    string
	Generation int
	Points     []records.Point // by record
	Patches    []*redact.Patch
	read       func(func(io.Reader) error) error // the clean bytes
	nines      func(spot []byte) bool            // see [blot]
}

// OwnStreams calls f with every stream of a session that this device captured.
func (m Ops) OwnStreams(ctx context.Context, p refs.Project, s *state.Session, nines func([]byte) bool,
	f func(*OwnStream) error) error {
	by := map[int]*OwnStream{}
	var order []int
	for _, pt := range s.Points {
		if pt.Stamp.Device != m.Refs.Device().ID {
			continue
		}
		o := by[pt.Generation]
		if o == nil {
			o = &OwnStream{session: s.ID, Generation: pt.Generation, nines: nines}
			by[pt.Generation], order = o, append(order, pt.Generation)
		}
		var patch *redact.Patch
		if pt.Withheld {
			err := m.Refs.View(ctx, p, func(tx *refs.Tx) error {
				b, err := tx.Patch(pt.Stamp.Device, pt.Stamp.Record)
				if err != nil {
					return err
				}
				d, err := redact.Decode(bytes.Clone(b))
				patch = &d
				return err
			})
			if err != nil {
				return err
			}
		}
		o.Points, o.Patches = append(o.Points, pt), append(o.Patches, patch)
	}
	slices.Sort(order)
	for _, g := range order {
		o := by[g]
		last := o.Points[len(o.Points)-1].Original
		o.read = func(f func(io.Reader) error) error { return originals.On(m.DB).Stream(ctx, p, last, f) }
		if err := f(o); err != nil {
			return err
		}
	}
	return nil
}

// Cuts returns all that was taken out of the stream, where it stands in the clean bytes.
func (o *OwnStream) Cuts() (out []redact.Cut) {
	for _, p := range o.Patches {
		if p != nil {
			out = append(out, p.Cuts...)
		}
	}
	slices.SortStableFunc(out, func(a, b redact.Cut) int { return int(a.At - b.At) })
	return slices.CompactFunc(out, func(a, b redact.Cut) bool { return a.At == b.At })
}

// Values calls f with every value of the stream as it was in the file, its place in the clean bytes and the
// cuts in it. The bytes of a value are overwritten by the next one.
func (o *OwnStream) Values(f func(v transcript.Value, start, end int64, cuts []redact.Cut)) error {
	cuts := o.Cuts()
	return o.read(func(r io.Reader) error {
		for v, err := range transcript.Whole(r) {
			if err != nil {
				return err
			}
			end := v.Off + v.Size
			var in []redact.Cut
			for len(cuts) > 0 && cuts[0].At < end {
				in = append(in, cuts[0])
				cuts = cuts[1:]
			}
			start := v.Off
			v.Raw = uncut(v.Raw, start, in)
			v.Size = int64(len(v.Raw))
			f(v, start, end, in)
		}
		return nil
	})
}

// uncut puts what was cut back into clean bytes that begin at start.
func uncut(clean []byte, start int64, cuts []redact.Cut) []byte {
	if len(cuts) == 0 {
		return clean
	}
	var out []byte
	at := start
	for _, c := range cuts {
		out = append(append(out, clean[at-start:c.At-start]...), c.Bytes...)
		at = c.At + int64(c.Len)
	}
	return append(out, clean[at-start:]...)
}

// recut is the reverse of uncut for exact bytes that are as long as they were: the same places are cut again.
func recut(raw, clean []byte, start int64, cuts []redact.Cut) (out []byte) {
	at := start
	for _, c := range cuts {
		n := c.At - at
		out = append(append(out, raw[:n]...), clean[c.At-start:c.At-start+int64(c.Len)]...)
		raw, at = raw[n+int64(len(c.Bytes)):], c.At+int64(c.Len)
	}
	return append(out, raw...)
}

// recuts returns the cuts of recut: with the bytes of now, and where they stand if the clean bytes begin at base.
func recuts(raw []byte, start int64, cuts []redact.Cut, base int64) (again []redact.Cut) {
	at := start
	for _, c := range cuts {
		raw, at = raw[c.At-at:], c.At+int64(c.Len)
		now := c
		now.At, now.Bytes = c.At-start+base, bytes.Clone(raw[:len(c.Bytes)])
		again, raw = append(again, now), raw[len(c.Bytes):]
	}
	return again
}

// A rewriting is a stream without what was forgotten. The bytes that change are made when they are read.
type Rewriting struct {
	changes []change
	Cuts    []redact.Cut // of the new clean bytes
	nines   func(spot []byte) bool
}

// A change is what becomes of one value.
type change struct {
	start, end int64 // clean bytes before
	base, now  int64 // and after
	exact      int   // bytes in the file, before and after
	whole      bool  // it becomes a placeholder,
	opaque     bool  // that is no JSON; otherwise
	spots      [][2]int
	cuts       []redact.Cut // what it had
}

// Without returns the stream without what the edit forgets, nil if it forgets nothing of it.
func (o *OwnStream) Without(e edit) (*Rewriting, error) {
	w := &Rewriting{nines: o.nines}
	moved := int64(0) // by how much what follows is farther on
	err := o.Values(func(v transcript.Value, start, end int64, cuts []redact.Cut) {
		whole, spots := e(v)
		if !whole && len(spots) == 0 {
			w.Cuts = append(w.Cuts, redact.Shift(cuts, moved)...)
			return
		}
		c := change{start: start, end: end, base: start + moved, now: end + moved, exact: len(v.Raw), whole: whole,
			opaque: v.Opaque, spots: spots, cuts: cuts}
		if whole {
			c.now = c.base + v.Size
		} else {
			w.Cuts = append(w.Cuts, recuts(w.blotted(bytes.Clone(v.Raw), spots), start, cuts, c.base)...)
		}
		moved = c.now - end
		w.changes = append(w.changes, c)
	})
	if err != nil || len(w.changes) == 0 {
		return nil, err
	}
	return w, nil
}

func (w *Rewriting) blotted(raw []byte, spots [][2]int) []byte {
	originals.Blot(raw, spots, w.nines)
	return raw
}

// bytes returns what a value becomes that is clean before.
func (w *Rewriting) bytes(c change, clean []byte) []byte {
	if c.whole {
		return originals.Placeholder(c.exact, c.opaque)
	}
	return recut(w.blotted(bytes.Clone(uncut(clean, c.start, c.cuts)), c.spots), clean, c.start, c.cuts)
}

// reader returns the new clean bytes, made of the old ones.
func (w *Rewriting) reader(old io.Reader) io.Reader {
	return &rewritten{w: w, old: old, left: w.changes}
}

type rewritten struct {
	w    *Rewriting
	old  io.Reader
	at   int64 // read of old
	left []change
	out  []byte // of a value that changed, not handed out yet
}

func (r *rewritten) Read(p []byte) (n int, err error) {
	for len(r.out) == 0 && len(r.left) > 0 && r.at == r.left[0].start && len(p) > 0 {
		c := r.left[0]
		clean := make([]byte, c.end-c.start)
		if _, err := io.ReadFull(r.old, clean); err != nil {
			return 0, unexpected(err)
		}
		r.out, r.at, r.left = r.w.bytes(c, clean), c.end, r.left[1:]
	}
	if len(r.out) > 0 {
		n = copy(p, r.out)
		r.out = r.out[n:]
		return n, nil
	}
	if len(r.left) > 0 {
		p = p[:min(int64(len(p)), r.left[0].start-r.at)]
	}
	n, err = r.old.Read(p)
	r.at += int64(n)
	if len(r.left) > 0 {
		err = unexpected(err)
	}
	return n, err
}

// unexpected is an end where there has to be more.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// moved returns where the place at in the old clean bytes is in the new ones.
func (w *Rewriting) moved(at int64) int64 {
	now := at
	for _, c := range w.changes {
		// a growth point inside of a long value: a placeholder is as long as the exact bytes
		if c.whole && c.start < at && at < c.end {
			off := at - c.start
			for _, cut := range c.cuts {
				if cut.At < at {
					off += int64(len(cut.Bytes) - cut.Len)
				}
			}
			return c.base + off
		}
		if c.end <= at {
			now = at - c.end + c.now
		}
	}
	return now
}

// Regrow makes the growth points of a stream anew in a stage, and returns them by their records. The exact
// bytes of each are those that a guarded file has there.
func (m Ops) Regrow(ctx context.Context, stage *refs.Stage, o *OwnStream, w *Rewriting,
	keepFile func(records.FileRef) bool) (map[objects.Hash]Regrown, error) {
	out := map[objects.Hash]Regrown{}
	err := o.read(func(r io.Reader) error {
		a := regrowing{stage: stage, name: stream.Name(o.session, o.Generation), r: w.reader(r),
			tail: stream.Tail{Hash: objects.NewHasher()}, cuts: w.Cuts, exact: uncutter{to: objects.NewHasher()}}
		for _, p := range o.Points {
			made, err := a.point(ctx, p, w.moved(p.Size), keepFile)
			if err != nil {
				return err
			}
			out[p.Stamp.Record] = made
		}
		_, err := io.Copy(io.Discard, a.r) // what is read to its end is right
		return err
	})
	return out, err
}

// A regrowing is a stream that is made anew, growth point by growth point.
type regrowing struct {
	stage    *refs.Stage
	name     objects.Hash
	r        io.Reader
	tail     stream.Tail
	segments int
	carry    transcript.Carry
	cuts     []redact.Cut
	exact    uncutter
	prev     redact.Patch
}

// point makes the growth point p anew, which ends at end now.
func (a *regrowing) point(ctx context.Context, p records.Point, end int64,
	keepFile func(records.FileRef) bool) (out Regrown, err error) {
	before := a.tail.Length
	n, _ := slices.BinarySearchFunc(a.cuts, end, func(c redact.Cut, end int64) int { return cmp.Compare(c.At, end) })
	own := slices.Clone(a.cuts[:n])
	a.cuts, a.exact.cuts = a.cuts[n:], own
	sc := transcript.NewScanner(a.carry, func(b []byte) [32]byte { return objects.Sum(b) })
	part := io.LimitReader(a.r, end-before)
	g, err := a.stage.Grow(ctx, a.name, a.segments, &a.tail, io.TeeReader(part, io.MultiWriter(sc, &a.exact)))
	if err == nil && a.tail.Length != end {
		err = io.ErrUnexpectedEOF
	}
	sum := sc.Summary()
	if err != nil {
		return out, err
	}
	a.carry, a.segments = sum.Carry, g.Segments
	out.Was, out.Now = p.Snapshot, p.Snapshot
	s := &out.Now
	s.Original, s.Size, s.Segments, s.Scan = a.tail.Hash.Sum(), a.tail.Length, g.Segments, sum.Carry
	s.Retype(sum.Prompts)
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f records.FileRef) bool { return !keepFile(f) })
	patch := redact.Patch{Rules: s.Rules, After: s.Size, Clean: s.Original, RawLen: a.exact.n,
		Raw: a.exact.to.Sum(), Cuts: own}
	chained := a.prev.RawLen > 0
	if chained {
		patch.Before, patch.Prev = before, a.prev.Name()
	}
	if s.Withheld = chained || len(own) > 0; s.Withheld {
		out.Patch, a.prev = patch.Encode(), patch
	}
	out.Body, err = Marshal(*s)
	return out, err
}

// An uncutter takes clean bytes and hands on what they were cut out of.
type uncutter struct {
	to   *objects.Hasher
	cuts []redact.Cut // of what comes, in order
	at   int64        // of the clean bytes
	skip int64        // of them that stand for what was cut
	n    int64        // bytes handed on
}

// Write takes the next clean bytes.
func (u *uncutter) Write(b []byte) (int, error) {
	size := len(b)
	for len(b) > 0 {
		n := int64(len(b))
		switch {
		case u.skip > 0:
			n = min(n, u.skip)
			u.skip -= n
		case len(u.cuts) > 0 && u.cuts[0].At == u.at:
			n = 0
			u.pass(u.cuts[0].Bytes)
			u.skip, u.cuts = int64(u.cuts[0].Len), u.cuts[1:]
		default:
			if len(u.cuts) > 0 {
				n = min(n, u.cuts[0].At-u.at)
			}
			u.pass(b[:n])
		}
		b, u.at = b[n:], u.at+n
	}
	return size, nil
}

func (u *uncutter) pass(b []byte) {
	u.to.Write(b)
	u.n += int64(len(b))
}
