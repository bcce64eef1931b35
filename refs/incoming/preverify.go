package incoming

import (
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// A preverifier verifies the segments of streams while their pack still arrives: a pack contains the segments of a
// stream in order and adjacent. It refuses nothing. [verifier] skips streams that were verified completely here, and
// verifies all others itself.
type preverifier struct {
	slots   chan struct{} // limits the chains that are verified at once
	current *chain        // of the stream that is arriving; nil if there is none
	end     int64         // of that stream so far
	unpack  allowance
	wg      sync.WaitGroup

	mu          sync.Mutex
	broken      bool             // a segment was invalid or out of order: nothing more is verified here
	links       map[pack.ID]link // valid segments
	freeBuffers chan []byte      // buffers for blobs
}

// A link means that a segment is valid after the segment before, or at the start of a stream if before is zero.
type link struct {
	before pack.ID
	sum    objects.Hash // of the stream up to its end
}

// A chain is a stream whose segments are arriving.
type chain struct{ in chan segment }

type segment struct {
	id   pack.ID
	sum  objects.Hash
	blob []byte
}

// minPreverified is the number of bytes that may always be unpacked here, whatever the size of the pack.
const minPreverified = 1 << 30

func newPreverifier(workers int) *preverifier {
	a := &preverifier{slots: make(chan struct{}, workers), links: map[pack.ID]link{},
		freeBuffers: make(chan []byte, 2*workers)}
	a.unpack.n.Store(minPreverified)
	return a
}

// add receives the next blob of the pack. If it is a segment that can be verified, add keeps it. It returns a buffer
// for the next blob.
func (a *preverifier) add(id pack.ID, blob []byte) []byte {
	a.unpack.add(int64(len(blob)))
	h, _, err := stream.ParseHead(blob)
	if err != nil {
		return blob
	}
	if a.unpack.spend(h.Length) != nil || a.isBroken() {
		a.endChain()
		return blob
	}
	switch {
	case h.Offset == 0:
		a.endChain()
		a.startChain()
	case a.current == nil || h.Offset != a.end:
		a.endChain()
		return blob
	}
	a.end = h.End()
	a.current.in <- segment{id, h.Sum, blob}
	select {
	case b := <-a.freeBuffers:
		return b
	default:
		return nil
	}
}

// startChain starts a chain. It waits while too many are being verified.
func (a *preverifier) startChain() {
	a.slots <- struct{}{}
	c := &chain{in: make(chan segment, 1)}
	a.current = c
	a.wg.Go(func() {
		defer func() { <-a.slots }()
		a.verify(c)
	})
}

// endChain ends the current chain.
func (a *preverifier) endChain() {
	if a.current != nil {
		close(a.current.in)
		a.current = nil
	}
}

// verify verifies the segments of a chain.
func (a *preverifier) verify(c *chain) {
	var before pack.ID
	r := stream.NewChain()
	for s := range c.in {
		if a.isBroken() {
			continue
		}
		err := r.Next(s.blob)
		a.mu.Lock()
		if a.broken = a.broken || err != nil; !a.broken {
			a.links[s.id] = link{before, s.sum}
		}
		a.mu.Unlock()
		before = s.id
		select {
		case a.freeBuffers <- s.blob[:0]:
		default:
		}
	}
}

func (a *preverifier) isBroken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.broken
}

// wait ends the current chain and waits for all.
func (a *preverifier) wait() {
	a.endChain()
	a.wg.Wait()
}

// sums returns the hash of the stream up to the end of each segment, if all segments were found valid in this order.
func (a *preverifier) sums(ids []pack.ID) ([]objects.Hash, bool) {
	var before pack.ID
	sums := make([]objects.Hash, len(ids))
	for i, id := range ids {
		l, ok := a.links[id]
		if !ok || l.before != before {
			return nil, false
		}
		sums[i], before = l.sum, id
	}
	return sums, true
}
