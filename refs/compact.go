package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// A Size is the disk use of the packs of a store.
type Size struct {
	Packs int
	Bytes int64 // with their indexes
}

// ErrNoSpace means that packs were not merged because the disk is full.
var ErrNoSpace = errors.New("no space to merge packs")

// Compact merges the packs of each repository into one and removes the packs that earlier merges have kept for running
// git processes. It deletes no object. It returns the size before and after; with dryRun it changes nothing. It frees
// space before it writes; the error wraps [ErrNoSpace] if the space does not suffice to merge.
func (r *Repo) Compact(ctx context.Context, dryRun bool) (before, after Size, err error) {
	if before, err = r.packSize(); err != nil || dryRun {
		return before, before, err
	}
	var full error
	for _, merge := range []bool{false, true} {
		for _, dir := range []string{MemoryDir, OriginalsDir} {
			err := r.WithReserve(func() error { return r.compact(ctx, dir, merge) })
			if merge && disk.IsFull(err) {
				full = fmt.Errorf("%w: %w", ErrNoSpace, err)
				continue
			}
			if err != nil {
				return before, after, fmt.Errorf("compact %s: %w", dir, err)
			}
		}
		if err := errors.Join(r.sweepScratch(), r.sweepTemporaryFiles()); err != nil {
			return before, after, fmt.Errorf("compact: %w", err)
		}
	}
	_ = r.KeepReserve() // as far as there is space; "mem doctor" reports a missing one
	after, err = r.packSize()
	return before, after, cmp.Or(err, full)
}

// compact removes leftovers from a repository and, with merge, merges its packs.
func (r *Repo) compact(ctx context.Context, dir string, merge bool) error {
	done, err := r.LockMerges(ctx, dir)
	if err != nil {
		return err
	}
	defer done()
	if err := r.sweepStages(dir); err != nil {
		return err
	}
	unlock, alone, err := disk.TryLock(r.sweepPath())
	if alone {
		err = r.sweepKilled(dir)
		unlock()
	}
	if err != nil {
		return err
	}
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	if err := pack.Sweep(packs, mergeMark); err != nil {
		return err
	}
	if merge {
		if _, err := pack.MergeAll(packs, mergeMark); err != nil {
			return err
		}
	}
	return pack.Expire(packs, 0)
}

func (r *Repo) packSize() (s Size, err error) {
	for _, dir := range []string{MemoryDir, OriginalsDir} {
		entries, err := os.ReadDir(filepath.Join(r.dir, dir, "objects", "pack"))
		if err != nil {
			return s, err
		}
		for _, e := range entries {
			fi, err := e.Info()
			if os.IsNotExist(err) {
				continue // merged meanwhile
			}
			if err != nil {
				return s, err
			}
			s.Bytes += fi.Size()
			if filepath.Ext(e.Name()) == ".pack" {
				s.Packs++
			}
		}
	}
	return s, nil
}

// maxPacks is the number of packs above which an update merges them.
const maxPacks = 32

// grace is the time that superseded packs are kept for running git processes: git fsck lists the packs once and opens
// each later.
const grace = 15 * time.Minute

// mergePacks merges small packs when there are many, unless another process is doing so. It removes the packs that were
// superseded a while ago.
func (r *Repo) mergePacks(ctx context.Context, p Part) error {
	packs := p.Git.PackDir()
	n, err := p.Git.Packs().Count()
	if err != nil {
		return err
	}
	marks, err := pack.Marks(packs)
	if err != nil || n <= maxPacks && !slices.Contains(marks, mergeMark) { // a killed merge left its mark
		return err
	}
	unlock, free, err := disk.TryLock(filepath.Join(r.dir, p.Dir, "mem", "merge.lock"))
	if err != nil || !free {
		return err
	}
	defer unlock()
	if err = pack.Sweep(packs, mergeMark); err == nil {
		err = pack.Expire(packs, grace)
	}
	if err == nil && n > maxPacks {
		_, err = pack.Merge(packs, mergeMark)
	}
	if err != nil {
		return fmt.Errorf("merge packs: %w", err)
	}
	return ctx.Err()
}

// MergePacks merges small packs of a lane's repository when there are many.
func (r *Repo) MergePacks(ctx context.Context, l Lane) error {
	return r.mergePacks(ctx, Part{dirOf(l), r.GitOf(l)})
}
