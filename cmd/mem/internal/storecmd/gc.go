package storecmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs"
)

// Gc returns mem gc.
func Gc(e *app.Env) *cli.Command {
	var remote string
	var confirm bool
	return &cli.Command{
		Name:  "gc",
		Usage: "free the space of leftovers",
		Description: "mem merges packs automatically. Merged packs stay for 15 minutes, because a git process\n" +
			"may be reading them; gc deletes them at once, together with leftovers of killed\n" +
			"commands. No object is lost. The cache is trimmed to storage.maxCacheSize.\n" +
			"\n" +
			"Never run \"git gc\" in the store while mem writes.\n" +
			"\n" +
			"--remote deletes the data on a remote that no branch contains: what \"mem forget\" has\n" +
			"removed, and leftovers of killed pushes. A push does the same. Only a remote that is a\n" +
			"directory can be cleaned from here. For a server, delete the data there, for example\n" +
			"with \"git gc --prune=now\", and add --confirm.",
		Flags: []cli.Flag{app.StringFlag(&remote, "remote", "delete unreachable data on the remote `NAME`"),
			app.BoolFlag(&confirm, "confirm", "with --remote: the data is deleted there")},
		Action: app.StoreAction(e, 0, 0, func(ctx context.Context, run app.Run) error {
			if remote != "" {
				return sweepRemote(ctx, run, remote, confirm)
			}
			if confirm {
				return app.Usagef("--confirm needs --remote")
			}
			return runGC(ctx, run)
		}),
	}
}

func runGC(ctx context.Context, run app.Run) error {
	before, after, err := run.Repo().Compact(ctx, run.Opt.DryRun)
	if err != nil && !errors.Is(err, refs.ErrNoSpace) {
		return &app.Unwritable{Err: err}
	}
	cache, evicting := run.EvictCache(run.Opt.DryRun)
	if evicting != nil {
		evicting = fmt.Errorf("trim the cache: %w", evicting)
	}
	if err := errors.Join(printGC(run.Env, before, after, cache), evicting); err != nil {
		return err
	}
	if err != nil {
		return app.WithCode(app.ExitPartial, &app.Unwritable{Err: err})
	}
	return nil
}

func printGC(e *app.Env, before, after refs.Size, cache state.CacheSize) error {
	if e.Opt.JSON {
		return e.PrintJSON("gc", nil, "packsBefore", before.Packs, "packsAfter", after.Packs, "bytesBefore", before.Bytes,
			"bytesAfter", after.Bytes, "cacheBytes", cache.Bytes, "cacheFreed", cache.Freed, "dryRun", e.Opt.DryRun)
	}
	if e.Opt.DryRun {
		e.Printf("would tidy up %s of stored sessions, versions and compositions\n", app.BytesText(before.Bytes))
		if cache.Evicted > 0 {
			e.Printf("would trim the cache by %s to %s\n", app.BytesText(cache.Freed), app.BytesText(cache.Bytes))
		}
		return nil
	}
	if freed := before.Bytes - after.Bytes; freed > 0 {
		e.Report("freed %s, the memory takes %s\n", app.BytesText(freed), app.BytesText(after.Bytes))
	} else {
		e.Report("nothing to free, the memory takes %s\n", app.BytesText(after.Bytes))
	}
	e.Detail("%d packs before, %d now", before.Packs, after.Packs)
	if cache.Evicted > 0 {
		e.Report("trimmed the cache by %s to %s\n", app.BytesText(cache.Freed), app.BytesText(cache.Bytes))
	}
	if cache.Max > 0 && cache.Bytes > cache.Max {
		e.Note("the cache stays above storage.maxCacheSize (%s): hooks and searches need the rest", app.BytesText(cache.Max))
	}
	return nil
}

// sweepRemote deletes the unreachable data on a remote.
func sweepRemote(ctx context.Context, run app.Run, name string, confirm bool) error {
	r, err := sync.Remote(run.DB, name)
	if err != nil {
		return err
	}
	if run.Opt.DryRun {
		run.Printf("would delete unreachable data on %s\n", r.Name)
		return nil
	}
	out, err := sync.SweepRemote(ctx, run.DB, r.Name, confirm)
	if err != nil {
		return err
	}
	if run.Opt.JSON {
		if err := run.PrintJSON("gc.remote", nil, "remote", r.Name, "swept", out.Why == nil, "unswept", len(out.Unswept)); err != nil {
			return err
		}
	}
	if out.Why != nil {
		return app.WithCode(app.ExitNo, app.WithHint(fmt.Errorf("delete unreachable data on %s: %w", r.Name, out.Why),
			app.SweepHint(r, out.Why)))
	}
	if !run.Opt.JSON {
		run.Report("no unreachable data is left on %s\n", r.Name)
	}
	return nil
}
