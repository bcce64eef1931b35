package redact

// A Set finds fixed words in a text, whatever their case.
type Set struct {
	words []string         // in lower case, three bytes at least
	table [1 << 12][]int32 // the words by a hash of their first three bytes
}

// slot hashes the first three bytes of text, whatever their case.
func slot(text []byte) uint32 {
	v := uint32(lower[text[0]]) | uint32(lower[text[1]])<<8 | uint32(lower[text[2]])<<16
	return v * 0x9E3779B1 >> 20
}

// newWordSet returns the search tables of words.
func newWordSet(words []string) *Set {
	k := &Set{words: words}
	for n, w := range words {
		s := slot([]byte(w))
		k.table[s] = append(k.table[s], int32(n))
	}
	return k
}

// Each calls found for every word in text, by offset, with the index of the word; words at one offset are in the order
// of their indexes.
func (k *Set) Each(text []byte, found func(at, word int)) {
	for i := 0; i+3 <= len(text); i++ {
		for _, n := range k.table[slot(text[i:])] {
			if hasFold(text[i:], k.words[n]) {
				found(i, int(n))
			}
		}
	}
}
