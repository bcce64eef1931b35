package stream

import "github.com/klauspost/compress/zstd"

// An effort is how a segment with a dictionary is compressed.
type effort struct {
	window int
	level  zstd.EncoderLevel
}

// effortFor returns how hard to try. Most segments are short tails, of which there are many and each takes
// little time. The window is the smallest that reaches over a segment and its dictionary: an encoder allocates
// and clears as much.
func effortFor(h Head) effort {
	e := effort{zstd.MinWindowSize, zstd.SpeedDefault}
	if h.Length < shortTail {
		e.level = zstd.SpeedBetterCompression
	}
	for int64(e.window) < h.Dict+h.Length && e.window < window {
		e.window *= 2
	}
	return e
}

const shortTail = 1 << 20

func (e effort) encoder(dict []byte) (*zstd.Encoder, error) {
	return newEncoder(zstd.WithWindowSize(e.window), zstd.WithEncoderLevel(e.level), zstd.WithEncoderDictRaw(0, dict))
}

// A prepared encoder has read the dictionary of a segment that is still being read. For a short tail that is
// most of the work.
type prepared struct {
	effort effort
	made   chan *zstd.Encoder // nil if it could not be made
}

// prepare makes an encoder ready for what is appended to t next, nil if that is not known.
func prepare(t *Tail) *prepared {
	d := dictLen(t.Length)
	if t.Expect <= 0 || d == 0 || int64(len(t.Dict)) < d {
		return nil
	}
	p := &prepared{effortFor(Head{Length: min(t.Expect, MaxSegment-t.Length%MaxSegment), Dict: d}),
		make(chan *zstd.Encoder, 1)}
	go func(dict []byte) {
		e, err := p.effort.encoder(dict)
		if err == nil {
			e.EncodeAll(dict[:1], nil) // the tables of the dictionary are made for the first block, and kept
		}
		p.made <- e
	}(t.Dict[int64(len(t.Dict))-d:])
	return p
}

// encoder returns an encoder for a segment with its dictionary. It makes the same bytes whether or not it was prepared.
func (p *prepared) encoder(h Head, dict []byte) (*zstd.Encoder, error) {
	e := effortFor(h)
	if p != nil && p.effort == e {
		if ready := <-p.made; ready != nil {
			return ready, nil
		}
	}
	return e.encoder(dict)
}
