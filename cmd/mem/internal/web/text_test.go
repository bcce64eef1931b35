package web

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCleanPage checks that cleaning a text removes no markup after it.
func TestCleanPage(t *testing.T) {
	t.Parallel()
	clean := func(s string) string { // an escape sequence without an end reaches to the end of the line
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i], _, _ = strings.Cut(lines[i], "\x1b]")
		}
		return strings.Join(lines, "\n")
	}
	for in, want := range map[string]string{
		"":                          "",
		"plain":                     "plain",
		"<b>a\x1b]b</b> <i>c</i>\n": "<b>a</b> <i>c</i>\n",
		"<a title=\"x\x1b]y\" href=\"/\">z</a>\nq": "<a title=\"x\" href=\"/\">z</a>\nq",
		"a\x1b]b\nc": "a\nc",
	} {
		if got := cleanPage(in, clean); got != want {
			t.Errorf("cleanPage(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s, want string
	}{
		{"", ""},
		{" a  b\n", "a b"},
		{"123456789", "1234…"},
		{"a" + strings.Repeat(" ", 100) + "b", "a b"},
		{"a" + strings.Repeat(" ", 38) + "결결", "a 결결"}, // the 40th byte is within a character
		{strings.Repeat("😀", 100), "😀😀😀😀…"},
		{"\xff\xff", "\ufffd\ufffd"},
	} {
		if got := excerpt(5, tt.s); got != tt.want {
			t.Errorf("excerpt(5, %.20q) = %q, want %q", tt.s, got, tt.want)
		}
	}
}

// TestLineWriter writes lines in pieces. A long line is not copied for each piece.
func TestLineWriter(t *testing.T) { // not parallel: it counts allocations
	const text = "first\n\nsecond line\nthird\nincomplete"
	for size := 1; size <= len(text); size++ {
		var got []string
		w := &lineWriter{line: func(b []byte) error { got = append(got, string(b)); return nil }}
		for piece := range slices.Chunk([]byte(text), size) {
			if n, err := w.Write(piece); n != len(piece) || err != nil {
				t.Fatalf("Write = %d, %v", n, err)
			}
		}
		if want := []string{"first", "", "second line", "third"}; !slices.Equal(got, want) {
			t.Errorf("pieces of %d bytes: %q, want %q", size, got, want)
		}
	}
	piece := make([]byte, 1000)
	n := testing.AllocsPerRun(1, func() {
		w := &lineWriter{line: func([]byte) error { return nil }}
		for range 1000 {
			_, _ = w.Write(piece) // it does not fail
		}
	})
	if n > 200 {
		t.Errorf("1000 pieces of a line: %v allocations", n)
	}
}

func TestReadStart(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(name, []byte("12345"), 0o600))
	for limit, want := range map[int64]string{0: "", 3: "123", 5: "12345", 9: "12345"} {
		if got, err := readStart(name, limit); err != nil || string(got) != want {
			t.Errorf("readStart(%d) = %q, %v, want %q", limit, got, err, want)
		}
	}
}
