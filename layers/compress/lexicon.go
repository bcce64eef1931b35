package compress

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress/anchors"
)

// lexicon numbers concepts.
type lexicon struct {
	ids   map[string]int32
	pairs map[[2]int32]int32
	words map[string]int32 // lower-case word -> stem concept, -1 for stop words
	known chunkList[concept]

	rare   *filter            // what it says is met once gets no number; nil: everything has one
	hashes map[int32]uint64   // of stems, in the filter
	alone  []uint64           // what only the text at hand is about
	at     map[uint64]int32   // where in alone, if that is long
	kinds  [anchors.Kinds]int // of alone
}

// concept is what the lexicon knows of one.
type concept struct {
	anchors.Kind
	count int32 // units, or items, that it occurs in
	in    int32 // the last of them, plus one
	seen  int32 // the last unit that it was found in, plus one
}

// forget drops all but what is known of the numbers.
func (l *lexicon) forget() { *l = lexicon{known: l.known} }

// stopWord is in the place of the number of a stop word. What only the text at hand is about has smaller ones.
const stopWord = -1

func newLexicon() *lexicon {
	return &lexicon{ids: map[string]int32{}, pairs: map[[2]int32]int32{}, words: map[string]int32{}}
}

// withFilter makes the lexicon number only what the filter says comes up again.
func (l *lexicon) withFilter(f *filter) *lexicon {
	l.rare, l.hashes, l.at = f, map[int32]uint64{}, map[uint64]int32{}
	return l
}

func (l *lexicon) id(k anchors.Kind, s string) int32 {
	h := uint64(0)
	if l.rare != nil {
		if h = l.rare.hash(k, s); !l.rare.several(h) {
			return l.unique(k, h)
		}
	}
	key := string([]byte{'0' + byte(k)}) + s
	if id, ok := l.ids[key]; ok {
		return id
	}
	id := l.fresh(k)
	l.ids[key] = id
	if l.rare != nil && k == anchors.StemConcept {
		l.hashes[id] = h
	}
	return id
}

// fresh returns a new number.
func (l *lexicon) fresh(k anchors.Kind) int32 {
	l.known.add(concept{Kind: k})
	return int32(l.known.n - 1)
}

// pair returns the concept of two neighbouring stems.
func (l *lexicon) pair(a, b int32) int32 {
	if l.rare != nil {
		if a < 0 || b < 0 { // what is met once has neighbours once
			return l.unique(anchors.PairConcept, spread(uint64(uint32(a))<<32|uint64(uint32(b))))
		}
		if h := l.rare.pair(l.hashes[a], l.hashes[b]); !l.rare.several(h) {
			return l.unique(anchors.PairConcept, h)
		}
	}
	key := [2]int32{a, b}
	id, ok := l.pairs[key]
	if !ok {
		id = l.fresh(anchors.PairConcept)
		l.pairs[key] = id
	}
	return id
}

// unique returns what stands for a concept in the text at hand, the only one that is about it.
func (l *lexicon) unique(k anchors.Kind, h uint64) int32 {
	const few = 48 // are found as fast as in a map
	i := int32(slices.Index(l.alone[:min(len(l.alone), few)], h))
	if i < 0 && len(l.alone) > few {
		if j, ok := l.at[h]; ok {
			i = j
		}
	}
	if i < 0 {
		i = int32(len(l.alone))
		if i >= few {
			l.at[h] = i
		}
		l.alone = append(l.alone, h)
		l.kinds[k]++
	}
	return stopWord - 1 - i
}

// wordsKept is how many words are kept with their stems where there is much text.
const wordsKept = 1 << 16

// word returns the concept of a word. w is only kept when it is new.
func (l *lexicon) word(w string) int32 {
	if id, ok := l.words[w]; ok {
		return id
	}
	id := int32(stopWord)
	if !anchors.StopWords()[w] {
		id = l.id(anchors.StemConcept, stem(w))
	}
	if id >= stopWord && (l.rare == nil || len(l.words) < wordsKept) {
		l.words[strings.Clone(w)] = id
	}
	return id
}

// gatherOptions says which concepts are looked for beside stems and anchors.
type gatherOptions struct {
	pairs bool  // of neighbouring stems
	names bool  // with dots
	in    int32 // what is counted: a concept counts once for each
}

// gather appends the concepts of text to out, each once per unit. What has no number it counts in l.kinds.
func (l *lexicon) gather(out []int32, unit int32, text string, g gatherOptions) []int32 {
	if len(l.alone) > 0 {
		l.alone, l.kinds = l.alone[:0], [anchors.Kinds]int{}
		clear(l.at)
	}
	add := func(id int32) {
		if id < 0 {
			return
		}
		c := l.known.at(id)
		if c.seen == unit+1 {
			return
		}
		c.seen = unit + 1
		if c.in != g.in+1 {
			c.in = g.in + 1
			c.count++
		}
		out = append(out, id)
	}
	last := int32(stopWord)
	anchors.EachTerm(text, func(s string, word bool) {
		id := int32(stopWord)
		if word {
			id = l.word(s)
		} else {
			id = l.id(anchors.StemConcept, s)
		}
		if id == stopWord {
			return
		}
		add(id)
		if g.pairs && last != stopWord {
			add(l.pair(last, id))
		}
		last = id
	})
	anchors.EachAnchor(text, func(a string) { add(l.id(anchors.AnchorConcept, a)) })
	if g.names {
		anchors.EachName(text, func(a string) { add(l.id(anchors.NameConcept, a)) })
	}
	return out
}
