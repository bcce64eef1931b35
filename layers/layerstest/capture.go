package layerstest

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/repair"
)

// TestOptions returns options of a store with a fixed clock and no rules.
func TestOptions() state.Options {
	return state.Options{
		Now:     func() time.Time { return time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC) },
		Rand:    rand.Reader,
		Workers: 2,

		LockTimeout: 5 * time.Minute, // on a busy machine some of many writers wait long
	}
}

// NewMemory creates a memory that is closed at the end of the test.
func NewMemory(t testing.TB, o state.Options) *layers.Memory {
	t.Helper()
	m, err := layers.Init(context.Background(), filepath.Join(t.TempDir(), "memory"), "desk", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// ToyRules take out words like TOKEN_a1b2c3d4.
func ToyRules() redact.Rules {
	re := regexp.MustCompile(`TOKEN_[a-z0-9]{8}`)
	return redact.Rules{ID: "toy", Rules: []redact.Rule{func(v []byte) iter.Seq[redact.Finding] {
		return func(yield func(redact.Finding) bool) {
			for _, at := range re.FindAllIndex(v, -1) {
				if !yield(redact.Finding{Start: at[0], End: at[1], Rule: "toy"}) {
					return
				}
			}
		}
	}}}
}

// UserLine returns line i of a transcript, a prompt of the user.
func UserLine(i int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":"2026-01-15T10:%02d:00Z","cwd":"/home/dev/shop","sessionId":"s1","message":{"role":"user","content":%q}}`+"\n", i, i%60, text)
}

// Write writes a session file and returns it as a source.
func Write(t testing.TB, path, content string) capture.Source {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return capture.SourceOf(path)
}

// Add captures sources and fails the test on an error.
func Add(t testing.TB, m *layers.Memory, src ...capture.Source) []capture.Added {
	t.Helper()
	added, err := capture.Add(context.Background(), m.DB, src, capture.AddOptions{Show: true})
	if err != nil {
		t.Fatal(err)
	}
	return added
}

// Restored returns the exact bytes of every growth point of the session, and fails if the store is not clean.
func Restored(t testing.TB, m *layers.Memory, p refs.Project, id string) [][]byte {
	t.Helper()
	ctx := context.Background()
	st, err := trust.State(ctx, m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session(id)
	var out [][]byte
	for i := range s.Points {
		var b bytes.Buffer
		if err := originals.WriteOriginal(ctx, m.DB, p, s, &s.Points[i], &b); err != nil {
			t.Fatalf("growth point %d: %v", i, err)
		}
		out = append(out, b.Bytes())
	}
	return out
}

// CheckClean verifies a store and fails the test if anything is wrong.
func CheckClean(t testing.TB, m *layers.Memory) {
	t.Helper()
	if _, err := repair.Check(context.Background(), m.Refs, true, func(p repair.Problem) { t.Errorf("check: %s", p) }); err != nil {
		t.Fatal(err)
	}
}

// NoSecret reads all objects and records that could travel.
func NoSecret(t *testing.T, m *layers.Memory, p refs.Project) {
	t.Helper()
	ctx := context.Background()
	err := m.Refs.View(ctx, p, func(tx *refs.Tx) error {
		for h, err := range tx.All(ctx) {
			if err != nil {
				return err
			}
			b, err := originals.Object(ctx, m.DB, p, h)
			if err != nil {
				return err
			}
			if bytes.Contains(b, []byte("TOKEN_")) {
				t.Errorf("object %s holds a secret", h.Short())
			}
		}
		records, err := tx.Records(ctx, nil)
		for _, r := range records {
			if bytes.Contains(r.Body, []byte("TOKEN_")) {
				t.Errorf("record %s holds a secret: %s", r.ID.Short(), r.Body)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Rounds is how often a test repeats itself: less where it is slow, as under the race detector.
func Rounds(full int) int {
	if testing.Short() {
		return max(1, full/6)
	}
	return full
}

// SkipShort leaves out a test that is slow under the race detector and in which nothing runs side by side that other tests
// do not have, too.
func SkipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED in short mode: it is slow under the race detector, and has nothing to show it")
	}
}
