package refs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leftoverAge is the age from which a temporary file is a leftover of a killed command. Writing one takes moments.
const leftoverAge = time.Hour

// sweepTemporaryFiles removes the temporary files of killed commands from the directories of control files.
func (r *Repo) sweepTemporaryFiles() error {
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
			if fi, err := e.Info(); err != nil || r.opts.Now().Sub(fi.ModTime()) < leftoverAge {
				continue // renamed meanwhile, or still in use
			}
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// isTemporary reports whether name is that of a temporary file of [disk.WriteFile], of the settings or of hooks.
func isTemporary(name string) bool {
	return strings.HasPrefix(name, ".tmp-") || strings.HasPrefix(name, ".config-") && strings.HasSuffix(name, ".tmp") ||
		strings.HasPrefix(name, ".mem-")
}
