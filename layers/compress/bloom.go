package compress

import (
	"hash/maphash"
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
	"github.com/memvcs/mem/layers/compress/anchors"
)

// Most concepts of a large text occur once: random words, pairs of words. A concept of only one unit needs no number,
// as no other unit covers it: the number of such concepts in a unit is enough. In a large text a filter finds the
// concepts that occur again, and only those are numbered. The choice of units does not depend on the filter: a false
// positive is numbered as it would be without it.

// A filter is a Bloom filter of the concepts that occur more than once.
type filter struct {
	seed  maphash.Seed
	once  []uint64 // three bits of one word for each concept
	twice []uint64 // the same for concepts that occurred again
}

// newFilter returns a filter for the concepts of a text of the given size in bytes.
func newFilter(size int64) *filter {
	words := 1 << bits.Len64(uint64(min(max(size/27, 1<<10), 4<<20-1)))
	return &filter{seed: maphash.MakeSeed(), once: make([]uint64, words), twice: make([]uint64, words)}
}

// hash returns the hash of a concept.
func (f *filter) hash(k anchors.Kind, s string) uint64 {
	return spread(maphash.String(f.seed, s) + uint64(k))
}

// pair returns the hash of a pair of stems.
func (f *filter) pair(a, b uint64) uint64 {
	return spread(bits.RotateLeft64(a, 23) ^ b)
}

// spread spreads a number over all of its bits.
func spread(h uint64) uint64 {
	h = (h ^ h>>32) * 0x9e3779b97f4a7c15
	return h ^ h>>29 | 1
}

// place returns the word and the bits of a hash.
func (f *filter) place(h uint64) (int, uint64) {
	return int(h>>40) & (len(f.twice) - 1), 1<<(h&63) | 1<<(h>>6&63) | 1<<(h>>12&63)
}

// add records an occurrence of a concept. It is safe for concurrent use.
func (f *filter) add(h uint64) {
	i, mask := f.place(h)
	if atomic.LoadUint64(&f.once[i])&mask == mask || atomic.OrUint64(&f.once[i], mask)&mask == mask {
		if atomic.LoadUint64(&f.twice[i])&mask != mask {
			atomic.OrUint64(&f.twice[i], mask)
		}
	}
}

// several reports whether a concept may occur more than once.
func (f *filter) several(h uint64) bool {
	i, mask := f.place(h)
	return atomic.LoadUint64(&f.twice[i])&mask == mask
}

// look adds the concepts of units: first all except pairs, then the pairs of concepts that occur again.
func (f *filter) look(us *chunkList[unit], texts *textList, roomy bool) {
	f.pass(us, texts, func(w *collector, u *unit, text string) { w.terms(text, roomy) })
	clear(f.once)
	f.pass(us, texts, func(w *collector, u *unit, text string) {
		if u.class == userClass {
			w.pairs(text)
		}
	})
	f.once = nil
}

// pass calls see with all units, on one goroutine for each processor.
func (f *filter) pass(us *chunkList[unit], texts *textList, see func(w *collector, u *unit, text string)) {
	const block = 4096
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			w, from := &collector{f: f, stems: map[string]uint64{}}, texts.browse()
			for at := int(next.Add(block)) - block; at < us.n; at = int(next.Add(block)) - block {
				for i := at; i < min(at+block, us.n); i++ {
					w.met = w.met[:0]
					see(w, us.at(int32(i)), from.text(i))
				}
			}
		})
	}
	wg.Wait()
}

// A collector shows the concepts of units to a filter, each once a unit, but for those of very long ones.
type collector struct {
	f     *filter
	stems map[string]uint64 // of words, 0 for stop words
	met   []uint64          // in the unit
}

func (w *collector) add(h uint64) {
	if len(w.met) < 64 {
		for _, m := range w.met {
			if m == h {
				return
			}
		}
		w.met = append(w.met, h)
	}
	w.f.add(h)
}

func (w *collector) terms(text string, roomy bool) {
	anchors.EachTerm(text, func(s string, word bool) {
		if h := w.hash(s, word); h != 0 {
			w.add(h)
		}
	})
	anchors.EachAnchor(text, func(a string) { w.add(w.f.hash(anchors.AnchorConcept, a)) })
	if roomy {
		anchors.EachName(text, func(a string) { w.add(w.f.hash(anchors.NameConcept, a)) })
	}
}

func (w *collector) pairs(text string) {
	last := uint64(0)
	anchors.EachTerm(text, func(s string, word bool) {
		h := w.hash(s, word)
		if h == 0 {
			return
		}
		if last != 0 && w.f.several(last) && w.f.several(h) {
			w.add(w.f.pair(last, h))
		}
		last = h
	})
}

// stemsKnown is how many words a watcher remembers.
const stemsKnown = 1 << 15

// hash returns the hash of a term, 0 for a stop word.
func (w *collector) hash(s string, word bool) uint64 {
	if !word {
		return w.f.hash(anchors.StemConcept, s)
	}
	h, ok := w.stems[s]
	if ok {
		return h
	}
	if !anchors.StopWords()[s] {
		h = w.f.hash(anchors.StemConcept, stem(s))
	}
	if len(w.stems) >= stemsKnown {
		clear(w.stems)
	}
	w.stems[strings.Clone(s)] = h
	return h
}

// stem returns the stem of a word.
func stem(w string) string {
	if anchors.IsASCII(w) {
		return english.Stem(w, true)
	}
	return w
}
