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

// A Regrown is a growth point that was made again.
type Regrown struct {
	Body  json.RawMessage
	Patch []byte // nil for none
	Was   records.Snapshot
	Now   records.Snapshot
}

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

// Values calls f with each value of the stream as it was in the file. Its bytes are valid until f returns. Values are
// numbered as in the clean bytes.
func (o *OwnStream) Values(f func(v transcript.Value)) error {
	cuts, longer := o.Cuts(), int64(0) // how much longer the exact bytes are so far
	return o.read(func(r io.Reader) error {
		for v, err := range transcript.Whole(r) {
			if err != nil {
				return err
			}
			in := before(cuts, v.Off+v.Size)
			raw := uncut(v.Raw, v.Off, cuts[:in])
			v.Off, longer = v.Off+longer, longer+int64(len(raw))-v.Size
			v.Raw, v.Size, cuts = raw, int64(len(raw)), cuts[in:]
			f(v)
		}
		return nil
	})
}

// Redacted returns a function that reports whether spots of a value, as [OwnStream.Values] gives it, are all in cuts, so that
// the clean bytes have none of them.
func (o *OwnStream) Redacted() func(v transcript.Value, spots [][2]int) bool {
	var cut [][2]int64 // in the exact bytes
	longer := int64(0)
	for _, c := range o.Cuts() {
		start, n := c.At+longer, int64(len(c.Bytes))
		cut, longer = append(cut, [2]int64{start, start + n}), longer+n-int64(c.Len)
	}
	return func(v transcript.Value, spots [][2]int) bool {
		return !slices.ContainsFunc(spots, func(s [2]int) bool {
			from, to := v.Off+int64(s[0]), v.Off+int64(s[1])
			i, _ := slices.BinarySearchFunc(cut, from, func(c [2]int64, from int64) int { return cmp.Compare(c[1], from+1) })
			return i == len(cut) || from < cut[i][0] || cut[i][1] < to
		})
	}
}

