package stream

import "github.com/klauspost/compress/zstd"

// An effort contains the compression parameters of a segment with a dictionary.
type effort struct {
	window int
	level  zstd.EncoderLevel
}

// effortFor returns the parameters for a segment. Most segments are short tails: there are many, and each takes little
// time. The window is the smallest one for the segment and its dictionary, because an encoder allocates and clears it.
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

// A prepared encoder has loaded its dictionary while the segment is still being read. For a short tail that is most of
// the work.
type prepared struct {
	effort effort
	ready  chan *zstd.Encoder // receives nil on failure
}

// prepare prepares an encoder for the next segment of t. It returns nil if the size of the segment is unknown.
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
			e.EncodeAll(dict[:1], nil) // builds the tables of the dictionary, which are kept
		}
		p.ready <- e
	}(t.Dict[int64(len(t.Dict))-d:])
	return p
}

// encoder returns an encoder for a segment with its dictionary. Its output does not depend on preparation.
func (p *prepared) encoder(h Head, dict []byte) (*zstd.Encoder, error) {
	e := effortFor(h)
	if p != nil && p.effort == e {
		if ready := <-p.ready; ready != nil {
			return ready, nil
		}
	}
	return e.encoder(dict)
}
