package capture

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/objects"
)

// toyRules find TOKEN_ with letters.
func toyRules() redact.Rules {
	token := regexp.MustCompile(`TOKEN_[a-z]+`)
	return redact.Rules{ID: "toy", Rules: []redact.Rule{func(v []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, m := range token.FindAllIndex(v, -1) {
				if !yield(redact.Finding{Start: m[0], End: m[1], Rule: "toy"}) {
					return
				}
			}
		}
	}}}
}

// secretLines returns lines, some torn or no JSON, with secrets and the word needle.
func secretLines(rnd *rand.Rand) []byte {
	words := []string{"needle", "TOKEN_abcdefgh", "TOKEN_zz", "some", "words", "ä", `\n`, "needleneedle"}
	var b strings.Builder
	for n := range 1 + rnd.IntN(12) {
		var text []string
		for range rnd.IntN(7) {
			text = append(text, words[rnd.IntN(len(words))])
		}
		switch said := strings.Join(text, " "); rnd.IntN(4) {
		case 0:
			fmt.Fprintf(&b, "torn %s\n", said)
		case 1:
			fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","message":{"content":"%s"}}{"type":"x","text":"%[2]s"}`+"\n", n, said)
		default:
			fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","message":{"role":"user","content":"%s"}}`+"\n", n, said)
		}
	}
	return []byte(b.String())
}

// spotsOf returns where a word is in a value.
func spotsOf(raw []byte, word string) (spots [][2]int) {
	for at := 0; ; {
		n := bytes.Index(raw[at:], []byte(word))
		if n < 0 {
			return spots
		}
		spots = append(spots, [2]int{at + n, at + n + len(word)})
		at += n + len(word)
	}
}

// TestWithout deletes words and values from streams with cuts: the exact bytes of the result are the edited exact bytes,
// whatever was cut out of them, and each offset at the end of a value moves to the end of the same value.
func TestWithout(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 11))
	edited := 0
	for range 400 {
		exact := secretLines(rnd)
		var numbers redact.Numbers
		clean, cuts := toyRules().Redact(exact, &numbers)
		o := &OwnStream{Patches: []*redact.Patch{nil, {Cuts: cuts}},
			read: func(f func(io.Reader) error) error { return f(iotest.HalfReader(bytes.NewReader(clean))) }}
		only := rnd.IntN(3)
		edit := func(v transcript.Value) (bool, [][2]int) {
			if v.N%4 == only {
				return true, nil
			}
			return false, spotsOf(v.Raw, "needle")
		}
		want := slices.Clone(exact)
		for v := range transcript.Values(exact) {
			whole, spots := edit(v)
			part := want[v.Off : v.Off+v.Size]
			if whole {
				copy(part, originals.Placeholder(len(part), v.Opaque, originals.IsPrompt(v.Raw)))
			}
			originals.Mask(part, spots)
		}
		w, err := o.Without(edit)
		if err != nil {
			t.Fatal(err)
		}
		if w == nil {
			if !bytes.Equal(want, exact) {
				t.Fatalf("nothing is deleted from %q", exact)
			}
			continue
		}
		edited++
		got, err := io.ReadAll(w.reader(iotest.OneByteReader(bytes.NewReader(clean))))
		if err != nil {
			t.Fatal(err)
		}
		if back := uncut(got, 0, w.Cuts); !bytes.Equal(back, want) {
			t.Fatalf("of %q\ngot  %q\nwant %q", exact, back, want)
		}
		after := slices.Collect(transcript.Values(got))
		for i, v := range slices.Collect(transcript.Values(clean)) {
			if end, now := v.Off+v.Size, after[i].Off+after[i].Size; w.moved(end) != now {
				t.Fatalf("of %q: the end %d of value %d is at %d, want %d", exact, end, v.N, w.moved(end), now)
			}
		}
		u := &uncutter{to: objects.NewHasher(), cuts: slices.Clone(w.Cuts)}
		for rest := got; len(rest) > 0; {
			n := 1 + rnd.IntN(len(rest))
			u.Write(rest[:n]) // never fails
			rest = rest[n:]
		}
		if u.to.Sum() != objects.Sum(want) || u.n != int64(len(want)) {
			t.Fatalf("of %q: %d exact bytes, want %d and their hash", exact, u.n, len(want))
		}
		if _, err := io.ReadAll(w.reader(bytes.NewReader(clean[:len(clean)-1]))); w.changes[len(w.changes)-1].end == int64(len(clean)-1) && err == nil {
			continue
		} else if w.changes[len(w.changes)-1].end == int64(len(clean)) && err != io.ErrUnexpectedEOF {
			t.Fatalf("a stream that ends too early: %v", err)
		}
	}
	if edited < 200 {
		t.Errorf("%d streams were edited", edited)
	}
}
