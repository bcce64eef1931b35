package layers

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/memvcs/mem/layers/compress"
)

// TestForgetMeanwhile forgets a message while something is made of it: what was made is not stored, and what is made then again is.
func TestForgetMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHub(t, "dir")
	m := h.memory(t, "laptop")
	lines := userLine(1, "call me zaphod") + userLine(2, "and go on with the tests. They are slow. Find out why they are slow. Then make them fast.")
	p := add(t, m, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), lines))[0].Project
	rev := revOf(t, m, "aaaa0001")
	version, err := m.Compress(ctx, rev, compress.Settings{Ratio: 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	req := ComposeRequest{Project: p, Name: "ctx", Budget: 2000, Parts: []ComposePart{{Rev: rev}}}
	late, done, err := m.compose(ctx, req)
	if err != nil {
		t.Fatal(err)
	}
	forget(t, m, ForgetOptions{Match: regexp.MustCompile("zaphod")})
	if _, err := late.save(ctx, done); !errors.Is(err, ErrMeanwhile) {
		t.Errorf("a composition was stored: %v", err)
	}
	if _, err := m.saveVersion(ctx, version, nil); !errors.Is(err, ErrMeanwhile) {
		t.Errorf("a version was stored: %v", err)
	}
	if found := stays(t, "zaphod", []*Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	req.Parts[0].Rev = revOf(t, m, "aaaa0001")
	if _, err := m.Compose(ctx, req); err != nil {
		t.Errorf("of what is left: %v", err)
	}
	roots(t, m)
}
