package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// gc is the command that makes the store as small as it can be.
func (e *Env) gc() *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Usage: "merge packs and delete leftovers",
		Description: "mem merges its packs by itself. What it has merged stays a quarter of an hour, for git processes that may be\n" +
			"reading it; gc removes it at once, with what killed commands have left. No object is dropped. The cache is trimmed to\n" +
			"storage.maxCacheSize.\n" +
			"Never run \"git gc\" in the store while mem writes.",
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runGC(ctx)
		},
	}
}

// A gcAnswer is what gc did, as --json prints it.
type gcAnswer struct {
	PacksBefore int   `json:"packs_before"`
	PacksAfter  int   `json:"packs_after"`
	BytesBefore int64 `json:"bytes_before"`
	BytesAfter  int64 `json:"bytes_after"`
	Cache       int64 `json:"cache_bytes"` // that the cache takes afterwards
	CacheFreed  int64 `json:"cache_freed"`
	DryRun      bool  `json:"dry_run"`
}

func (e *Env) runGC(ctx context.Context) error {
	m, err := e.memory()
	if err != nil {
		return err
	}
	defer m.Close()
	before, after, err := m.Repo().Compact(ctx, e.opt.dryRun)
	if err != nil && !errors.Is(err, refs.ErrNoRoom) {
		return &unwritable{err}
	}
	cache, evicting := m.EvictCache(e.opt.dryRun)
	if evicting != nil {
		evicting = fmt.Errorf("trim the cache: %w", evicting)
	}
	if err := errors.Join(e.printGC(before, after, cache), evicting); err != nil {
		return err
	}
	if err != nil {
		return withCode(exitPartial, &unwritable{err})
	}
	return nil
}

func (e *Env) printGC(before, after refs.Size, cache state.CacheSize) error {
	if e.opt.json {
		return e.printJSON("gc", gcAnswer{before.Packs, after.Packs, before.Bytes, after.Bytes, cache.Bytes, cache.Freed, e.opt.dryRun})
	}
	if e.opt.dryRun {
		e.printf("would merge %d packs, %s\n", before.Packs, bytesText(before.Bytes))
		if cache.Evicted > 0 {
			e.printf("would trim the cache by %s to %s\n", bytesText(cache.Freed), bytesText(cache.Bytes))
		}
		return nil
	}
	e.did("%d packs, %s -> %d packs, %s\n", before.Packs, bytesText(before.Bytes), after.Packs, bytesText(after.Bytes))
	if cache.Evicted > 0 {
		e.did("trimmed the cache by %s to %s\n", bytesText(cache.Freed), bytesText(cache.Bytes))
	}
	return nil
}
