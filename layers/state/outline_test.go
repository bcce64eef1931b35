package state

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/records"
)

// TestNewest holds that the newest session is the first of the recent ones.
func TestNewest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		st := &State{}
		for i := range rng.IntN(8) {
			p := records.Point{}
			p.Scan.Last = time.Unix(rng.Int64N(3), 0)
			if rng.IntN(4) == 0 {
				p.Parent = "another"
			}
			s := &Session{ID: fmt.Sprintf("%02d-%d", rng.IntN(100), i), Points: []records.Point{p}, Deleted: rng.IntN(4) == 0}
			st.Sessions = append(st.Sessions, s)
		}
		var want *Session
		if recent := st.Recent(); len(recent) > 0 {
			want = recent[0]
		}
		if got := st.Newest(); got != want {
			t.Fatalf("Newest() = %+v, want %+v", got, want)
		}
	}
}
