package capture

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
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

// A Regrown is a growth point that was made again without the forgotten text.
type Regrown struct {
	Body  json.RawMessage
	Patch []byte // nil for none
	Was   records.Snapshot
	Now   records.Snapshot
}

// An edit decides what to delete from a value of a stream, given the exact bytes: the whole value, which becomes a
// placeholder, or some spots, which are overwritten. The length of the value does not change.
type edit func(v transcript.Value) (whole bool, spots [][2]int)

// An OwnStream is a stream that this device captured, with its patches.
type OwnStream struct {
	session    string
	Generation int
	Points     []records.Point
	Patches    []*redact.Patch                   // of Points; nil for points without one, and once one was lost
	kept       int                               // points before the first one whose patch was lost
	read       func(func(io.Reader) error) error // the clean bytes
}

// OwnStreams calls f with each stream of a session that this device captured, in the order of the generations. It
// returns the first error of f.
func OwnStreams(ctx context.Context, db *state.DB, p refs.Project, s *state.Session,
	f func(*OwnStream) error) error {
	by := map[int]*OwnStream{}
	for _, pt := range s.Points {
		if pt.Stamp.Device != db.Refs.Device().ID {
			continue
		}
		o := by[pt.Generation]
		if o == nil {
			o = &OwnStream{session: s.FileID(), Generation: pt.Generation}
			by[pt.Generation] = o
		}
		var patch *redact.Patch
		lost := o.kept < len(o.Points) // a later patch continues the lost one
		if pt.Withheld && !lost {
			var err error
			patch, err = patchOf(ctx, db, p, pt.Stamp)
			if lost = errors.Is(err, objects.ErrNotFound); err != nil && !lost {
				return err
			}
		}
		if !lost {
			o.kept++
		}
		o.Points, o.Patches = append(o.Points, pt), append(o.Patches, patch)
	}
	for _, g := range slices.Sorted(maps.Keys(by)) {
		o := by[g]
		last := o.Points[len(o.Points)-1].Original
		o.read = func(f func(io.Reader) error) error { return originals.Stream(ctx, db, p, last, f) }
		if err := f(o); err != nil {
			return err
		}
	}
	return nil
}

// patchOf returns the patch of a growth point.
func patchOf(ctx context.Context, db *state.DB, p refs.Project, s records.Stamp) (patch *redact.Patch, err error) {
	err = db.Refs.View(ctx, p, func(tx *refs.Tx) error {
		b, err := tx.Patch(s.Device, s.Record)
		if err != nil {
			return err
		}
		d, err := redact.Decode(bytes.Clone(b))
		patch = &d
		return err
	})
	return patch, err
}

// Cuts returns the cuts of the stream, in the order of their offsets in the clean bytes.
func (o *OwnStream) Cuts() (out []redact.Cut) {
	for _, p := range o.Patches {
		if p != nil {
			out = append(out, p.Cuts...)
		}
	}
	slices.SortStableFunc(out, func(a, b redact.Cut) int { return cmp.Compare(a.At, b.At) })
	return slices.CompactFunc(out, func(a, b redact.Cut) bool { return a.At == b.At })
}

// Values calls f with each value of the stream as it was in the file, its start and end in the clean bytes, and the
// cuts in it. The bytes of the value are valid until f returns.
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

// uncut returns the exact bytes of the clean bytes that begin at start.
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

// recut is the inverse of uncut for edited exact bytes of the same length: it makes the same cuts.
func recut(raw, clean []byte, start int64, cuts []redact.Cut) (out []byte) {
	at := start
	for _, c := range cuts {
		n := c.At - at
		out = append(append(out, raw[:n]...), clean[c.At-start:c.At-start+int64(c.Len)]...)
		raw, at = raw[n+int64(len(c.Bytes)):], c.At+int64(c.Len)
	}
	return append(out, raw...)
}

// recuts returns the cuts of recut, with the edited bytes, for clean bytes that begin at base.
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

// A Rewriting describes a stream without the forgotten text. The new bytes are made when they are read.
type Rewriting struct {
	changes []change
	Cuts    []redact.Cut // of the new clean bytes
}

// A change is the edit of one value.
type change struct {
	start, end int64        // in the old clean bytes
	base, now  int64        // start and end in the new clean bytes
	exact      int          // length in the file
	whole      bool         // replace it by a placeholder
	opaque     bool         // the value is not JSON
	prompt     bool         // it is a prompt
	spots      [][2]int     // else overwrite these
	cuts       []redact.Cut // in the old value
}

