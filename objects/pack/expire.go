package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// superseded is the extension of the empty file that marks a pack that was merged into a larger one.
const superseded = ".superseded"

// supersede marks a pack. Readers of this package skip it from now on; git still uses it.
func supersede(base string) error {
	f, err := os.OpenFile(base+superseded, os.O_CREATE|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	return f.Close()
}

// Reinstate removes the superseded mark of a pack, because the same pack was added again. base is its path without
// ".pack".
func Reinstate(base string) error { return removeFile(base + superseded) }

// Expire removes the packs of dir that were superseded at least grace before the last change of dir; all of them if
// grace is 0. The caller holds the merge lock.
func Expire(dir string, grace time.Duration) error {
	names, err := readNames(dir)
	if err != nil {
		return fmt.Errorf("expire packs: %w", err)
	}
	at, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("expire packs: %w", err)
	}
	for _, name := range names {
		base, ok := strings.CutSuffix(name, superseded)
		if !ok {
			continue
		}
		mark, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // the pack was reinstated
		}
		if err != nil {
			return fmt.Errorf("expire packs: %w", err)
		}
		if grace > 0 && at.ModTime().Sub(mark.ModTime()) < grace {
			continue
		}
		if err := removePack(filepath.Join(dir, base)); err != nil {
			return fmt.Errorf("expire packs: %w", err)
		}
	}
	return nil
}
