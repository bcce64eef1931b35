package incoming

import (
	"sync"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/objects/stream"
)

// An ahead checks the segments of streams while a pack still comes: packs have those of a stream in their
// order, one behind the other. It decides nothing. What it has seen to the end is not read once more by
// [arriver]; all else is.
type ahead struct {
	free chan struct{} // a place for each chain at work
	now  *chain        // that grows; nil: none
	end  int64         // of the stream that it grows
	left allowance
	wg   sync.WaitGroup

	mu     sync.Mutex
	broken bool             // something was wrong, or in another order: nothing more is done ahead
	links  map[pack.ID]link // segments that were found good
	spare  chan []byte      // memory of blobs
}

// A link says of a segment that it is good behind another one, or, if that is zero, at the beginning.
type link struct {
	before pack.ID
	sum    objects.Hash // of the stream up to its end
}

// A chain is a stream of which segments come.
type chain struct{ in chan segment }

type segment struct {
	id   pack.ID
	sum  objects.Hash
	blob []byte
}

// aheadSlack is how many bytes are unpacked ahead whatever the size of what comes.
const aheadSlack = 1 << 30

func newAhead(workers int) *ahead {
	a := &ahead{free: make(chan struct{}, workers), links: map[pack.ID]link{}, spare: make(chan []byte, 2*workers)}
	a.left.n.Store(aheadSlack)
	return a
}

// take looks at the next blob that came, keeps it if it is a segment that can be checked, and returns memory
// for the next one.
func (a *ahead) take(id pack.ID, blob []byte) []byte {
	a.left.came(int64(len(blob)))
	h, _, err := stream.ParseHead(blob)
	if err != nil {
		return blob
	}
	if a.left.spend(h.Length) != nil || a.isBroken() {
		a.cut()
		return blob
	}
	switch {
	case h.Offset == 0:
		a.cut()
		a.begin()
	case a.now == nil || h.Offset != a.end:
		a.cut()
		return blob
	}
	a.end = h.End()
	a.now.in <- segment{id, h.Sum, blob}
	select {
	case b := <-a.spare:
		return b
	default:
		return nil
	}
}

// begin starts a chain, when there is a place for it.
func (a *ahead) begin() {
	a.free <- struct{}{}
	c := &chain{in: make(chan segment, 1)}
	a.now = c
	a.wg.Go(func() {
		defer func() { <-a.free }()
		a.follow(c)
	})
}

// cut ends the chain that grows.
func (a *ahead) cut() {
	if a.now != nil {
		close(a.now.in)
		a.now = nil
	}
}

// follow checks the segments of a chain.
func (a *ahead) follow(c *chain) {
	var before pack.ID
	r := stream.NewChain()
	defer r.Release()
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
		case a.spare <- s.blob[:0]:
		default:
		}
	}
}

func (a *ahead) isBroken() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.broken
}

// wait ends what is at work.
func (a *ahead) wait() {
	a.cut()
	a.wg.Wait()
}

// sums returns what the segments of a stream end in, if all of them were found good one behind the other.
func (a *ahead) sums(ids []pack.ID) ([]objects.Hash, bool) {
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
