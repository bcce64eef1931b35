package handover

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/exchange"
)

// A posting lists the turns with a word. Turns are numbered through all digests of a file; the list has the distance of
// each turn from the previous one, as varints.
type posting struct {
	Word  string
	Turns string
}

// post returns the postings of the turns of digests, sorted by word.
func post(list []storedDigest) (out []posting) {
	turns := map[string][]byte{}
	last := map[string]int{} // number of the last turn with a word, from 1
	n := 0
	for i := range list {
		for _, t := range list[i].Turns {
			n++
			exchange.EachWord(t.Asked.Text+" "+t.Answered.Text, func(w []byte) {
				if at := last[string(w)]; at != n {
					turns[string(w)] = binary.AppendUvarint(turns[string(w)], uint64(n-at))
					last[string(w)] = n
				}
			})
		}
	}
	for _, w := range slices.Sorted(maps.Keys(turns)) {
		out = append(out, posting{w, string(turns[w])})
	}
	return out
}

// turnsWith returns, for each turn of each digest, which of the words it has.
func (f *digestFile) turnsWith(words []string) [][][]string {
	out := make([][][]string, len(f.List))
	n := 0
	for i := range f.List {
		out[i] = make([][]string, len(f.List[i].Turns))
		n += len(f.List[i].Turns)
	}
	flat := make([]*[]string, 0, n)
	for i := range out {
		for k := range out[i] {
			flat = append(flat, &out[i][k])
		}
	}
	for _, w := range words {
		i, ok := slices.BinarySearchFunc(f.Words, w, func(p posting, w string) int { return strings.Compare(p.Word, w) })
		if !ok {
			continue
		}
		at := 0
		for b := []byte(f.Words[i].Turns); len(b) > 0; {
			step, size := binary.Uvarint(b)
			if size <= 0 || step == 0 || step > uint64(len(flat)-at) {
				break // malformed
			}
			at += int(step)
			*flat[at-1] = append(*flat[at-1], w)
			b = b[size:]
		}
	}
	return out
}
