package names

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
)

func Strangers(ctx context.Context, e *app.Env, m *layers.Memory) (app.Strangers, error) {
	return m.Devices().Strangers(ctx)
}
