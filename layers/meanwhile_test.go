package layers

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
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
	version, err := derive.Compress(ctx, m.DB, rev, compress.Settings{Ratio: 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	req := derive.ComposeRequest{Project: p, Name: "ctx", Budget: 2000, Parts: []derive.ComposePart{{Rev: rev}}}
	late, done, err := derive.ComposeParts(ctx, m.DB, req)
	if err != nil {
		t.Fatal(err)
	}
	forgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
	if _, err := late.Save(ctx, done); !errors.Is(err, originals.ErrInputDeleted) {
		t.Errorf("a composition was stored: %v", err)
	}
	if _, err := derive.SaveVersion(ctx, m.DB, version, nil); !errors.Is(err, originals.ErrInputDeleted) {
		t.Errorf("a version was stored: %v", err)
	}
	if found := stays(t, "zaphod", []*Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	req.Parts[0].Rev = revOf(t, m, "aaaa0001")
	if _, err := derive.Compose(ctx, m.DB, req); err != nil {
		t.Errorf("of what is left: %v", err)
	}
	roots(t, m)
}

// TestForgetTexts forgets what only texts hold that were made, here and on another device: a model wrote it, or it was stored late.
func TestForgetTexts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := newHub(t, "dir")
	a, b := h.memory(t, "laptop"), h.memory(t, "desk")
	add(t, a, session(t, "aaaa0001", "/home/dev/shop", 5))
	pushAll(t, a)
	fetchAll(t, b)
	trustAll(t, b)
	for _, m := range []*Memory{a, b} {
		c, err := derive.Compress(ctx, m.DB, revOf(t, m, "aaaa0001"), compress.Settings{Ratio: 2}, false)
		if err != nil {
			t.Fatal(err)
		}
		text := []byte(`{"role":"assistant","text":"` + m.Refs.Device().Name + ` calls it zaphod","src":[[1,1]]}` + "\n")
		v := *c.Version
		v.Engine, v.Derivation.Output, v.Derivation.Recipe.Version = "a model", objects.Sum(text), 99
		c.Version = &v
		if _, err := derive.SaveVersion(ctx, m.DB, c, [][]byte{text}); err != nil {
			t.Fatal(err)
		}
	}
	pushAll(t, b)
	fetchAll(t, a)
	trustAll(t, a)
	out := forgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
	versions := 0
	for _, x := range out.Things {
		if x.Kind == "version" {
			versions++
		}
	}
	if versions != 2 {
		t.Errorf("%d versions were forgotten, want 2: %v", versions, out.Things)
	}
	pushAll(t, a)
	fetchAll(t, b)
	pushAll(t, b)
	fetchAll(t, a)
	if found := stays(t, "zaphod", []*Memory{a, b}, h.dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	for _, m := range []*Memory{a, b} {
		st, err := trust.Outline(ctx, m.DB, revOf(t, m, "aaaa0001").Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Versions) != 2 {
			t.Errorf("%d versions are left on %s, want 2", len(st.Versions), m.Refs.Device().Name)
		}
	}
	if ra, rb := roots(t, a), roots(t, b); ra != rb {
		t.Errorf("other roots:\n%s\n%s", ra, rb)
	}
}
