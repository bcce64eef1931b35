package tokens

import (
	"cmp"
	"encoding/binary"
	"flag"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

var update = flag.Bool("update", false, "write o200k.bin anew")

// library is what counts are held against.
var library = sync.OnceValue(codec.NewO200kBase)

// TestVocabulary makes the vocabulary from that of the library.
func TestVocabulary(t *testing.T) {
	t.Parallel()
	want := layOut(t)
	if *update {
		if err := os.WriteFile("o200k.bin", want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if o200k != string(want) {
		t.Fatalf("o200k.bin (%d bytes) is not the vocabulary of the library (%d bytes)", len(o200k), len(want))
	}
	for rank := range uint32(endOf(buckets - 1)) {
		text, err := library().Decode([]uint{uint(rank)})
		if err != nil {
			t.Fatal(err)
		}
		if got := rankOf(text); got != rank {
			t.Fatalf("rankOf(%q) = %d, want %d", text, got, rank)
		}
		if got := rankOf(text + "\x00\xff"); got != noRank {
			t.Fatalf("rankOf(%q) = %d, want none", text+"\x00\xff", got)
		}
	}
}

// layOut returns what is to be in o200k.bin.
func layOut(t *testing.T) []byte {
	type token struct {
		bucket int
		entry  uint64
	}
	var tokens []token
	var texts []byte
	for rank := uint(0); ; rank++ {
		text, err := library().Decode([]uint{rank})
		if err != nil {
			break // ranks are dense: this one is behind the last
		}
		if len(text) >= 1<<8 || len(texts) >= 1<<22 || rank >= 1<<18 {
			t.Fatalf("token %d of %d bytes at %d has no room in an entry", rank, len(text), len(texts))
		}
		bucket, check := hashOf(text)
		e := uint64(rank) | uint64(len(text))<<18 | uint64(len(texts))<<26 | uint64(check)<<48
		tokens = append(tokens, token{bucket, e})
		texts = append(texts, text...)
	}
	slices.SortStableFunc(tokens, func(a, b token) int { return cmp.Compare(a.bucket, b.bucket) })
	var out []byte
	n := 0
	for b := range buckets {
		for n < len(tokens) && tokens[n].bucket == b {
			n++
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, k := range tokens {
		out = binary.LittleEndian.AppendUint64(out, k.entry)
	}
	return append(out, texts...)
}
