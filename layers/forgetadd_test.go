package layers

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/repair"
)

// TestForgetWhileAdding forgets something while a capture is under way that has read the memory before: the capture begins again on what
// is left, and brings nothing back.
func TestForgetWhileAdding(t *testing.T) {
	t.Parallel()
	was := userLine(1, "call me zaphod") + userLine(2, "go on with the tests")
	more := was + userLine(3, "they are slow") + userLine(4, "find out why")
	again := userLine(1, "call me zaphod") + userLine(6, "and what else") // a session that goes on from the first
	for name, src := range map[string]struct {
		file, lines string
		foreign     bool // what is forgotten lies in the lane of another device
	}{
		"grown":   {"aaaa0001.jsonl", more, false},
		"new":     {"bbbb0002.jsonl", again, false},
		"foreign": {"bbbb0002.jsonl", again, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, "dir")
			m, first := h.memory(t, "laptop"), h.memory(t, "desk")
			dir := t.TempDir()
			if !src.foreign {
				first = m
			}
			add(t, first, write(t, filepath.Join(dir, "aaaa0001.jsonl"), was))
			if src.foreign {
				pushAll(t, first)
				fetchAll(t, m)
				trustAll(t, m)
			}
			other := reopen(t, m) // as another process
			var once sync.Once
			during := func(int64) {
				once.Do(func() { forgetText(t, other, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")}) })
			}
			if _, err := capture.Add(t.Context(), m.DB, []capture.Source{write(t, filepath.Join(dir, src.file), src.lines)}, capture.AddOptions{Progress: during}); err != nil {
				t.Fatal(err)
			}
			m = reopen(t, m)
			checked, err := repair.Check(t.Context(), m.DB, true)
			if err != nil || len(checked.Problems) > 0 {
				t.Errorf("Check: %v, %v", checked.Problems, err)
			}
			found := stays(t, "zaphod", []*Memory{m})
			if src.foreign { // the other device has yet to hear of it
				found = slices.DeleteFunc(found, func(where string) bool { return !strings.Contains(where, m.Refs.Device().ID) })
			}
			if len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
		})
	}
}

// TestForgetElsewhereWhileAdding forgets a value in one project while a file of another one that holds it is being captured.
func TestForgetElsewhereWhileAdding(t *testing.T) {
	t.Parallel()
	const secret = "zaphod-beeblebrox-42"
	m := newMemory(t, testOptions())
	add(t, m, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), userLine(1, "call me "+secret)))
	elsewhere := strings.ReplaceAll(userLine(2, "it was "+secret), "/home/dev/shop", "/home/dev/desk")
	other := reopen(t, m) // as another process
	var once sync.Once
	o := capture.AddOptions{Progress: func(int64) {
		once.Do(func() { forgetText(t, other, forget.ForgetOptions{Secret: []byte(secret)}) })
	}}
	if _, err := capture.Add(t.Context(), m.DB, []capture.Source{write(t, filepath.Join(t.TempDir(), "bbbb0002.jsonl"), elsewhere)}, o); err != nil {
		t.Fatal(err)
	}
	m = reopen(t, m)
	roots(t, m)
	if found := stays(t, secret, []*Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
}
