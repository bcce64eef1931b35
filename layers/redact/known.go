package redact

import (
	"encoding/binary"

	"github.com/memvcs/mem/objects"
)

// minKnown is the minimum length of a value that is searched for everywhere.
const minKnown = 8

// A Known is a value that is a secret wherever it occurs. It contains hashes of the value, not the value.
type Known struct {
	rule   string
	start  uint64 // hash of the first minKnown bytes
	length int
	Sum    objects.Hash
}

// Know returns the Known of a value. ok is false if the value is so short or plain that it would be found in other
// text.
func Know(rule string, value []byte) (k Known, ok bool) {
	if len(value) < minKnown || len(value) > 64<<10 || repeats(value) || isPlaceholder(value) ||
		reference(value, Quoted) {
		return Known{}, false
	}
	return Known{rule, startOf(value), len(value), objects.Sum(value)}, true
}

// startOf returns a hash of the first [minKnown] bytes of text.
func startOf(text []byte) uint64 {
	v := binary.LittleEndian.Uint64(text)
	return (v ^ v>>29) * 0xBF58476D1CE4E5B9
}

// knowns are the known values of a session. The zero value is empty. Several goroutines may scan with it if none adds
// to it.
type knowns struct {
	begins  *[1 << 8]uint64 // a bit for the start of each value
	byStart map[uint64][]Known
}

// Add adds a value and reports whether it is new.
func (k *knowns) Add(v Known) bool {
	if k.begins == nil {
		k.begins, k.byStart = new([1 << 8]uint64), map[uint64][]Known{}
	}
	for _, old := range k.byStart[v.start] {
		if old.Sum == v.Sum {
			return false
		}
	}
	s := v.start >> 50
	k.begins[s>>6] |= 1 << (s & 63)
	k.byStart[v.start] = append(k.byStart[v.start], v)
	return true
}

// scan finds the known values in the text of s.
func (k *knowns) scan(s *Scan) {
	if k.begins == nil {
		return
	}
	text := s.Text
	for i := 0; i+minKnown <= len(text); i++ {
		h := startOf(text[i:])
		b := h >> 50
		if k.begins[b>>6]>>(b&63)&1 == 0 {
			continue
		}
		for _, v := range k.byStart[h] {
			if i+v.length <= len(text) && objects.Sum(text[i:i+v.length]) == v.Sum {
				s.found(i, i+v.length, v.rule)
			}
		}
	}
}
