package app_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 128},
		{fmt.Errorf("a: %w", app.Usagef("x")), 129},
		{app.WithHint(app.WithCode(app.ExitBudget, errors.New("x")), "h"), 5},
		{app.WithCode(app.ExitPartial, app.WithHint(errors.New("x"), "h")), 3},
		{app.Exit(app.ExitNo), 1},
		{context.Canceled, 130},
		{fmt.Errorf("write: %w", app.ErrStdoutClosed), 0},
		{config.ErrLocked, 11},
		{fmt.Errorf("open: %w", refs.ErrNotRepo), 10},
		{refs.ErrLocked, 11},
		{refs.ErrFormat, 128},
		{&state.NotFoundError{}, 128},
		{&config.ValueError{}, 128},
	} {
		if got := app.StatusOf(tt.err); got != tt.want {
			t.Errorf("statusOf(%v) = %d, want %d", tt.err, got, tt.want)
		}
		if app.StatusOf(tt.err) == 2 {
			t.Errorf("statusOf(%v) is 2", tt.err)
		}
	}
}
