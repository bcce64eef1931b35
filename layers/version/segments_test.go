package version

import (
	"testing"
)

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"role":"user","text":"a","src":[[1,2]],"keep":"0.80"}` + "\n"))
	f.Add([]byte(`{"role":"tool","text":"a","src":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		segs, err := Decode(b)
		if err != nil {
			return
		}
		out, err := Encode(segs)
		if err != nil {
			t.Fatalf("decoded %q but cannot encode it: %v", b, err)
		}
		again, err := Decode(out)
		if err != nil || len(again) != len(segs) {
			t.Fatalf("%q: %v", out, err)
		}
	})
}

func TestDecodeRejects(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`{"role":"system","text":"a","src":[[1,1]]}`, `{"role":"user","text":"a","src":[[2,1]]}`, `{"role":"user","text":"a","src":[[0,1]]}`,
		`{"role":"user","text":"a","src":[[3,3],[1,1]]}`, `{"role":"user","text":"a"}`, `{"role":"user","txt":"a","src":[[1,1]]}`, `{"role":`, `[]`,
		`{"role":"user","text":"a","src":[[1,1]],"keep":"0.8"}`} {
		if segs, err := Decode([]byte(s)); err == nil {
			t.Errorf("Decode(%s) = %+v, want an error", s, segs)
		}
	}
}
