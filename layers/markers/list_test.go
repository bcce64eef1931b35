package markers_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
)

// TestAnyMarkers adds, sets and removes markers at random and compresses: what counts is kept byte for byte and in order,
// and nothing else is; the names of markers stay theirs.
func TestAnyMarkers(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m, sessions := layerstest.SampleSessions(t)
	rng := rand.New(rand.NewPCG(8, 9))
	for range layerstest.Rounds(12) {
		rev := sessions[rng.IntN(len(sessions))]
		for range 6 {
			rev = layerstest.Now(t, m, rev)
			changeAny(t, m, rev, rng)
		}
		rev = layerstest.Now(t, m, rev)
		marks, err := markers.Keepits(ctx, m.DB, rev)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(rev.Session.Markers()); got != len(marks) {
			t.Errorf("%s: %d markers in lists, %d in the session", rev.Name(), got, len(marks))
		}
		c, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: 1, Keepit: planning.PreserveAll}, false)
		if errors.Is(err, planning.ErrEmpty) {
			continue
		}
		var pin *planning.PinError
		if errors.As(err, &pin) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		v := rev
		v.Kind, v.Version, v.Hash = state.IsVersion, c.Version, c.Version.Derivation.Output
		segs, err := checkout.VersionSegments(ctx, m.DB, rev.Project.ID, c.Version)
		if err != nil {
			t.Fatal(err)
		}
		var want, got []string
		for _, k := range marks {
			want = append(want, k.Mark.Weight.String()+k.Mark.Text)
		}
		for _, s := range segs {
			if s.Keep != "" {
				got = append(got, s.Keep+s.Text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s kept %q, want %q", v.Name(), got, want)
		}
		if a, err := provenance.Reproduce(ctx, m.DB, v); err != nil || !a.Identical {
			t.Errorf("%s once more: %+v, %v", v.Name(), a, err)
		}
	}
}

func changeAny(t *testing.T, m *layers.Memory, rev state.Rev, rng *rand.Rand) {
	t.Helper()
	ctx := context.Background()
	all, err := markers.AllKeepits(ctx, m.DB, rev)
	if err != nil {
		t.Fatal(err)
	}
	w := keepit.Weight(rng.IntN(101))
	if len(all) > 0 && rng.IntN(2) == 0 {
		id := all[rng.IntN(len(all))].ID
		if rng.IntN(2) == 0 {
			if _, err = markers.SetKeepit(ctx, m.DB, rev, id, w, markers.Edit{}); errors.Is(err, markers.ErrMarked) {
				return
			}
		} else {
			_, err = markers.RemoveKeepit(ctx, m.DB, rev, id, markers.Edit{})
		}
		if err != nil {
			t.Fatal(err)
		}
		after, err := markers.AllKeepits(ctx, m.DB, layerstest.Now(t, m, rev))
		if err != nil || len(after) != len(all) {
			t.Fatalf("%d markers, then %d, %v", len(all), len(after), err)
		}
		for i := range all {
			if after[i].ID != all[i].ID || after[i].Mark.Text != all[i].Mark.Text {
				t.Fatalf("%s is %s now", all[i].ID, after[i].ID)
			}
		}
		return
	}
	items, err := markers.Items(ctx, m.DB, rev.Project.ID, rev.Session, rev.Session.Now())
	if err != nil {
		t.Fatal(err)
	}
	it := items[rng.IntN(len(items))]
	from := rng.IntN(len(it.Text) + 1)
	to := from + rng.IntN(len(it.Text)+1-from)
	text := strings.TrimSpace(it.Text[from:to])
	rev.Kind, rev.From, rev.To = state.IsMessages, it.N, it.N
	k, err := markers.AddKeepit(ctx, m.DB, rev, text, w, markers.Edit{})
	switch {
	case err == nil && it.Kind == version.User && text != "" && provenance.CollapseSpace(k.Mark.Text) != provenance.CollapseSpace(text):
		t.Fatalf("marked %q, want %q", k.Mark.Text, text)
	case errors.Is(err, markers.ErrNotTyped) && it.Kind == version.User, errors.Is(err, markers.ErrNoText) && it.Kind == version.User && utf8.ValidString(text):
		t.Fatal(err)
	}
}

func TestAddKeepitRefuses(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	m, rev := layerstest.TalkMemory(t, 10, layerstest.NoCaps)
	items, err := markers.Items(ctx, m.DB, rev.Project.ID, rev.Session, rev.Session.Now())
	if err != nil {
		t.Fatal(err)
	}
	typed := map[int]bool{}
	for _, it := range items {
		typed[it.N] = typed[it.N] || it.Kind == version.User
	}
	for _, it := range items {
		at := rev
		at.Kind, at.From, at.To = state.IsMessages, it.N, it.N
		_, err := markers.AddKeepit(ctx, m.DB, at, "no such text, surely", 80, markers.Edit{DryRun: true})
		if want := markers.ErrNoText; typed[it.N] && !errors.Is(err, want) || !typed[it.N] && !errors.Is(err, markers.ErrNotTyped) {
			t.Errorf("message %d: %v", it.N, err)
		}
	}
	if _, err := markers.SetKeepit(ctx, m.DB, rev, "k99", 50, markers.Edit{}); err == nil {
		t.Error("set a marker that there is not")
	}
}

// TestLastWords: the end of a text in one line, of which no more is read than that takes.
func TestLastWords(t *testing.T) { // not parallel: it counts allocations
	for _, c := range []struct {
		text string
		n    int
		want string
	}{
		{"", 5, ""},
		{"abcde", 5, "abcde"},
		{"abcdef", 5, "…cdef"},
		{"ab   cd", 5, "ab cd"},
		{"xab \n\t cd  ", 5, "…b cd"},
		{" äöüß ", 4, "äöüß"},
		{strings.Repeat("word ", 1000), 9, "…ord word"},
	} {
		if got := state.LastWords(c.text, c.n); got != c.want {
			t.Errorf("lastWords(%.20q, %d) = %q, want %q", c.text, c.n, got, c.want)
		}
	}
	long := strings.Repeat("some words ", 1<<20)
	if n := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			state.LastWords(long, 60)
		}
	}).AllocedBytesPerOp(); n > 10_000 {
		t.Errorf("%d bytes are allocated for the end of a long text", n)
	}
}
