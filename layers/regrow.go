package layers

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A regrown growth point is one made anew, without what was forgotten.
type regrown struct {
	body  json.RawMessage
	patch []byte // nil for none
	was   Snapshot
	now   Snapshot
}

// An edit says what becomes of the values of one stream: nil leaves a value as it is, otherwise the exact bytes, as many as
// there were, and whether they are a placeholder.
type edit func(v transcript.Value) (raw []byte, whole bool)

// ownStream is a stream of this device with what makes it exact.
type ownStream struct {
	session    string
	generation int
	points     []Point // by record
	patches    []*redact.Patch
	clean      []byte
}

// ownStreams calls f with every stream of a session that this device captured.
func (m *Memory) ownStreams(ctx context.Context, p refs.Project, s *Session, f func(*ownStream) error) error {
	by := map[int]*ownStream{}
	var order []int
	for _, pt := range s.Points {
		if pt.Stamp.Device != m.repo.Device().ID {
			continue
		}
		o := by[pt.Generation]
		if o == nil {
			o = &ownStream{session: s.ID, generation: pt.Generation}
			by[pt.Generation], order = o, append(order, pt.Generation)
		}
		var patch *redact.Patch
		if pt.Withheld {
			err := m.repo.View(ctx, p, func(tx *refs.Tx) error {
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
		o.points, o.patches = append(o.points, pt), append(o.patches, patch)
	}
	slices.Sort(order)
	for _, g := range order {
		o := by[g]
		var err error
		last := o.points[len(o.points)-1]
		b := bytes.NewBuffer(make([]byte, 0, last.Size+bytes.MinRead)) // which is enough to see the end
		if err = m.WriteObject(ctx, p, last.Original, b); err != nil {
			return err
		}
		o.clean = b.Bytes()
		if err := f(o); err != nil {
			return err
		}
		o.clean = nil
	}
	return nil
}

// cuts returns all that was taken out of the stream, where it stands in the clean bytes.
func (o *ownStream) cuts() (out []redact.Cut) {
	for _, p := range o.patches {
		if p != nil {
			out = append(out, p.Cuts...)
		}
	}
	slices.SortStableFunc(out, func(a, b redact.Cut) int { return int(a.At - b.At) })
	return slices.CompactFunc(out, func(a, b redact.Cut) bool { return a.At == b.At })
}

// values calls f with every value of the stream as it was in the file, its place in the clean bytes and the cuts in it.
func (o *ownStream) values(f func(v transcript.Value, start, end int64, cuts []redact.Cut)) {
	cuts := o.cuts()
	for v := range transcript.Values(o.clean) {
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

// recut is the reverse of uncut for exact bytes that are as long as they were: the same places are cut again. The cuts that it
// returns are where they stand if the clean bytes begin at base.
func recut(raw, clean []byte, start int64, cuts []redact.Cut, base int64) (out []byte, again []redact.Cut) {
	at := start
	for _, c := range cuts {
		n, marks := c.At-at, clean[c.At-start:c.At-start+int64(c.Len)]
		out, raw = append(out, raw[:n]...), raw[n:]
		now := c
		now.At, now.Bytes = base+int64(len(out)), bytes.Clone(raw[:len(c.Bytes)])
		out, raw = append(out, marks...), raw[len(c.Bytes):]
		again, at = append(again, now), c.At+int64(c.Len)
	}
	return append(out, raw...), again
}

// A rewriting is a stream without what was forgotten.
type rewriting struct {
	clean []byte
	cuts  []redact.Cut
	shift [][2]int64 // clean bytes before and after, at the end of each value that has another length now
	inner [][3]int64 // start before and after, and end before, of values that became placeholders
	cut   [][]redact.Cut
}

// without returns the stream without what the edit forgets, nil if it forgets nothing of it.
func (o *ownStream) without(e edit) *rewriting {
	w := &rewriting{}
	at, moved := int64(0), int64(0) // what is in w.clean of o.clean, and by how much what follows is farther on in it
	o.values(func(v transcript.Value, start, end int64, cuts []redact.Cut) {
		raw, whole := e(v)
		if raw == nil {
			w.cuts = append(w.cuts, redact.Shift(cuts, moved)...)
			return
		}
		if w.clean == nil {
			w.clean = make([]byte, 0, len(o.clean)+len(o.clean)/64) // nothing is copied before it has to be, and once
		}
		w.clean = append(w.clean, o.clean[at:start]...)
		at = end
		base := int64(len(w.clean))
		switch {
		case whole:
			w.clean = append(w.clean, raw...)
			w.inner, w.cut = append(w.inner, [3]int64{start, base, end}), append(w.cut, cuts)
		default:
			clean, again := recut(raw, o.clean[start:end], start, cuts, base)
			w.clean, w.cuts = append(w.clean, clean...), append(w.cuts, again...)
		}
		moved = int64(len(w.clean)) - end
		w.shift = append(w.shift, [2]int64{end, int64(len(w.clean))})
	})
	if len(w.shift) == 0 {
		return nil
	}
	w.clean = append(w.clean, o.clean[at:]...)
	return w
}

// moved returns where the place at in the old clean bytes is in the new ones.
func (w *rewriting) moved(at int64) int64 {
	for i, in := range w.inner {
		if in[0] < at && at < in[2] { // a growth point inside of a long value: a placeholder is as long as the exact bytes
			off := at - in[0]
			for _, c := range w.cut[i] {
				if c.At < at {
					off += int64(len(c.Bytes) - c.Len)
				}
			}
			return in[1] + off
		}
	}
	now := at
	for _, s := range w.shift {
		if s[0] <= at {
			now = at - s[0] + s[1]
		}
	}
	return now
}

// regrow makes the growth points of a stream anew in a stage, and returns them by their records. The exact bytes of each are
// those that a guarded file has there.
func (m *Memory) regrow(ctx context.Context, stage *refs.Stage, o *ownStream, w *rewriting, keepFile func(FileRef) bool) (map[objects.Hash]regrown, error) {
	out := map[objects.Hash]regrown{}
	tail := stream.Tail{Hash: objects.NewHasher()}
	exact := objects.NewHasher()
	var rawLen int64
	var carry transcript.Carry
	var prev redact.Patch
	cuts, segments := w.cuts, 0
	for _, p := range o.points {
		before, end := tail.Length, w.moved(p.Size)
		sc := transcript.NewScanner(carry, func(b []byte) [32]byte { return objects.Sum(b) })
		part := w.clean[before:end]
		g, err := stage.Grow(ctx, stream.Name(o.session, o.generation), segments, &tail, bytes.NewReader(part))
		if err != nil {
			return nil, err
		}
		if _, err := sc.Write(part); err != nil {
			return nil, err
		}
		sum := sc.Summary()
		if err := sc.Close(); err != nil {
			return nil, err
		}
		carry, segments = sum.Carry, g.Segments
		var own []redact.Cut
		for len(cuts) > 0 && cuts[0].At < end {
			own = append(own, cuts[0])
			cuts = cuts[1:]
		}
		raw := uncut(part, before, own)
		exact.Write(raw)
		rawLen += int64(len(raw))
		r := regrown{was: p.Snapshot, now: p.Snapshot}
		s := &r.now
		s.Original, s.Size, s.Segments, s.Scan = tail.Hash.Sum(), tail.Length, g.Segments, sum.Carry
		s.retype(sum.Prompts)
		s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f FileRef) bool { return !keepFile(f) })
		patch := redact.Patch{Rules: s.Rules, After: s.Size, Clean: s.Original, RawLen: rawLen, Raw: exact.Sum(), Cuts: own}
		chained := prev.RawLen > 0
		if chained {
			patch.Before, patch.Prev = before, prev.Name()
		}
		if s.Withheld = chained || len(own) > 0; s.Withheld {
			r.patch, prev = patch.Encode(), patch
		}
		if r.body, err = marshal(*s); err != nil {
			return nil, err
		}
		out[p.Stamp.Record] = r
	}
	return out, nil
}
