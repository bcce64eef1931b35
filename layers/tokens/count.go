package tokens

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

const (
	longPiece   = 1024    // a longer run without a cut is counted in parts of this size
	cachedPiece = 40      // longer pieces are rarely seen twice
	cacheSize   = 1 << 16 // pieces; a full cache starts anew
)

// The vocabulary is loaded once, by the first count, and is not changed afterwards.
var vocabulary = sync.OnceValue(codec.NewO200kBase)

// caches holds the counts of pieces for the goroutines that count; what is in them never changes a result.
var caches = sync.Pool{New: func() any { c := make(cache, 1<<12); return &c }}

type cache map[string]uint16

// Raw returns the number of plain o200k tokens of s. Invalid UTF-8 is counted as the bytes it is.
func Raw(s string) int {
	if s == "" {
		return 0
	}
	c := caches.Get().(*cache)
	total := 0
	for s != "" {
		n := piece(s)
		total += c.count(s[:n])
		s = s[n:]
	}
	caches.Put(c)
	return total
}

func (c *cache) count(p string) int {
	if n, ok := (*c)[p]; ok {
		return int(n)
	}
	if len(p) > longPiece {
		return countLong(p)
	}
	n := encode(p)
	if len(p) <= cachedPiece {
		if len(*c) >= cacheSize {
			clear(*c)
		}
		(*c)[strings.Clone(p)] = uint16(n)
	}
	return n
}

// countLong counts a piece in parts, cut between runes; the tokens that would cross a cut cost a little extra.
func countLong(p string) int {
	total := 0
	for len(p) > longPiece {
		k := longPiece
		for k > longPiece-utf8.UTFMax && !utf8.RuneStart(p[k]) {
			k--
		}
		total += encode(p[:k])
		p = p[k:]
	}
	return total + encode(p)
}

// encode counts one piece with the library. Its pattern always matches; should it ever refuse one, every byte counts.
func encode(p string) int {
	n, err := vocabulary().Count(p)
	if err != nil || n == 0 {
		return len(p)
	}
	return n
}
