package state

import (
	"context"

	"github.com/memvcs/mem/refs"
)

func OnRepo(r *refs.Repo, o Options) *DB {
	m := &DB{Refs: r, Opts: o, Slots: make(chan struct{}, max(1, o.Workers))}
	m.openCache()
	r.OnFirstCommit(m.nameProject)
	return m
}

// Init makes a memory in dir, for a device of the given name, and opens it. It may be repeated.
func Init(ctx context.Context, dir, device string, o Options) (*DB, error) {
	r, err := refs.Init(ctx, dir, device, o.Refs())
	if err != nil {
		return nil, err
	}
	return OnRepo(r, o), nil
}

// Open opens the memory in dir. The error wraps [refs.ErrNotRepo] if there is none.
func Open(dir string, o Options) (*DB, error) {
	r, err := refs.Open(dir, o.Refs())
	if err != nil {
		return nil, err
	}
	return OnRepo(r, o), nil
}
