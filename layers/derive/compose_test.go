package derive_test

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
)

// TestForgetMeanwhile forgets a message while something is made of it: what was made is not stored, and what is made then again is.
func TestForgetMeanwhile(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := layerstest.NewHub(t, "dir")
	m := h.Memory(t, "laptop")
	lines := layerstest.UserLine(1, "call me zaphod") + layerstest.UserLine(2, "and go on with the tests. They are slow. Find out why they are slow. Then make them fast.")
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), lines))[0].Project
	rev := layerstest.RevOf(t, m, "aaaa0001")
	version, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 2}, false)
	if err != nil {
		t.Fatal(err)
	}
	req := derive.ComposeRequest{Project: p, Name: "ctx", Budget: 2000, Parts: []derive.ComposePart{{Rev: rev}}}
	late, done, err := derive.ComposeParts(ctx, m.DB, req)
	if err != nil {
		t.Fatal(err)
	}
	layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
	if _, err := late.Save(ctx, done); !errors.Is(err, originals.ErrInputDeleted) {
		t.Errorf("a composition was stored: %v", err)
	}
	if _, err := derive.SaveVersion(ctx, m.DB, version, nil); !errors.Is(err, originals.ErrInputDeleted) {
		t.Errorf("a version was stored: %v", err)
	}
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{m}); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	req.Parts[0].Rev = layerstest.RevOf(t, m, "aaaa0001")
	if _, err := derive.Compose(ctx, m.DB, req); err != nil {
		t.Errorf("of what is left: %v", err)
	}
	layerstest.Roots(t, m)
}

// TestForgetTexts forgets what only texts hold that were made, here and on another device: a model wrote it, or it was stored late.
func TestForgetTexts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	layerstest.Add(t, a, layerstest.Session(t, "aaaa0001", "/home/dev/shop", 5))
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	layerstest.TrustAll(t, b)
	for _, m := range []*layers.Memory{a, b} {
		c, err := derive.Compress(ctx, m.DB, layerstest.RevOf(t, m, "aaaa0001"), planning.Settings{Ratio: 2}, false)
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
	layerstest.PushAll(t, b)
	layerstest.FetchAll(t, a)
	layerstest.TrustAll(t, a)
	out := layerstest.ForgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
	versions := 0
	for _, x := range out.Things {
		if x.Kind == "version" {
			versions++
		}
	}
	if versions != 2 {
		t.Errorf("%d versions were forgotten, want 2: %v", versions, out.Things)
	}
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	layerstest.PushAll(t, b)
	layerstest.FetchAll(t, a)
	if found := layerstest.Stays(t, "zaphod", []*layers.Memory{a, b}, h.Dir); len(found) > 0 {
		t.Errorf("it stays in %v", found)
	}
	for _, m := range []*layers.Memory{a, b} {
		st, err := trust.Outline(ctx, m.DB, layerstest.RevOf(t, m, "aaaa0001").Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		if len(st.Versions) != 2 {
			t.Errorf("%d versions are left on %s, want 2", len(st.Versions), m.Refs.Device().Name)
		}
	}
	if ra, rb := layerstest.Roots(t, a), layerstest.Roots(t, b); ra != rb {
		t.Errorf("other roots:\n%s\n%s", ra, rb)
	}
}
