package names

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
)

// Untrusted returns the devices that are not trusted, for lists that mark their data.
func Untrusted(ctx context.Context, m *layers.Memory) (app.Untrusted, error) {
	return m.Devices().Untrusted(ctx)
}
