package checkout_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
)

// Whoever is interrupted while he writes something out stops, and leaves no half of it.
func TestCheckoutStops(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, strings.Repeat("x", 3<<20))+layerstest.UserLine(2, "that is all")))[0].Project
	rev, err := revision.Resolve(t.Context(), m.DB, state.Scope{Project: p}, "s1:original")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := checkout.Write(ctx, m.DB, rev, "", calling(cancel)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted after the first bytes: %v, want context.Canceled", err)
	}
	dir := t.TempDir()
	if _, err := checkout.Checkout(ctx, m.DB, rev, checkout.Place{Path: filepath.Join(dir, "out.jsonl")}, checkout.CheckoutOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a checkout that was interrupted: %v, want context.Canceled", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// calling is a writer that calls what it is when it is written to.
type calling func()

func (f calling) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}
