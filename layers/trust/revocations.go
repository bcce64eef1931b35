package trust

import (
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A Revocation is a revoked source and the device that revoked it.
type Revocation struct {
	records.Origin
	Reason string    `json:"reason,omitempty"`
	Device string    `json:"device"`
	Time   time.Time `json:"time"`
}

// why returns why something from the source is hidden, for display.
func (r Revocation) why() string {
	if r.Reason == "" {
		return r.Origin.String() + " is revoked"
	}
	return r.Origin.String() + " is revoked: " + r.Reason
}

// Revocations folds the records about sources, in any order, and returns the revoked ones, sorted by source. The last
// record about a source counts. A line that the user dropped is no source of anything else, and not among them.
func Revocations(all []state.StoredRevoke) []Revocation {
	last := map[records.Origin]state.StoredRevoke{}
	for _, r := range all {
		if was, ok := last[r.Origin]; !ok || r.Stamp.Compare(was.Stamp) > 0 {
			last[r.Origin] = r
		}
	}
	var out []Revocation
	for _, r := range last {
		if r.Revoked && r.Kind != records.LineSource {
			out = append(out, Revocation{r.Origin, r.Reason, r.Stamp.Device, r.Time})
		}
	}
	slices.SortFunc(out, func(a, b Revocation) int { return a.Compare(b.Origin) })
	return out
}
