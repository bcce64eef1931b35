package refs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// leftoverAge is the age from which a temporary file is a leftover of a killed command. Writing one takes moments.
const leftoverAge = time.Hour

// sweepTemporaryFiles removes the temporary files of killed commands from the directories of control files.
func (r *Repo) sweepTemporaryFiles() error {
	var errs []error
	for _, sub := range []string{"", keysDir, "hooks"} {
		dir := filepath.Join(r.dir, sub)
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), disk.Temporary) {
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