// before returns the number of cuts before the offset end.
func before(cuts []redact.Cut, end int64) int {
	n, _ := slices.BinarySearchFunc(cuts, end, func(c redact.Cut, end int64) int { return cmp.Compare(c.At, end) })
	return n
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

// A Rewrite returns the new clean bytes of the growth point i, given the old ones. After they were read, finish completes
// the new snapshot, whose fields that follow from these bytes are set, and returns the exact bytes, the cuts and the tail as
// a patch, nil if the patch was lost.
type Rewrite func(i int, old io.Reader) (clean io.Reader, finish func(now *records.Snapshot) (*redact.Patch, error))

// Regrow stages the growth points of the stream again and returns them by their old records.
func (o *OwnStream) Regrow(ctx context.Context, stage *refs.Stage, rewrite Rewrite) (map[objects.Hash]Regrown, error) {
	out := map[objects.Hash]Regrown{}
	err := o.read(func(r io.Reader) error {
		tail := stream.Tail{Hash: objects.NewHasher()}
		var carry transcript.Carry
		var prev redact.Patch
		segments, size := 0, int64(0)
		for i, p := range o.Points {
			old := &io.LimitedReader{R: r, N: p.Size - size}
			clean, finish := rewrite(i, old)
			sc := transcript.NewScanner(carry, func(b []byte) [32]byte { return objects.Sum(b) })
			start := tail.Length
			g, err := stage.Grow(ctx, stream.Name(o.session, o.Generation), segments, &tail, io.TeeReader(clean, sc))
			if err == nil && old.N > 0 {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			sc.Withdraw(p.Rewound)
			sum := sc.Summary()
			carry, segments, size = sum.Carry, g.Segments, p.Size
			made := Regrown{Was: p.Snapshot, Now: p.Snapshot}
			now := &made.Now
			now.Original, now.Size, now.Segments, now.Scan = g.Sum, g.Size, g.Segments, sum.Carry
			now.Retype(sum.Prompts, sum.Waiting)
			patch, err := finish(now)
			if err != nil {
				return err
			}
			chained := prev.RawLen > 0
			now.Withheld = patch == nil || chained || len(patch.Cuts)+len(patch.Tail) > 0
			if now.Withheld && patch != nil {
				patch.Rules, patch.After, patch.Clean = now.Rules, g.Size, g.Sum
				if patch.Before, patch.Prev = 0, (objects.Hash{}); chained {
					patch.Before, patch.Prev = start, prev.Name()
				}
				made.Patch = patch.Encode()
				if chained || len(patch.Cuts) > 0 {
					prev = *patch
				}
			}
			if made.Body, err = objects.EncodeJSON(*now); err != nil {
				return err
			}
			out[p.Stamp.Record] = made
		}
		_, err := io.Copy(io.Discard, r) // reading to the end checks the hash
		return err
	})
	return out, err
}

// Masked rewrites the stream with masks over its exact bytes, which are then those that a capture reads through an
// [originals.Guard], and without the overflow files that keepFile refuses.
func (o *OwnStream) Masked(masks originals.Masks, keepFile func(records.FileRef) bool) Rewrite {
	m := &masked{masks: masks, exact: objects.NewHasher()}
	cuts := o.Cuts()
	return func(i int, old io.Reader) (io.Reader, func(*records.Snapshot) (*redact.Patch, error)) {
		in := before(cuts, o.Points[i].Size)
		m.clean, m.cuts, m.made, cuts = old, cuts[:in], nil, cuts[in:]
		return m, func(now *records.Snapshot) (*redact.Patch, error) {
			now.Files = slices.DeleteFunc(slices.Clone(now.Files), func(f records.FileRef) bool { return !keepFile(f) })
			if now.Withheld && i >= o.kept {
				return nil, nil
			}
			return &redact.Patch{RawLen: m.size, Raw: m.exact.Sum(), Cuts: m.made}, nil
		}
	}
}

// A masked reads clean bytes with masks over the exact ones. What was cut from a value that is masked as a whole is in its
// placeholder; other cuts are made again.
type masked struct {
	clean io.Reader
	cuts  []redact.Cut // not reached yet
	at    int64        // read from clean
	masks originals.Masks
	exact *objects.Hasher
	size  int64        // exact bytes so far
	made  []redact.Cut // in the bytes that were returned
	out   int64        // bytes that were returned
	rest  []byte       // returned next
}

func (m *masked) Read(p []byte) (n int, err error) {
	if len(m.rest) == 0 && len(m.cuts) > 0 && m.cuts[0].At == m.at {
		if err := m.cut(m.cuts[0]); err != nil {
			return 0, err
		}
	}
	if len(m.rest) > 0 {
		n = copy(p, m.rest)
		m.rest, m.out = m.rest[n:], m.out+int64(n)
		return n, nil
	}
	if len(m.cuts) > 0 {
		p = p[:min(int64(len(p)), m.cuts[0].At-m.at)]
	}
	n, err = m.clean.Read(p)
	m.mask(p[:n])
	m.at, m.out = m.at+int64(n), m.out+int64(n)
	if err == io.EOF && len(m.cuts) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// cut reads a placeholder and makes the bytes to return for it.
func (m *masked) cut(c redact.Cut) error {
	mark := make([]byte, c.Len)
	if _, err := io.ReadFull(m.clean, mark); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	c.At, c.Bytes = m.out, bytes.Clone(c.Bytes)
	m.at, m.cuts = m.at+int64(c.Len), m.cuts[1:]
	if m.mask(c.Bytes) {
		m.rest = c.Bytes
	} else {
		m.rest, m.made = mark, append(m.made, c)
	}
	return nil
}

// mask puts the masks over exact bytes. It reports whether they are in a placeholder.
func (m *masked) mask(b []byte) (whole bool) {
	whole = m.masks.Put(b, m.size)
	m.exact.Write(b)
	m.size += int64(len(b))
	return whole
}
