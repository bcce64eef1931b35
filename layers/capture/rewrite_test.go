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
	"github.com/memvcs/mem/layers/records"
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

// TestMasked deletes words and values from streams with cuts: the exact bytes of the result are the masked exact bytes, whatever
// was cut out of them, and each growth point ends at the end of the same value.
func TestMasked(t *testing.T) {
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
		var masks originals.Masks
		if err := o.Values(func(v transcript.Value) {
			whole, spots := edit(v)
			masks.Add(v, whole, spots)
		}); err != nil {
			t.Fatal(err)
		}
		if edited += min(1, len(masks)); len(masks) == 0 && !bytes.Equal(want, exact) {
			t.Fatalf("nothing is deleted from %q", exact)
		}
		values := slices.Collect(transcript.Values(clean))
		ends := []int{0} // of values
		for i, v := range values {
			size := v.Off + v.Size
			if i == len(values)-1 {
				size = int64(len(clean))
			} else if rnd.IntN(3) > 0 {
				continue
			}
			o.Points, ends = append(o.Points, records.Point{Snapshot: records.Snapshot{Size: size}}), append(ends, i+1)
		}
		rewrite := o.Masked(masks, func(records.FileRef) bool { return true })
		var got []byte
		var again []redact.Cut
		from := int64(0)
		for i, p := range o.Points {
			r, finish := rewrite(i, iotest.OneByteReader(bytes.NewReader(clean[from:p.Size])))
			part, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			patch, err := finish(&records.Snapshot{})
			if err != nil {
				t.Fatal(err)
			}
			got, again, from = append(got, part...), append(again, patch.Cuts...), p.Size
			if n := len(slices.Collect(transcript.Values(got))); n != ends[i+1] {
				t.Fatalf("of %q: %d values up to %d, want %d", exact, n, p.Size, ends[i+1])
			}
			if back := uncut(got, 0, again); patch.RawLen != int64(len(back)) || patch.Raw != objects.Sum(back) || !bytes.HasPrefix(want, back) {
				t.Fatalf("of %q\ngot  %d bytes %q\nwant %q", exact, patch.RawLen, back, want)
			}
		}
		if back := uncut(got, 0, again); !bytes.Equal(back, want) {
			t.Fatalf("of %q\ngot  %q\nwant %q", exact, back, want)
		}
		if len(cuts) == 0 {
			continue
		}
		r, _ := o.Masked(masks, nil)(len(o.Points)-1, bytes.NewReader(clean[:cuts[len(cuts)-1].At]))
		if _, err := io.ReadAll(r); err != io.ErrUnexpectedEOF {
			t.Fatalf("a stream that ends too early: %v", err)
		}
	}
	if edited < 200 {
		t.Errorf("%d streams were edited", edited)
	}
}
