package names

import (
	"context"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
)

// ResolveSession finds the session that a revision names or is a part of.
func ResolveSession(ctx context.Context, e *app.Env, m *layers.Memory, sc state.Scope, name string) (state.Rev, error) {
	rev, err := Resolve(ctx, e, m, sc, name)
	if err != nil {
		return rev, err
	}
	if rev.Session == nil {
		return rev, app.WithHint(app.Usagef("%s is a %s, not a session", name, rev.Kind), "mem ls")
	}
	return rev, nil
}
