package derive_test

import (
	"context"
	"errors"
	"testing"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/state"
)

// TestVersionsOfVersions makes a version of a version, twenty times over, and checks what the store says of the last.
func TestVersionsOfVersions(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, revs := layerstest.SampleSessions(t)
	for _, rev := range revs {
		if len(rev.Session.Markers()) < 3 {
			continue
		}
		c, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 3}, false)
		if err != nil {
			t.Fatal(err)
		}
		tokens, first := c.Version.TokensIn, c.Version
		for n := range 20 {
			from := layerstest.VersionRev(rev, c)
			s := planning.Settings{Tokens: max(120, c.Version.TokensOut*9/10), Distance: 1 + n}
			if c, err = derive.Compress(ctx, m.DB, from, s, false); err != nil {
				t.Fatal(err)
			}
			again, err := derive.Compress(ctx, m.DB, from, s, false)
			if err != nil || !again.Existed || again.Version.ID != c.Version.ID {
				t.Fatalf("round %d once more: %+v, %v", n, again.Version, err)
			}
			v := c.Version
			if v.Source != from.Version.Label || v.Original != rev.Hash || v.Derivation.Inputs[0] != from.Hash || v.TokensIn != tokens {
				t.Fatalf("round %d: made of %s: %+v", n, from.Name(), v)
			}
			if v.TokensOut > s.Tokens {
				t.Fatalf("round %d: %d tokens of %d", n, v.TokensOut, s.Tokens)
			}
			segs, err := checkout.VersionSegments(ctx, m.DB, rev.Project.ID, v)
			if err != nil {
				t.Fatal(err)
			}
			checkKept(t, from.Name(), c.Fates, segs)
		}
		last := layerstest.VersionRev(rev, c)
		if a, err := provenance.Reproduce(ctx, m.DB, last); err != nil || !a.Identical {
			t.Errorf("%s once more: %+v, %v", last.Name(), a, err)
		}
		fates, err := markers.Fates(ctx, m.DB, last)
		if err != nil || len(fates) != len(rev.Session.Markers()) {
			t.Errorf("%d fates of %d markers, %v", len(fates), len(rev.Session.Markers()), err)
		}
		blamed, err := provenance.Blame(ctx, m.DB, last)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range blamed {
			if !l.Frame && !l.Supported {
				t.Errorf("%s: line %d %q is of no message", last.Name(), l.Line, l.Text)
			}
		}
		up, err := provenance.Lineage(ctx, m.DB, last, false)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for up.Kind == state.IsVersion {
			up, steps = up.Next[0], steps+1
		}
		if steps != 21 || up.Hash != rev.Hash {
			t.Errorf("%d versions up to %s, want 21", steps, up.Name)
		}
		if before, err := provenance.Before(ctx, m.DB, layerstest.VersionRev(rev, derive.CompressResult{Version: first})); err != nil || before.Kind != state.IsOriginal {
			t.Errorf("before %s: %s, %v", first.Label, before.Kind, err)
		}
	}
	if checked, err := repair.Check(ctx, m.DB, true); err != nil || len(checked.Problems) > 0 {
		t.Errorf("%v, %v", checked.Problems, err)
	}
}

func TestSinceWrongVersions(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, revs := layerstest.SampleSessions(t)
	c, err := derive.Compress(ctx, m.DB, revs[0], planning.Settings{Ratio: 3}, false)
	if err != nil {
		t.Fatal(err)
	}
	base := layerstest.VersionRev(revs[0], c)
	s := planning.Settings{Ratio: 3}
	if _, err := derive.CompressSince(ctx, m.DB, revs[1], base, s, false); !errors.Is(err, derive.ErrOtherSession) {
		t.Errorf("of another session: %v", err)
	}
	if _, err := derive.CompressSince(ctx, m.DB, revs[0], revs[0], s, false); !errors.Is(err, derive.ErrOtherSession) {
		t.Errorf("a session: %v", err)
	}
	var nothing *derive.UpToDateError
	if _, err := derive.CompressSince(ctx, m.DB, revs[0], base, s, false); !errors.As(err, &nothing) || nothing.Through != revs[0].Session.Now().Scan.Values {
		t.Errorf("nothing new: %v", err)
	}
	if _, err := derive.CompressSince(ctx, m.DB, base, base, s, false); !errors.Is(err, records.ErrNotCompressible) {
		t.Errorf("since of a version: %v", err)
	}
	if _, err := derive.Compress(ctx, m.DB, base, planning.Settings{Ratio: 3, Skip: 2}, false); !errors.Is(err, derive.ErrSkip) {
		t.Errorf("skip in a version: %v", err)
	}
}
