package layers

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
)

// TestPreviewsKept changes markers at random and previews compressions with a session that stays in memory: each
// preview is that of a session which was read again, and what the compression then is.
func TestPreviewsKept(t *testing.T) {
	skipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := sampleSessions(t)
	rng := rand.New(rand.NewPCG(3, 4))
	var kept derive.Previews
	for range rounds(12) {
		rev := sessions[rng.IntN(3)] // of which two are kept
		for range 3 {
			rev = now(t, m, rev)
			changeAny(t, m, rev, rng)
		}
		rev = now(t, m, rev)
		for _, s := range []compress.Settings{{Ratio: 10}, {Ratio: 2}, {Ratio: 10, Distance: 7}, {Preset: "standard"}, {Tokens: 300}, {Ratio: 10}} {
			want, wrong := m.Derive().Compress(ctx, rev, s, true)
			got, err := m.Derive().WithPreviews(&kept).Compress(ctx, rev, s, true)
			if (err == nil) != (wrong == nil) || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s, %+v: a preview of what is kept is %+v, %v, want %+v, %v", rev.Name(), s, got, err, want, wrong)
			}
			var pins *compress.PinError
			if err != nil && !errors.Is(err, compress.ErrEmpty) && !errors.As(err, &pins) {
				t.Fatal(err)
			}
		}
		s := compress.Settings{Ratio: 2 + rng.IntN(40)}
		preview, err := m.Derive().WithPreviews(&kept).Compress(ctx, rev, s, true)
		if err != nil {
			continue
		}
		done, err := m.Derive().WithPreviews(&kept).Compress(ctx, rev, s, false)
		if err != nil {
			continue
		}
		if done.Version.Derivation.Key() != preview.Version.Derivation.Key() || done.Version.MessagesOut != preview.Version.MessagesOut ||
			!reflect.DeepEqual(done.Fates, preview.Fates) {
			t.Errorf("%s 1/%d: the compression is %+v, the preview was %+v", rev.Name(), s.Ratio, done.Version, preview.Version)
		}
	}
	if !kept.Clear() || kept.Clear() {
		t.Error("what was kept is dropped once")
	}
}
