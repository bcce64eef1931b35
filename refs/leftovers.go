package refs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftAfter is the age of a temporary file from which it is a leftover of a killed command. Writing one takes moments.
const leftAfter = time.Hour

// sweepFiles removes the temporary files that killed commands have left in the directories of control files.
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
				continue // renamed meanwhile, or still in use
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// isTemporary reports whether a name is one of a temporary file of [disk.WriteFile], of the settings or of hooks.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, ".config-") && strings.HasSuffix(name, ".tmp") ||
		strings.HasPrefix(name, ".mem-")
}
