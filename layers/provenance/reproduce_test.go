package provenance_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
)

// TestAgain makes versions once more whose bytes are those of the recipe, those of another, or lost their engine.
func TestAgain(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, rev := layerstest.TalkMemory(t, 50, layerstest.NoCaps)
	first, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	second, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 6}, false)
	if err != nil {
		t.Fatal(err)
	}
	at := func(v records.Version) state.Rev {
		return state.Rev{Kind: state.IsVersion, Project: rev.Project, Session: rev.Session, Version: &v, Hash: v.Derivation.Output}
	}
	if a, err := provenance.Reproduce(ctx, m.DB, at(*first.Version)); err != nil || !a.Identical || a.Why != "" || a.Err != nil {
		t.Errorf("the same: %+v, %v", a, err)
	}
	other := *first.Version
	other.Derivation.Output = second.Version.Derivation.Output
	a, err := provenance.Reproduce(ctx, m.DB, at(other))
	if err != nil || a.Identical || a.Err != nil || !strings.HasPrefix(a.Why, "other text from message ") {
		t.Errorf("of another recipe: %+v, %v", a, err)
	}
	gone := *first.Version
	gone.Derivation.Recipe.Params = []byte(strings.Replace(string(gone.Derivation.Recipe.Params), `"`+compress.Extract{}.ID()+`"`, `"extract/0"`, 1))
	if a, err = provenance.Reproduce(ctx, m.DB, at(gone)); err != nil || a.Err == nil || !strings.Contains(a.Err.Error(), "extract/0") {
		t.Errorf("of another engine: %+v, %v", a, err)
	}
	later := *first.Version
	later.Derivation.Recipe.Version++
	if a, err = provenance.Reproduce(ctx, m.DB, at(later)); err != nil || !errors.Is(a.Err, compress.ErrEngineGone) {
		t.Errorf("of a later version of the step: %+v, %v", a, err)
	}
	n := 0
	if err := provenance.ReproduceAll(ctx, m.DB, rev.Project, func(a provenance.Reproduction) {
		if n++; !a.Identical {
			t.Errorf("%+v", a)
		}
	}); err != nil || n != 2 {
		t.Errorf("%d attempts, %v", n, err)
	}
}

// TestCompareSample compares everything that there is of the sample sessions with everything: nothing differs from itself,
// and what a version keeps it keeps in the messages it names.
func TestCompareSample(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	for _, s := range sessions {
		revs := []state.Rev{s}
		l1 := s
		l1.Kind = state.IsL1
		revs = append(revs, l1)
		for _, settings := range []planning.Settings{{Ratio: 3}, {Preset: "standard"}} {
			c, err := derive.Compress(ctx, m.DB, s, settings, false)
			if err != nil {
				continue // too short for that
			}
			v := s
			v.Kind, v.Version, v.Hash = state.IsVersion, c.Version, c.Version.Derivation.Output
			revs = append(revs, v)
			if again, err := derive.Compress(ctx, m.DB, v, planning.Settings{Tokens: c.Version.TokensOut * 2 / 3}, false); err == nil {
				w := v
				w.Version, w.Hash = again.Version, again.Version.Derivation.Output
				revs, v = append(revs, w), w
			}
			blamed, err := provenance.Blame(ctx, m.DB, v)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range blamed {
				if !l.Frame && !l.Supported {
					t.Errorf("%s: line %d %q is of no message", v.Name(), l.Line, l.Text)
				}
			}
		}
		for _, a := range revs {
			for _, b := range revs {
				c, err := provenance.Compare(ctx, m.DB, a, b)
				if err != nil {
					t.Fatalf("%s with %s: %v", a.Name(), b.Name(), err)
				}
				if a.Name() == b.Name() && !c.Same() {
					t.Errorf("%s differs from itself: %+v", a.Name(), c.Groups[0])
				}
				for _, g := range c.Groups {
					if last := s.Session.Now().Scan.Values; g.Src[0][0] < 1 || g.Src[len(g.Src)-1][1] > last || version.Messages(g.Src) > last {
						t.Errorf("%s with %s: messages %v of %d", a.Name(), b.Name(), g.Src, last)
					}
				}
			}
		}
	}
}
