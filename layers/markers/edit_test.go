package markers_test

import (
	"errors"
	"testing"

	"github.com/memvcs/mem/layers/markers"
)

func TestFind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, text, want string
		err               error
	}{
		{"Use pgx, not lib/pq.", "pgx, not", "pgx, not", nil},
		{"Use pgx,\n\tnot lib/pq.", "pgx, not", "pgx,\n\tnot", nil},
		{"Use\u00a0pgx, please.", "Use\u00a0pgx", "Use\u00a0pgx", nil},
		{"Use\u00a0pgx, please.", "Use pgx", "Use\u00a0pgx", nil},
		{"決定\u3000保存", "決定\u3000保存", "決定\u3000保存", nil},
		{"a\u0085b\vc\u2028d", "a b c d", "a\u0085b\vc\u2028d", nil},
		{"whole", "", "whole", nil},
		{"one two one two", "one two", "", markers.ErrManyTexts},
		{"one", "onetwo", "", markers.ErrNoText},
		{"one", "\xff", "", markers.ErrNoText},
	} {
		start, end, err := markers.Find(c.typed, c.text)
		if got := c.typed[start:end]; got != c.want || !errors.Is(err, c.err) {
			t.Errorf("find(%q, %q) = %q, %v, want %q, %v", c.typed, c.text, got, err, c.want, c.err)
		}
	}
}
