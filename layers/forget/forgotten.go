package forget

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A ForgottenMessage is a message of which nothing or, with Part, only a part remains.
type ForgottenMessage struct {
	Message int
	Time    time.Time
	Cause   string // see [records.Purge]
	Part    bool
}

// ForgottenMessages returns the forgotten messages of a session from one number to another, at its current generation.
// Each is listed once, as it was deleted first.
func ForgottenMessages(ctx context.Context, db *state.DB, p refs.Project, s *state.Session,
	from, to int) (out []ForgottenMessage, err error) {
	keys, generation := state.KeysOf(s.FileID(), s.Now().Stamp.Device), s.Now().Generation
	all, err := db.Upper(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Kind != records.KindPurge {
			continue
		}
		var b records.Purge
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.ID.Short(), err)
		}
		for _, x := range b.Passages {
			if slices.Contains(keys, x.Session) && x.Generation == generation && from <= x.N && x.N <= to {
				out = append(out, ForgottenMessage{x.N, r.Time, b.Cause, x.Part})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ForgottenMessage) int {
		if a.Message == b.Message && a.Part != b.Part {
			return map[bool]int{false: -1, true: 1}[a.Part] // the deletion of all of it first
		}
		return cmp.Or(cmp.Compare(a.Message, b.Message), a.Time.Compare(b.Time))
	})
	return slices.CompactFunc(out, func(a, b ForgottenMessage) bool { return a.Message == b.Message }), nil
}
