package tokens

import "testing"

func TestShorten(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s            string
		n            int
		short, words string
	}{
		{"", 3, "", ""}, {"abc", 3, "abc", "abc"}, {"abcd", 3, "ab…", "ab…"}, {"äöü", 3, "äöü", "äöü"}, {"äöüß", 3, "äö…", "äö…"},
		{"a\n b  c", 5, "a\n b…", "a b c"}, {" a  bcd e ", 5, " a  …", "a bc…"}, {"\xff\xfe\xfd\xfc", 3, "\xff\xfe…", "\ufffd\ufffd…"}, {"ab", 1, "…", "…"},
	} {
		if got := Shorten(tt.s, tt.n); got != tt.short {
			t.Errorf("Shorten(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.short)
		}
		if got := OneLine(tt.s, tt.n); got != tt.words {
			t.Errorf("OneLine(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.words)
		}
	}
}