// Without returns the stream without the text that the edit deletes, nil if it deletes nothing.
func (o *OwnStream) Without(e edit) (*Rewriting, error) {
	w := &Rewriting{}
	moved := int64(0) // the distance between the new and the old offset
	err := o.Values(func(v transcript.Value, start, end int64, cuts []redact.Cut) {
		whole, spots := e(v)
		if !whole && len(spots) == 0 {
			w.Cuts = append(w.Cuts, redact.Shift(cuts, moved)...)
			return
		}
		c := change{start: start, end: end, base: start + moved, now: end + moved, exact: len(v.Raw), whole: whole,
			opaque: v.Opaque, prompt: whole && originals.IsPrompt(v.Raw), spots: spots, cuts: cuts}
		if whole {
			c.now = c.base + v.Size
		} else {
			w.Cuts = append(w.Cuts, recuts(masked(v.Raw, spots), start, cuts, c.base)...)
		}
		moved = c.now - end
		w.changes = append(w.changes, c)
	})
	if err != nil || len(w.changes) == 0 {
		return nil, err
	}
	return w, nil
}

func masked(raw []byte, spots [][2]int) []byte {
	raw = bytes.Clone(raw)
	originals.Mask(raw, spots)
	return raw
}

// bytes returns the new clean bytes of a value.
func (w *Rewriting) bytes(c change, clean []byte) []byte {
	if c.whole {
		return originals.Placeholder(c.exact, c.opaque, c.prompt)
	}
	return recut(masked(uncut(clean, c.start, c.cuts), c.spots), clean, c.start, c.cuts)
}

// reader returns the new clean bytes, given the old ones.
func (w *Rewriting) reader(old io.Reader) io.Reader {
	return &rewritten{w: w, old: old, left: w.changes}
}

type rewritten struct {
	w    *Rewriting
	old  io.Reader
	at   int64 // bytes read from old
	left []change
	out  []byte // of the current change, not returned yet
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

// unexpected turns io.EOF into [io.ErrUnexpectedEOF].
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// moved returns the offset in the new clean bytes for the offset at in the old ones.
func (w *Rewriting) moved(at int64) int64 {
	now := at
	for _, c := range w.changes {
		// a growth point within a long value: the placeholder is as long as the exact bytes
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

// Regrow stages the growth points of a rewritten stream and returns them by their old records. Their exact bytes are
// those that a capture reads through an [originals.Guard].
func Regrow(ctx context.Context, stage *refs.Stage, o *OwnStream, w *Rewriting,
	keepFile func(records.FileRef) bool) (map[objects.Hash]Regrown, error) {
	out := map[objects.Hash]Regrown{}
	err := o.read(func(r io.Reader) error {
		a := regrowing{stage: stage, name: stream.Name(o.session, o.Generation), r: w.reader(r),
			tail: stream.Tail{Hash: objects.NewHasher()}, cuts: w.Cuts, exact: uncutter{to: objects.NewHasher()}}
		for i, p := range o.Points {
			a.lost = p.Withheld && i >= o.kept
			made, err := a.point(ctx, p, w.moved(p.Size), keepFile)
			if err != nil {
				return err
			}
			out[p.Stamp.Record] = made
		}
		_, err := io.Copy(io.Discard, a.r) // reading to the end checks the hash
		return err
	})
	return out, err
}

// A regrowing makes the growth points of a stream again, one after the other.
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
	lost     bool // the patch of the point was lost: it gets no new one
}

// point makes the growth point p again. Its clean bytes end at end.
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
	sc.Withdraw(p.Rewound)
	sum := sc.Summary()
	if err != nil {
		return out, err
	}
	a.carry, a.segments = sum.Carry, g.Segments
	out.Was, out.Now = p.Snapshot, p.Snapshot
	s := &out.Now
	s.Original, s.Size, s.Segments, s.Scan = a.tail.Hash.Sum(), a.tail.Length, g.Segments, sum.Carry
	s.Retype(sum.Prompts, sum.Waiting)
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f records.FileRef) bool { return !keepFile(f) })
	patch := redact.Patch{Rules: s.Rules, After: s.Size, Clean: s.Original, RawLen: a.exact.n,
		Raw: a.exact.to.Sum(), Cuts: own}
	chained := a.prev.RawLen > 0
	if chained {
		patch.Before, patch.Prev = before, a.prev.Name()
	}
	if s.Withheld = a.lost || chained || len(own) > 0; s.Withheld && !a.lost {
		out.Patch, a.prev = patch.Encode(), patch
	}
	out.Body, err = objects.EncodeJSON(*s)
	return out, err
}

// An uncutter is a writer of clean bytes that hashes the exact ones.
type uncutter struct {
	to   *objects.Hasher
	cuts []redact.Cut // not reached yet, in order
	at   int64        // the offset in the clean bytes
	skip int64        // the rest of a placeholder in the clean bytes
	n    int64        // exact bytes written
}

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
