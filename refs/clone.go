package refs

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
)

// cloneFile marks an unfinished clone. It is written first and removed last, so an interrupted clone is distinguishable
// from a memory in use.
const cloneFile = "clone.json"

// cloneJSON is the file clone.json.
type cloneJSON struct {
	URL string `json:"url"`
}

// BeginClone creates the directory of a store and marks it as an unfinished clone of url. The mark is durable when it
// returns.
func BeginClone(dir, url string) error {
	if err := makeRoot(dir); err != nil {
		return err
	}
	b, err := json.MarshalIndent(cloneJSON{url}, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, cloneFile), disk.WithSum(append(b, '\n'))); err != nil {
		return disk.AsWriteError(fmt.Errorf("write %s: %w", cloneFile, err))
	}
	return nil
}

// UnfinishedClone returns the URL of the unfinished clone in dir, "" if there is none. The error wraps [ErrDamaged] if
// the mark is damaged.
func UnfinishedClone(dir string) (url string, err error) {
	var j cloneJSON
	ok, err := disk.ReadNote(dir, cloneFile, &j)
	if ok && j.URL == "" {
		err = fmt.Errorf("read %s: %w: it contains no URL", filepath.Join(dir, cloneFile), ErrDamaged)
	}
	return j.URL, err
}

// EndClone removes the mark of an unfinished clone of url, if there is one.
func (r *Repo) EndClone(url string) error {
	from, err := UnfinishedClone(r.dir)
	if err != nil || from != url {
		return err
	}
	return r.RemoveNote(cloneFile)
}
