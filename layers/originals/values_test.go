package originals_test

import (
	"encoding/json"
	"testing"

	"github.com/memvcs/mem/layers/originals"
)

// TestBlot blots out digits in strings and in numbers: what was JSON stays JSON of the same length, with stars wherever they can stand.
func TestBlot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, want string
	}{
		{`{"a":"x 481516 y","n":481516,"l":[-481516.5]}`, `{"a":"x ****** y","n":999999,"l":[-999999.5]}`},
		{`{"a":"x \"481516\\","n":481516}`, `{"a":"x \"******\\","n":999999}`},
		{`{"481516":"481516"}`, `{"******":"******"}`},
		{`torn line "481516`, `torn line "******`},
	} {
		raw := []byte(c.in)
		originals.Mask(raw, originals.PlacesOf(raw, [][]byte{[]byte("481516")}))
		if string(raw) != c.want || json.Valid(raw) != json.Valid([]byte(c.in)) {
			t.Errorf("%s became %s, want %s", c.in, raw, c.want)
		}
	}
}
