package refs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// A Size is the disk use of the packs of a store.
type Size struct {
	Packs int
	Bytes int64 // with their indexes
}

// ErrNoRoom says that packs were not merged because the disk is full.
var ErrNoRoom = errors.New("no space to merge packs")

// Compact merges the packs of each repository into one and removes what earlier merges left for git
// processes that were reading. It drops no object. Without doing anything it returns the size before and
// after if dryRun is set. What can be freed is freed before anything is written; the error wraps [ErrNoRoom] if
// that was all.
func (r *Repo) Compact(ctx context.Context, dryRun bool) (before, after Size, err error) {
	if before, err = r.packSize(); err != nil || dryRun {
		return before, before, err
	}
	var full error
	for _, merge := range []bool{false, true} {
		for _, dir := range []string{MemoryDir, OriginalsDir} {
			err := r.Freeing(func() error { return r.compact(ctx, dir, merge) })
			if merge && disk.IsFull(err) {
				full = fmt.Errorf("%w: %w", ErrNoRoom, err)
				continue
			}
			if err != nil {
				return before, after, fmt.Errorf("compact %s: %w", dir, err)
			}
		}
		if err := errors.Join(r.sweepScratch(), r.sweepFiles()); err != nil {
			return before, after, fmt.Errorf("compact: %w", err)
		}
	}
	_ = r.KeepReserve() // as far as there is room; "mem doctor" tells
	after, err = r.packSize()
	return before, after, cmp.Or(err, full)
}

// compact removes what is left over in a repository and, with merge, merges its packs.
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

// maxPacks is how many packs a repository may have before an update merges them.
const maxPacks = 32

// grace is how long packs that were merged stay for git processes that have listed them: git fsck lists
// the packs once and opens each later. They are removed together, so that it seldom happens.
const grace = 15 * time.Minute

// mergePacks merges small packs when there are many, and removes those merged some time ago, unless
// somebody else is at it.
func (r *Repo) mergePacks(ctx context.Context, dir string) error {
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	n, old, left, err := countPacks(packs)
	due := n > maxPacks || left || old > 0 && n%8 == 0 // ages are looked at now and then
	if err != nil || !due {
		return err
	}
	unlock, free, err := disk.TryLock(filepath.Join(r.dir, dir, "mem", "merge.lock"))
	if err != nil || !free {
		return err
	}
	defer unlock()
	if err := pack.Sweep(packs, mergeMark); err != nil {
		return fmt.Errorf("merge packs: %w", err)
	}
	if err := pack.Expire(packs, grace); err != nil || n <= maxPacks {
		return err
	}
	if _, err := pack.Merge(packs, mergeMark); err != nil {
		return fmt.Errorf("merge packs: %w", err)
	}
	return ctx.Err()
}

// countPacks counts the packs that are read, and those that were merged into others. left reports whether there are
// temporary files of a merge: of one that runs, or of one that was killed.
func countPacks(dir string) (n, old int, left bool, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, false, err
	}
	for _, f := range files {
		left = left || strings.HasPrefix(f.Name(), "tmp_") && strings.Contains(f.Name(), "_"+mergeMark+"_")
		switch filepath.Ext(f.Name()) {
		case ".pack":
			n++
		case ".superseded":
			old++
		}
	}
	return n - old, old, left, nil
}

// Tidy merges small packs of the repository that a lane belongs to when there are many.
func (r *Repo) Tidy(ctx context.Context, l Lane) error { return r.mergePacks(ctx, dirOf(l)) }
