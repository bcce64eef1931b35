package mcpcmd

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty": "", "short": "a\nb\n", "lines": strings.Repeat("a line of text\n", 5000), "one line": strings.Repeat("결", 20_000),
	} {
		got, offset := "", 0
		for {
			page, next := Page(text, offset)
			if len(page) > PageSize || !utf8.ValidString(page) {
				t.Fatalf("%s: a page of %d bytes", name, len(page))
			}
			if got += page; next == 0 {
				break
			}
			if next <= offset {
				t.Fatalf("%s: Page(%d) goes on at %d", name, offset, next)
			}
			offset = next
		}
		if got != text {
			t.Errorf("%s: the pages are %d bytes, want %d", name, len(got), len(text))
		}
	}
	if page, next := Page("abc", 99); page != "" || next != 0 {
		t.Errorf("Page behind the end = %q, %d", page, next)
	}
	if page, _ := Page("결", 1); page != "" {
		t.Errorf("Page within a character = %q", page)
	}
}
