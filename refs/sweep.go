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

// sweepLock is held by those who add packs and move refs, together, and by a sweep alone: what no ref leads to
// while nobody writes is garbage.
//
// Who wants either takes the gate first. Those who add keep it for a moment only, a sweep until it is done:
// nobody new joins those that it waits for, so that it starts when they are done, however many write.
const (
	sweepLock = "sweep.lock"
	sweepGate = "sweep-gate.lock"
)

// share holds off a sweep until the returned function is called.
func (r *Repo) share(ctx context.Context) (func(), error) {
	open, err := r.gate(ctx)
	if err != nil {
		return nil, err
	}
	defer open()
	return disk.Share(ctx, r.sweepPath(), r.opts.LockTimeout)
}

// gate keeps others from joining those who add packs until the returned function is called.
func (r *Repo) gate(ctx context.Context) (func(), error) {
	return disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", sweepGate), r.opts.LockTimeout)
}

// alone waits until nobody adds packs or moves refs, and keeps it so until the returned function is called.
func (r *Repo) alone(ctx context.Context) (func(), error) {
	open, err := r.gate(ctx)
	if err != nil {
		return nil, err
	}
	unlock, err := disk.Lock(ctx, r.sweepPath(), r.opts.LockTimeout)
	if err != nil {
		open()
		return nil, err
	}
	return func() { unlock(); open() }, nil
}

func (r *Repo) sweepPath() string { return filepath.Join(r.dir, MemoryDir, "mem", sweepLock) }

// Sweep takes out of the packs of both repositories every object that no ref leads to, at once and for ever,
// together with packs that were merged into others. Nothing that is stored is touched; when it is interrupted
// it can be done again. The error wraps [ErrDamaged] if a branch is gone: what it led to can still be repaired.
func (r *Repo) Sweep(ctx context.Context) error {
	unlock, err := r.alone(ctx)
	if err != nil {
		return disk.Writing(fmt.Errorf("sweep: %w", err))
	}
	defer unlock()
	for _, part := range []struct {
		dir string
		git *gitstore.Repo
	}{{MemoryDir, r.memory}, {OriginalsDir, r.originals}} {
		if err := r.sweep(ctx, part.dir, part.git); err != nil {
			return disk.Writing(fmt.Errorf("sweep %s: %w", part.dir, err))
		}
	}
	return nil
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
	if err := noneLost(g); err != nil {
		return err
	}
	live, err := lane.Reachable(ctx, g)
	if err != nil {
		return err
	}
	return DropFrom(g, mergeMark, func(id pack.ID) bool { _, ok := live[id]; return ok })
}

// sweepKilled removes what killed fetches and repairs left, and what whoever was killed left of packs. The
// caller holds the lock of merges and that of a sweep: nobody is at it.
func (r *Repo) sweepKilled(dir string) error {
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	return errors.Join(os.RemoveAll(filepath.Join(r.dir, QuarantineDir)), pack.Sweep(packs, FetchMark),
		pack.Sweep(packs, RepairMark), pack.SweepIndexes(packs))
}

// noneLost makes sure that no branch is gone that was here once: what it led to is no garbage.
func noneLost(g *gitstore.Repo) error {
	known, err := g.Known()
	if err != nil {
		return err
	}
	for _, name := range known {
		if id, err := g.Ref(name); err != nil || id.IsZero() {
			return cmp.Or(err, lost(g, name))
		}
	}
	return nil
}

// lost says that a branch is gone that was here once.
func lost(g *gitstore.Repo, ref string) error {
	return fmt.Errorf("the branch %s of %s is gone: %w", ref, g.Dir(), ErrDamaged)
}

// DropFrom removes from a repository all objects that are not kept, packed or loose.
func DropFrom(g *gitstore.Repo, mark string, keep func(pack.ID) bool) error {
	if err := dropCommitGraph(filepath.Dir(g.PackDir())); err != nil {
		return err
	}
	if err := pack.Drop(g.PackDir(), mark, keep); err != nil {
		return err
	}
	return pack.DropLoose(filepath.Dir(g.PackDir()), keep)
}

// dropCommitGraph removes the commit-graph that a "git gc" wrote: it names commits that are about to go, and
// git takes one that it names and does not find for damage. The next "git gc" writes another.
func dropCommitGraph(objects string) error {
	info := filepath.Join(objects, "info")
	err := os.Remove(filepath.Join(info, "commit-graph"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(info, "commit-graphs")))
}

// Objects calls f with every object of both repositories; live says whether a ref leads to it. Those to which
// none did at first are looked at again while nobody writes: they may be of a commit that came meanwhile.
func (r *Repo) Objects(ctx context.Context, f func(repo string, g *gitstore.Repo, id pack.ID, live bool) error) error {
	for _, part := range []struct {
		dir string
		git *gitstore.Repo
	}{{MemoryDir, r.memory}, {OriginalsDir, r.originals}} {
		seen, err := lane.Reachable(ctx, part.git)
		if err != nil {
			return err
		}
		var unsure []pack.ID
		for id, err := range part.git.Packs().All() {
			if err != nil {
				return err
			}
			if _, live := seen[id]; !live {
				unsure = append(unsure, id)
				continue
			}
			if err := f(part.dir, part.git, id, true); err != nil {
				return err
			}
		}
		live, err := r.liveOf(ctx, part.git, unsure)
		if err != nil {
			return err
		}
		for _, id := range unsure {
			if err := f(part.dir, part.git, id, live[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// liveOf reports which of some objects a ref leads to, while nobody writes.
func (r *Repo) liveOf(ctx context.Context, g *gitstore.Repo, ids []pack.ID) (map[pack.ID]bool, error) {
	live := map[pack.ID]bool{}
	if len(ids) == 0 {
		return live, nil
	}
	unlock, err := r.alone(ctx)
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

// QuarantineDir is where what was fetched lies until it has been checked. It holds nothing that is missed.
const QuarantineDir = "quarantine.git"

// FetchMark is in the names of the temporary files of a fetch.
const FetchMark = "fetch"

// LockFetch waits until no other process adds fetched data, and prevents sweeps until it is unlocked.
func (r *Repo) LockFetch(ctx context.Context) (unlock func(), err error) {
	open, err := disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", "fetch.lock"), r.opts.LockTimeout)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	unshare, err := r.share(ctx)
	if err != nil {
		open()
		return nil, fmt.Errorf("fetch: %w", err)
	}
	return func() { unshare(); open() }, nil
}

// LockMerges takes the lock of those who remove packs of a repository, or add some without a stage.
func (r *Repo) LockMerges(ctx context.Context, dir string) (unlock func(), err error) {
	return disk.Lock(ctx, filepath.Join(r.dir, dir, "mem", "merge.lock"), r.opts.LockTimeout)
}

// mergeMark is in the names of the temporary files of a merge.
const mergeMark = "merge"
