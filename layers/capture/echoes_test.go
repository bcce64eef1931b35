package capture

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// TestMarkEchoesOfMany marks a copy of a session with very many markers in a reasonable time.
func TestMarkEchoesOfMany(t *testing.T) {
	t.Parallel()
	const n = 200_000
	first, copied := &Capture{}, &Capture{}
	for i, c := range []*Capture{first, copied} {
		c.added.Change = "new"
		c.snap.Session, c.snap.Scan.First = fmt.Sprint("session-", i), time.Unix(int64(i), 0)
		for k := range n {
			var key transcript.Key
			binary.BigEndian.PutUint64(key[:], uint64(k))
			c.snap.Typed = append(c.snap.Typed, records.TypedKey{N: k + 1, Key: key})
			c.snap.Markers = append(c.snap.Markers, records.Mark{N: k + 1, Weight: keepit.Pinned})
		}
	}
	copied.snap.Typed[n-1].Key = transcript.Key{1} // typed in the copy
	start := time.Now()
	markEchoes(state.NewState("0123456789abcdef"), []*Capture{copied, first})
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("%v for %d messages", d, n)
	}
	if len(first.snap.Echo) > 0 || len(first.snap.Markers) != n {
		t.Errorf("the original has %d echoes and %d markers, want 0 and %d", len(first.snap.Echo),
			len(first.snap.Markers), n)
	}
	if len(copied.snap.Echo) != n-1 || len(copied.snap.Markers) != 1 || copied.snap.Markers[0].N != n {
		t.Errorf("the copy has %d echoes and %d markers, want %d and the last", len(copied.snap.Echo),
			len(copied.snap.Markers), n-1)
	}
}
