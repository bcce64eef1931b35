package refs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/pack"
)

// A Size says what the packs of a store take.
type Size struct {
	Packs int
	Bytes int64 // with their indexes
}

// Compact merges the packs of each repository into one and removes what earlier merges left for git
// processes that were reading. It drops no object. Without doing anything it returns the size before and
// after if dryRun is set.
func (r *Repo) Compact(ctx context.Context, dryRun bool) (before, after Size, err error) {
	if before, err = r.packSize(); err != nil || dryRun {
		return before, before, err
	}
	for _, dir := range []string{memoryDir, originalsDir} {
		if err := r.compact(ctx, dir); err != nil {
			return before, after, fmt.Errorf("compact %s: %w", dir, err)
		}
	}
	after, err = r.packSize()
	return before, after, err
}

func (r *Repo) compact(ctx context.Context, dir string) error {
	unlock, err := lockFile(ctx, filepath.Join(r.dir, dir, "mem", "merge.lock"), r.opts.LockTimeout)
	if err != nil {
		return err
	}
	defer unlock()
	packs := filepath.Join(r.dir, dir, "objects", "pack")
	if err := pack.Sweep(packs, mergeMark); err != nil {
		return err
	}
	if _, err := pack.MergeAll(packs, mergeMark); err != nil {
		return err
	}
	return pack.Expire(packs, 0)
}

func (r *Repo) packSize() (s Size, err error) {
	for _, dir := range []string{memoryDir, originalsDir} {
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
