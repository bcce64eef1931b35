package objects

import (
	"strings"
	"testing"
)

// TestRename renames the hashes in a text, and nothing that only has the digits of one.
func TestRename(t *testing.T) {
	t.Parallel()
	old, now := Sum([]byte("old")).String(), Sum([]byte("now")).String()
	for text, want := range map[string]string{
		"": "", "no hash": "no hash", old: now, `{"a":"` + old + `","b":"` + old + `"}`: `{"a":"` + now + `","b":"` + now + `"}`,
		"0" + old: "0" + old, old[:63]: old[:63], "version/" + old + ".json": "version/" + now + ".json",
		now: now, strings.ToUpper(old): strings.ToUpper(old),
	} {
		if got := Rename(text, map[string]string{old: now}); got != want {
			t.Errorf("Rename(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Rename(old, nil); got != old {
		t.Errorf("Rename without names = %q", got)
	}
}
