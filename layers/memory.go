// Package layers opens and closes the store that the packages below it work on.
package layers

import (
	"context"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
)

// A Memory is an open store. It is safe for concurrent use.
type Memory struct{ *state.DB }

// Init creates a store in dir for a device and opens it. It may be repeated.
func Init(ctx context.Context, dir, device string, o state.Options) (*Memory, error) {
	db, err := state.Init(ctx, dir, device, o)
	return wrap(db, err)
}

// Open opens the store in dir. The error wraps [refs.ErrNotRepo] if there is none.
func Open(dir string, o state.Options) (*Memory, error) {
	db, err := state.Open(dir, o)
	return wrap(db, err)
}

// OpenObjects is [Open] without a cache, only to read objects by name.
func OpenObjects(dir string, o state.Options) (*Memory, error) {
	db, err := state.OpenObjects(dir, o)
	return wrap(db, err)
}

func wrap(db *state.DB, err error) (*Memory, error) {
	if err != nil {
		return nil, err
	}
	return &Memory{db}, nil
}

// Close writes token counts to the cache and closes the store.
func (m *Memory) Close() error {
	capture.WriteTokens(m.DB)
	m.EvictSometimes()
	if m.CacheDir != nil {
		m.CacheDir.Close() // nothing was written to it
	}
	return m.Refs.Close()
}
