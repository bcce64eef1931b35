package state

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// Home calls f with the bodies of a kind of record of this device's own project, in their order.
func Home[T any](ctx context.Context, m *DB, kind string, f func(records.Stamp, T)) error {
	all, err := m.Upper(ctx, refs.Home)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Kind != kind {
			continue
		}
		var b T
		if err := json.Unmarshal(r.Body, &b); err != nil {
			return fmt.Errorf("record %s: %s body: %w", r.Stamp.Record.Short(), kind, err)
		}
		f(r.Stamp, b)
	}
	return nil
}
