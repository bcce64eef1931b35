package pack

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestExpire removes packs that were superseded long ago, and only those; whatever their age with a grace of 0.
func TestExpire(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC)
	for name, age := range map[string]time.Duration{"pack-a": 20 * time.Minute, "pack-b": 2 * time.Minute, "pack-c": -time.Hour, "pack-d": 24 * time.Hour} {
		base := filepath.Join(dir, name)
		for _, ext := range []string{".pack", ".idx"} {
			if err := os.WriteFile(base+ext, []byte("x"), 0o400); err != nil {
				t.Fatal(err)
			}
		}
		if name == "pack-d" {
			continue // old, but nothing has taken its place
		}
		if err := supersede(base); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(base+superseded, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		grace time.Duration
		left  []string
	}{
		{15 * time.Minute, []string{"pack-b.idx", "pack-b.pack", "pack-b.superseded", "pack-c.idx", "pack-c.pack", "pack-c.superseded", "pack-d.idx", "pack-d.pack"}},
		{time.Minute, []string{"pack-c.idx", "pack-c.pack", "pack-c.superseded", "pack-d.idx", "pack-d.pack"}},
		{0, []string{"pack-d.idx", "pack-d.pack"}},
	} {
		if err := os.Chtimes(dir, now, now); err != nil {
			t.Fatal(err)
		}
		if err := Expire(dir, tt.grace); err != nil {
			t.Fatal(err)
		}
		left, err := readNames(dir)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(left)
		if !slices.Equal(left, tt.left) {
			t.Errorf("after a grace of %v: %v, want %v", tt.grace, left, tt.left)
		}
	}
}
