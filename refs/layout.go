package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// checkLayout returns an error if one of the directories of a store is not a directory: a symbolic link could lead
// anywhere. Files are checked when they are opened.
func checkLayout(dir string) error {
	dirs := []string{"spool", keysDir, holdsDir, scratchDir, DamagedDir}
	for _, part := range []string{MemoryDir, OriginalsDir} {
		for _, sub := range []string{"", "objects", "objects/pack", "refs", "refs/heads", lane.Prefix, lane.OutsidePrefix, "mem",
			"mem/known"} {
			dirs = append(dirs, filepath.Join(part, filepath.FromSlash(sub)))
		}
		projects, err := os.ReadDir(filepath.Join(dir, part, filepath.FromSlash(lane.Prefix)))
		if err == nil {
			for _, p := range projects {
				if len(p.Name()) == 16 && lane.IsHex(p.Name()) && !p.IsDir() {
					dirs = append(dirs, filepath.Join(part, filepath.FromSlash(lane.Prefix), p.Name()))
				}
			}
		}
	}
	for _, sub := range dirs {
		path := filepath.Join(dir, sub)
		fi, err := os.Lstat(path)
		if err == nil && !fi.IsDir() {
			return fmt.Errorf("%s is not a directory but %s: %w", path, pack.FileType(fi), ErrDamaged)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open memory: %w", err)
		}
	}
	return nil
}
