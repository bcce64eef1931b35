package main

import (
	"context"
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/refs"
)

// gc is the command that makes the store as small as it can be.
func (e *Env) gc() *cli.Command {
	return &cli.Command{
		Name:  "gc",
		Usage: "merge packs and free what earlier merges have left",
		Description: "mem merges its packs by itself. What it has merged stays a quarter of an hour, for git processes that may be\n" +
			"reading it; gc removes it at once, with what killed commands have left. No object is dropped.\n" +
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
	if err := e.printGC(before, after); err != nil {
		return err
	}
	if err != nil {
		return withCode(exitPartial, &unwritable{err})
	}
	return nil
}

func (e *Env) printGC(before, after refs.Size) error {
	if e.opt.json {
		return e.printJSON("gc", gcAnswer{before.Packs, after.Packs, before.Bytes, after.Bytes, e.opt.dryRun})
	}
	if e.opt.dryRun {
		e.printf("would merge %d packs, %s\n", before.Packs, bytesText(before.Bytes))
		return nil
	}
	e.did("%d packs, %s -> %d packs, %s\n", before.Packs, bytesText(before.Bytes), after.Packs, bytesText(after.Bytes))
	return nil
}
