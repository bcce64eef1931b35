package state

import (
	"context"

	"github.com/memvcs/mem/refs"
)

// Home calls f with the bodies of a kind of record of this device's own project, in their order.
func Home[T any](ctx context.Context, m *DB, kind string, f func(T)) error {
	all, err := m.Upper(ctx, refs.Home)
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Kind != kind {
			continue
		}
		if err := ApplyTo(r, f); err != nil {
			return err
		}
	}
	return nil
}
