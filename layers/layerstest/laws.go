package layerstest

import (
	"os"
	"strconv"
	"testing"
)

// Tiered returns how much a test does in the tier that MEM_TORTURE names.
func Tiered(t *testing.T, taste, commit, full int) int {
	t.Helper()
	switch tier := os.Getenv("MEM_TORTURE"); tier {
	case "":
		return taste
	case "commit":
		return commit
	case "full":
		return full
	default:
		t.Fatalf("MEM_TORTURE=%q, want nothing, commit or full", tier)
		return 0
	}
}

// FirstSeed returns the seed of the first of the histories of a test; MEM_TORTURE_SEED, from 1 on, makes others.
func FirstSeed(t *testing.T) uint64 {
	t.Helper()
	s := os.Getenv("MEM_TORTURE_SEED")
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || n == 0 {
		t.Fatalf("MEM_TORTURE_SEED=%q, want a number from 1 on: %v", s, err)
	}
	return (n - 1) << 32
}
