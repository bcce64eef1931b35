package scanner

import (
	"hash/maphash"
	"sync/atomic"
)

// nameless is the length of a JSON string from which it is certain that the string is no name, whatever its escapes: a
// name has at most 96 bytes, and an escape of six bytes stands for one byte at least.
const nameless = 600

// cleanTexts remembers JSON strings without findings. A session repeats most of its strings: names, directories,
// results of tools in two forms, files that are read again. A hash function of its own, which no text can know,
// identifies them.
type cleanTexts struct {
	rules *Ruleset // that found nothing
	known int      // the number of its known values
	seed  maphash.Seed
	slots [1 << 11]atomic.Uint64 // the hash of the last string for each value of its low bits; 0 for none
}

// Remember starts to remember strings without findings by rules, or goes on.
func (k *Knowns) Remember(rules *Ruleset) {
	if c := k.clean; c == nil || c.rules != rules || c.known != len(rules.Values) {
		k.clean = &cleanTexts{rules: rules, known: len(rules.Values), seed: maphash.MakeSeed()}
	}
}

// A memo is where a string can be remembered. The zero memo is nowhere.
type memo struct {
	at  *atomic.Uint64
	sum uint64
}

// seen returns the memo of a JSON string, and whether nothing was found in that string before. It returns the zero memo if the
// string is not scanned alone.
func (k *Knowns) seen(raw []byte, alone bool) (s memo, clean bool) {
	if k == nil || k.clean == nil || !alone || len(raw) < 8 {
		return memo{}, false
	}
	c := k.clean
	s.sum = maphash.Bytes(c.seed, raw) | 1<<63
	s.at = &c.slots[s.sum%uint64(len(c.slots))]
	return s, s.at.Load() == s.sum
}

// mark remembers that nothing was found in the string.
func (s memo) mark() {
	if s.at != nil {
		s.at.Store(s.sum)
	}
}
