package originals_test

import (
	"encoding/json"
	"testing"

	"github.com/memvcs/mem/layers/originals"
)

// TestBlot blots out digits in strings and in numbers: what was JSON stays JSON of the same length, with stars wherever they can stand.
func TestBlot(t *testing.T) {
	t.Parallel()
	never := func([]byte) bool { return false }
	for _, c := range []struct {
		in, want string
		nines    bool
	}{
		{`{"a":"x 481516 y","n":481516,"l":[-481516.5]}`, `{"a":"x ****** y","n":999999,"l":[-999999.5]}`, false},
		{`{"a":"x \"481516\\","n":481516}`, `{"a":"x \"******\\","n":999999}`, false},
		{`{"481516":"481516"}`, `{"******":"******"}`, false},
		{`{"a":"x 481516","n":481516}`, `{"a":"x 999999","n":999999}`, true}, // forgotten before there were stars
		{`torn line "481516`, `torn line "******`, false},
	} {
		raw := []byte(c.in)
		nines := never
		if c.nines {
			nines = func([]byte) bool { return true }
		}
		originals.Mask(raw, originals.PlacesOf(raw, [][]byte{[]byte("481516")}), nines)
		if string(raw) != c.want || json.Valid(raw) != json.Valid([]byte(c.in)) {
			t.Errorf("%s became %s, want %s", c.in, raw, c.want)
		}
	}
}
