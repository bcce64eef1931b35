package refs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftAfter is the age from which a temporary file beside the repositories is what a killed command has left:
// to write one takes moments.
const leftAfter = time.Hour

// sweepFiles removes what killed commands have left of the small files of a store: of those in its directory,
// the settings among them, of keys, of what hooks mark, and of what lanes were before.
func (r *Repo) sweepFiles() error {
	var errs []error
	for _, sub := range []string{"", keysDir, "hooks", filepath.Join(MemoryDir, "mem", FormerDir)} {
		dir := filepath.Join(r.dir, sub)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !isTemporary(e.Name()) {
				continue
			}
			if fi, err := e.Info(); err != nil || r.opts.Now().Sub(fi.ModTime()) < leftAfter {
				continue // it has got its name, or will
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// isTemporary reports whether a file bears a name that is given before the file is whole: by [WriteFile], for
// the settings, by hooks.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, ".config-") && strings.HasSuffix(name, ".tmp") ||
		strings.HasPrefix(name, ".mem-")
}
