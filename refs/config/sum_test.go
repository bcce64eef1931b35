package config

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

// TestDamagedBesideWriters checks settings while others change them: what is being written is not damaged.
func TestDamagedBesideWriters(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "config.json")
	var writers sync.WaitGroup
	done := make(chan struct{})
	for i := range 2 {
		writers.Go(func() {
			for j := range 60 {
				if err := Edit(t.Context(), file, func(c *Config) error { return c.Set(fmt.Sprintf("pager.c%d", i), fmt.Sprint(j%2 == 0)) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() { writers.Wait(); close(done) }()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		default:
		}
		if err := Damaged(t.Context(), file, func(damage error) error { return damage }); err != nil {
			t.Errorf("beside writers: %v", err)
		}
	}
}
