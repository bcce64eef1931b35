package lane

import (
	"testing"
	"time"
)

// TestLamportBound grows with the clock, and never falls below its margin.
func TestLamportBound(t *testing.T) {
	t.Parallel()
	start := LamportStart()
	for after, want := range map[time.Duration]uint64{
		-time.Hour: LamportMargin, 0: LamportMargin, time.Second: LamportMargin + 1000, time.Millisecond: LamportMargin + 1,
		24 * time.Hour: LamportMargin + 86_400_000,
	} {
		if got := LamportBound(start.Add(after)); got != want {
			t.Errorf("LamportBound %v after the start = %d, want %d", after, got, want)
		}
	}
	if got := LamportBound(start.AddDate(250, 0, 0)); got >= MaxLamport {
		t.Errorf("in 250 years the bound %d is over MaxLamport", got)
	}
}
