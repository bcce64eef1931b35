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

// Most of what much text is about is met once: words of no language, pairs of words. What only one unit is
// about needs no number, for it is never covered by another one: it is enough to know how many such things a
// unit has. Where there is much text, a filter finds out first what comes up again, so that only that is
// numbered. The choice of the units is the same with it and without: what the filter takes for frequent, and is
// not, is numbered as if there were no filter.

// A filter is a Bloom filter: it says which concepts occur more than once, and perhaps of a few more that they do.
type filter struct {
	seed  maphash.Seed
	once  []uint64 // three bits of one word for each that was met
	twice []uint64 // those that were met again
}

// newFilter returns a filter for what so many bytes of text are about.
func newFilter(size int64) *filter {
	words := 1 << bits.Len64(uint64(min(max(size/27, 1<<10), 4<<20-1)))
	return &filter{seed: maphash.MakeSeed(), once: make([]uint64, words), twice: make([]uint64, words)}
}

// hash returns what stands for a concept in the filter.
func (f *filter) hash(k anchors.Kind, s string) uint64 {
	return spread(maphash.String(f.seed, s) + uint64(k))
}

// pair returns what stands for two stems in the filter.
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

// add notes that a concept occurs. Goroutines may add at once.
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

// look fills the filter with what units are about: first with all but pairs, then with the pairs of what comes
// up again.
func (f *filter) look(us *blocks[unit], texts *shelf, near bool) {
	f.pass(us, texts, func(w *watcher, u *unit, text string) { w.terms(text, near) })
	clear(f.once)
	f.pass(us, texts, func(w *watcher, u *unit, text string) {
		if u.class == userClass {
			w.pairs(text)
		}
	})
	f.once = nil
}

// pass shows all units to watchers, one for each processor.
func (f *filter) pass(us *blocks[unit], texts *shelf, see func(w *watcher, u *unit, text string)) {
	const block = 4096
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			w, from := &watcher{f: f, stems: map[string]uint64{}}, texts.browse()
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

// A watcher shows the concepts of units to a filter, each once a unit, but for those of very long ones.
type watcher struct {
	f     *filter
	stems map[string]uint64 // of words, 0 for stop words
	met   []uint64          // in the unit
}

func (w *watcher) add(h uint64) {
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

func (w *watcher) terms(text string, near bool) {
	anchors.EachTerm(text, func(s string, word bool) {
		if h := w.hash(s, word); h != 0 {
			w.add(h)
		}
	})
	anchors.EachAnchor(text, func(a string) { w.add(w.f.hash(anchors.AnchorConcept, a)) })
	if near {
		anchors.EachName(text, func(a string) { w.add(w.f.hash(anchors.NameConcept, a)) })
	}
}

func (w *watcher) pairs(text string) {
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

// hash returns what stands for a term, 0 for a stop word.
func (w *watcher) hash(s string, word bool) uint64 {
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
