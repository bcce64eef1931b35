package handover

import (
	"fmt"
	"slices"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// TestDigested gives many sessions: the newest have digests, and of the older ones those with the heaviest markers, in the same order.
func TestDigested(t *testing.T) {
	t.Parallel()
	var all []*state.Session
	for i := range 400 {
		s := &state.Session{ID: fmt.Sprintf("%d", i), Points: []records.Point{{}}}
		if i%2 == 1 {
			s.Points[0].Markers = []records.Mark{{N: 1, Weight: keepit.Weight(50 + i%100/2)}}
		}
		all = append(all, s)
	}
	if got := digested(all[:maxDigests]); !slices.Equal(got, all[:maxDigests]) {
		t.Errorf("%d of %d sessions have digests", len(got), maxDigests)
	}
	got := digested(all)
	if len(got) != maxDigests+maxPinned || !slices.Equal(got[:maxDigests], all[:maxDigests]) {
		t.Fatalf("%d sessions have digests, want the newest %d and %d others", len(got), maxDigests, maxPinned)
	}
	least := slices.MinFunc(got[maxDigests:], func(a, b *state.Session) int {
		return int(a.Markers()[0].Weight) - int(b.Markers()[0].Weight)
	})
	for _, s := range all[maxDigests:] {
		if s.Marked() > 0 && !slices.Contains(got, s) && s.Markers()[0].Weight > least.Markers()[0].Weight {
			t.Errorf("%s with %v has no digest, %s with %v has one", s.ID, s.Markers()[0].Weight, least.ID, least.Markers()[0].Weight)
		}
	}
	if i := slices.Index(all, got[maxDigests]); i < maxDigests || !slices.IsSortedFunc(got, func(a, b *state.Session) int {
		return slices.Index(all, a) - slices.Index(all, b)
	}) {
		t.Error("the order of the sessions is lost")
	}
}
