package pack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// superseded is the extension of the empty file that marks a pack whose content a larger one has.
const superseded = ".superseded"

// supersede marks a pack. Readers of this package do not see it any more; git still does.
func supersede(base string) error {
	f, err := os.OpenFile(base+superseded, os.O_CREATE|os.O_WRONLY, 0o400)
	if err != nil {
		return err
	}
	return f.Close()
}

// Expire removes the packs of dir that were superseded at least grace before the newest file in dir was
// made. The caller holds the lock of those who merge.
func Expire(dir string, grace time.Duration) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("expire packs: %w", err)
	}
	marked := map[string]time.Time{}
	var bases []string
	var newest time.Time
	for _, e := range entries {
		fi, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue // a temporary file of somebody else
		}
		if err != nil {
			return fmt.Errorf("expire packs: %w", err)
		}
		if fi.ModTime().After(newest) {
			newest = fi.ModTime()
		}
		if base, ok := strings.CutSuffix(e.Name(), superseded); ok {
			marked[base] = fi.ModTime()
			bases = append(bases, base)
		}
	}
	for _, base := range bases {
		if newest.Sub(marked[base]) < grace {
			continue
		}
		if err := removePack(filepath.Join(dir, base)); err != nil {
			return fmt.Errorf("expire packs: %w", err)
		}
	}
	return nil
}
