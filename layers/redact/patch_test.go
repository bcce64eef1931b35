package redact

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/memvcs/mem/objects"
)

func sample() (clean []byte, patches []Patch) {
	rnd := rand.New(rand.NewPCG(7, 7))
	clean, _, patches = grow(rnd, transcript(rnd, 9), toys())
	for i := range patches { // so that every chain below is tied
		if i > 0 {
			patches[i].Prev = patches[i-1].Name()
		}
	}
	return clean, patches
}

func TestPatchEncoding(t *testing.T) {
	t.Parallel()
	p := Patch{Rules: "toy 1", Before: 2, After: 40, Clean: objects.Sum([]byte("c")), RawLen: 41, Raw: objects.Sum([]byte("r")),
		Cuts: []Cut{{At: 3, Len: 18, No: 1, Bytes: []byte("ab\n")}}, Tail: []byte("{\"x\x00")}
	want := `{"format":"mem-patch 1","rules":"toy 1","before":2,"after":40,"clean":"` + p.Clean.String() +
		`","raw_len":41,"raw":"` + p.Raw.String() + `","cuts":[[3,18,1,3]],"tail":4}` + "\nab\n{\"x\x00"
	if got := string(p.Encode()); got != want {
		t.Errorf("Encode = %q\nwant %q", got, want)
	}
	got, err := Decode([]byte(want))
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("Decode = %+v, %v, want %+v", got, err, p)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	good := string(Patch{Rules: "r", After: 9, Cuts: []Cut{{At: 1, Len: 2, No: 1, Bytes: []byte("x")}}}.Encode())
	for _, tt := range []struct{ name, old, new string }{
		{"empty", good, ""},
		{"no line", "\n", ""},
		{"newer format", "patch 1", "patch 2"},
		{"spaces", `"tail":0`, `"tail": 0`},
		{"unknown field", `"tail":0`, `"tail":0,"more":1`},
		{"tail too long", `"tail":0`, `"tail":1`},
		{"shrinks", `"before":0`, `"before":10`},
		{"cut outside", `[1,2,1,1]`, `[8,2,1,1]`},
		{"cut overflows", `[1,2,1,1]`, `[9223372036854775807,2,1,1]`},
		{"cut without placeholder", `[1,2,1,1]`, `[1,0,1,1]`},
		{"cut longer than the file", `[1,2,1,1]`, `[1,2,1,9]`},
		{"prev is zero", `,"cuts"`, `,"prev":"` + strings.Repeat("0", 64) + `","cuts"`},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if bad == good {
			t.Fatalf("%s: nothing replaced in %q", tt.name, good)
		}
		if _, err := Decode([]byte(bad)); !errors.Is(err, errPatch) {
			t.Errorf("%s: Decode = %v, want %v", tt.name, err, errPatch)
		}
	}
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	clean, patches := sample()
	if len(patches) < 3 || len(patches[1].Cuts) == 0 {
		t.Fatal("the sample is too small")
	}
	with := func(change func(ps []Patch)) []Patch {
		ps := append([]Patch(nil), patches...)
		change(ps)
		return ps
	}
	other := bytes.Clone(clean)
	other[0] ^= 1
	for _, tt := range []struct {
		name    string
		clean   []byte
		patches []Patch
		want    error
	}{
		{"no patch", clean, nil, errPatch},
		{"gap", clean, patches[1:], errPatch},
		{"short", clean[:len(clean)-1], patches, errPatch},
		{"long", append(bytes.Clone(clean), 'x'), patches, errPatch},
		{"other clean bytes", other, patches, objects.ErrCorrupt},
		{"other cut", clean, with(func(ps []Patch) {
			ps[1].Cuts = append([]Cut(nil), ps[1].Cuts...)
			ps[1].Cuts[0].Bytes = []byte("other")
		}), errPatch},
		{"other tail", clean, with(func(ps []Patch) { ps[len(ps)-1].Tail = []byte("other") }), objects.ErrCorrupt},
	} {
		if err := Restore(io.Discard, bytes.NewReader(tt.clean), tt.patches...); !errors.Is(err, tt.want) {
			t.Errorf("%s: Restore = %v, want %v", tt.name, err, tt.want)
		}
	}
	broken := errors.New("broken")
	if err := Restore(io.Discard, iotest.ErrReader(broken), patches...); !errors.Is(err, broken) {
		t.Errorf("Restore from a broken reader = %v, want %v", err, broken)
	}
	if err := Restore(io.Discard, io.MultiReader(bytes.NewReader(clean), iotest.ErrReader(broken)), patches...); !errors.Is(err, broken) {
		t.Errorf("Restore from a reader broken at its end = %v, want %v", err, broken)
	}
}

func FuzzDecode(f *testing.F) {
	_, patches := sample()
	for _, p := range patches {
		f.Add(p.Encode())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Decode(b)
		if err != nil {
			if !errors.Is(err, errPatch) {
				t.Fatalf("Decode = %v, which is no ErrPatch", err)
			}
			return
		}
		if got := p.Encode(); !bytes.Equal(got, b) {
			t.Fatalf("Encode(Decode(%q)) = %q", b, got)
		}
	})
}
