package tokens

import (
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	longPiece   = 1024    // a longer piece is counted in parts of this size
	cachedPiece = 40      // longer pieces are rarely repeated
	cacheSize   = 1 << 16 // pieces; a full cache is cleared
)

// caches contains a cache of counts for each goroutine that counts. A cache never changes a result.
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

// countLong counts a piece in parts, split between runes; tokens across a split cost a little extra.
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

// encode counts a piece, or a part of a long one, which may be split again. For stable counts every invalid byte counts
// as U+FFFD and U+007F as no token; if nothing else remains, every byte counts.
func encode(p string) int {
	if !utf8.ValidString(p) {
		p = string([]rune(p))
	}
	total := 0
	for s := range strings.SplitSeq(p, "\x7f") {
		for s != "" {
			n := short(s)
			total += merged(s[:n])
			s = s[n:]
		}
	}
	if total == 0 {
		return len(p)
	}
	return total
}

// short is [piece], but splits blanks with several line ends after the first run of them, for stable counts.
func short(s string) int {
	for i := 0; ; {
		c, n := at(s, i)
		if c&eol != 0 {
			return run(s, i, eol)
		}
		if c&space == 0 {
			return piece(s)
		}
		i += n
	}
}
