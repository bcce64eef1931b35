package names

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/layers/copies"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// A Side is a session that went on differently on a device.
type Side struct{ Says, Name string }

// Sides returns the sessions of a project that went on differently on a device. If device is not empty, it is only those that this
// device has captured.
func Sides(ctx context.Context, db *state.DB, p refs.Project, device string) (out []Side, err error) {
	st, err := trust.Outline(ctx, db, p)
	if err != nil {
		return nil, err
	}
	all, err := copies.WithSides(ctx, db, st)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Side == "" || device != "" && s.Last(device) == nil {
			continue
		}
		on, err := trust.DeviceName(ctx, db, s.Side)
		if err != nil {
			return nil, err
		}
		of := records.ShortID(s.Whole())
		out = append(out, Side{fmt.Sprintf("%s went on differently on %s", of, on), records.ShortID(s.ID)})
	}
	return out, nil
}
