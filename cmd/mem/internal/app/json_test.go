package app_test

import (
	"testing"
)

// TestJSONOnATerminal checks that an answer for eyes is indented and means the same, and that nothing in it
// reaches the terminal's controls.
func TestJSONOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, true)
	v := struct {
		Title string   `json:"title"`
		List  []string `json:"list"`
	}{"a\u202e<b>\u009b\U000e0041", []string{}}
	if err := w.Env.PrintJSON("test", v); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"schema\": \"mem.test/v1\",\n  \"title\": \"a\\u202e<b>\\u009b\\udb40\\udc41\",\n  \"list\": []\n}\n"
	if got := w.out.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := w.Env.PrintJSON("test", struct{}{}); err != nil {
		t.Error(err)
	}
	if err := w.Env.PrintJSON("test", 3); err == nil {
		t.Error("a number as an answer: no error")
	}
}
