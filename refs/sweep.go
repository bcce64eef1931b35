package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
)

// Writers, which add packs and move refs, share sweepLock; a sweep locks it exclusively. An object that is
// unreachable while there are no writers is garbage.
//
// Both lock sweepGate first. A writer unlocks it as soon as it shares sweepLock; a sweep keeps it until it is done. So
// no writer can start while a sweep waits for the running ones, and a sweep never starves.
const (
	sweepLock = "sweep.lock"
	sweepGate = "sweep-gate.lock"
)

// lockShared prevents sweeps until the returned function is called.
func (r *Repo) lockShared(ctx context.Context) (func(), error) {
	openGate, err := r.lockGate(ctx)
	if err != nil {
		return nil, err
	}
	defer openGate()
	return disk.Share(ctx, r.sweepPath(), r.opts.LockTimeout)
}

// lockGate prevents new writers until the returned function is called.
func (r *Repo) lockGate(ctx context.Context) (func(), error) {
	return disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", sweepGate), r.opts.LockTimeout)
}

// lockExclusive waits for running writers and prevents new ones until the returned function is called.
func (r *Repo) lockExclusive(ctx context.Context) (func(), error) {
	openGate, err := r.lockGate(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := disk.Lock(ctx, r.sweepPath(), r.opts.LockTimeout)
	if err != nil {
		openGate()
		return nil, err
	}
	return func() { unlock(); openGate() }, nil
}

func (r *Repo) sweepPath() string { return filepath.Join(r.dir, MemoryDir, "mem", sweepLock) }

// Sweep deletes every unreachable object of both repositories at once, and the packs that were merged into others.
// It can be repeated after an interruption. The error wraps [ErrDamaged] if a known branch is missing; then nothing of
// that repository is deleted, because a repair can still restore the branch.
func (r *Repo) Sweep(ctx context.Context) error {
	unlock, err := r.lockExclusive(ctx)
	if err != nil {
		return disk.AsWriteError(fmt.Errorf("sweep: %w", err))
	}
	defer unlock()
	for _, p := range r.Parts() {
		if err := r.sweep(ctx, p.Dir, p.Git); err != nil {
			return disk.AsWriteError(fmt.Errorf("sweep %s: %w", p.Dir, err))
		}
	}
	return disk.AsWriteError(r.sweepScratch())
}

func (r *Repo) sweep(ctx context.Context, dir string, g *gitstore.Repo) error {
	unlock, err := r.LockMerges(ctx, dir)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(r.sweepStages(dir), r.sweepKilled(dir)); err != nil {
		return err
	}
	if err := checkRegistered(g); err != nil {
		return err
	}
	live, err := lane.Reachable(ctx, g)
	if err != nil {
		return err
	}
	return DropFrom(g, mergeMark, func(id pack.ID) bool { _, ok := live[id]; return ok })
}

// sweepKilled removes the temporary files of killed fetches and repairs, and incomplete packs. The caller has locked
// merges and excluded writers, so none of these files is in use.
func (r *Repo) sweepKilled(dir string) error {
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	return errors.Join(pack.Sweep(packs, FetchMark), pack.Sweep(packs, RepairMark), pack.SweepIndexes(packs))
}

// checkRegistered returns an error if a known branch is missing: objects that were reachable from it are not garbage.
func checkRegistered(g *gitstore.Repo) error {
	known, err := g.RegisteredRefs()
	if err != nil {
		return err
	}
	for _, name := range known {
		if id, err := g.Ref(name); err != nil || id.IsZero() {
			return cmp.Or(err, missingBranchError(g, name))
		}
	}
	return nil
}

// missingBranchError returns the error for a known branch that is missing.
func missingBranchError(g *gitstore.Repo, ref string) error {
	return fmt.Errorf("the branch %s of %s is missing: %w", ref, g.Dir(), ErrDamaged)
}

// DropFrom deletes all objects of a repository, packed and loose, for which keep returns false.
func DropFrom(g *gitstore.Repo, mark string, keep func(pack.ID) bool) error {
	if err := dropCommitGraph(filepath.Dir(g.PackDir())); err != nil {
		return err
	}
	if err := pack.Drop(g.PackDir(), mark, keep); err != nil {
		return err
	}
	return pack.DropLoose(filepath.Dir(g.PackDir()), keep)
}

// dropCommitGraph removes the commit-graph that "git gc" may have written. If it named a deleted commit, git would
// report damage. The next "git gc" writes it again.
func dropCommitGraph(objects string) error {
	info := filepath.Join(objects, "info")
	err := os.Remove(filepath.Join(info, "commit-graph"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(info, "commit-graphs")))
}

// Objects calls f with every packed object of both repositories; live reports whether it is reachable. Objects that
// seem unreachable are checked again without concurrent writers, because a new commit may have added them meanwhile.
func (r *Repo) Objects(ctx context.Context, f func(repo string, g *gitstore.Repo, id pack.ID, live bool) error) error {
	for _, p := range r.Parts() {
		seen, err := lane.Reachable(ctx, p.Git)
		if err != nil {
			return err
		}
		var unsure []pack.ID
		for id, err := range p.Git.Packs().All() {
			if err != nil {
				return err
			}
			if _, live := seen[id]; !live {
				unsure = append(unsure, id)
				continue
			}
			if err := f(p.Dir, p.Git, id, true); err != nil {
				return err
			}
		}
		live, err := r.reachableOf(ctx, p.Git, unsure)
		if err != nil {
			return err
		}
		for _, id := range unsure {
			if err := f(p.Dir, p.Git, id, live[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// reachableOf reports which of the objects are reachable, without concurrent writers.
func (r *Repo) reachableOf(ctx context.Context, g *gitstore.Repo, ids []pack.ID) (map[pack.ID]bool, error) {
	live := map[pack.ID]bool{}
	if len(ids) == 0 {
		return live, nil
	}
	unlock, err := r.lockExclusive(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	seen, err := lane.Reachable(ctx, g)
	for _, id := range ids {
		_, live[id] = seen[id]
	}
	return live, err
}

// FetchMark is part of the names of a fetch's temporary files.
const FetchMark = "fetch"

// lock locks a file of memory.git. what names the operation in errors.
func (r *Repo) lock(ctx context.Context, file, what string) (unlock func(), err error) {
	unlock, err = disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", file), r.opts.LockTimeout)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return unlock, nil
}

// LockFetch waits until no other process adds fetched data, and prevents sweeps until it is unlocked.
func (r *Repo) LockFetch(ctx context.Context) (unlock func(), err error) {
	unlockFetch, err := r.lock(ctx, "fetch.lock", "fetch")
	if err != nil {
		return nil, err
	}
	unshare, err := r.lockShared(ctx)
	if err != nil {
		unlockFetch()
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return func() { unshare(); unlockFetch() }, nil
}

// LockMerges locks a repository for removing packs, or for adding packs without a stage.
func (r *Repo) LockMerges(ctx context.Context, dir string) (unlock func(), err error) {
	return disk.Lock(ctx, filepath.Join(r.dir, dir, "mem", "merge.lock"), r.opts.LockTimeout)
}

// mergeMark is part of the names of a merge's temporary files.
const mergeMark = "merge"
