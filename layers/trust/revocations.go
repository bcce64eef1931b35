package trust

import (
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A Revocation is a revoked source and the device that revoked it.
type Revocation struct {
	records.Origin
	Reason  string    `json:"reason,omitempty"`
	Device  string    `json:"device"`
	Time    time.Time `json:"time"`
	InForce bool      `json:"in_force"` // false if an untrusted device revoked it
}

// why returns why something from the source is hidden, for display.
func (r Revocation) why() string {
	if r.Reason == "" {
		return r.Origin.String() + " is revoked"
	}
	return r.Origin.String() + " is revoked: " + r.Reason
}

// Revocations folds the records about sources. The last record about a source counts. One of a device that is not
// trusted counts only if there is no other, and is not in force. The order of the records does not matter.
func Revocations(all []state.StoredRevoke, trusted func(device string) bool) []Revocation {
	last := map[records.Origin]state.StoredRevoke{}
	for _, r := range all {
		was, ok := last[r.Origin]
		if better := trusted(r.Stamp.Device); !ok || better && !trusted(was.Stamp.Device) ||
			better == trusted(was.Stamp.Device) && r.Stamp.Compare(was.Stamp) > 0 {
			last[r.Origin] = r
		}
	}
	var out []Revocation
	for _, r := range last {
		if r.Revoked {
			out = append(out, Revocation{r.Origin, r.Reason, r.Stamp.Device, r.Time, trusted(r.Stamp.Device)})
		}
	}
	slices.SortFunc(out, func(a, b Revocation) int { return a.Compare(b.Origin) })
	return out
}

// InForce returns the revocations that hide something.
func InForce(all []Revocation) []Revocation {
	return slices.DeleteFunc(slices.Clone(all), func(r Revocation) bool { return !r.InForce })
}

// RevocationsOf returns the revocations of a project, sorted by source.
func (m Ops) RevocationsOf(ctx context.Context, st *state.State) ([]Revocation, error) {
	if len(st.Revokes) == 0 {
		return nil, nil
	}
	trust, err := m.Trust(ctx)
	if err != nil {
		return nil, err
	}
	return Revocations(st.Revokes, trust.Of), nil
}
