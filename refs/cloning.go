package refs

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
)

// cloneFile marks a store whose clone has not finished. It is written before anything else of the store and
// removed last, so an interrupted clone is told apart from a memory that somebody uses.
const cloneFile = "clone.json"

// cloneJSON is the file clone.json.
type cloneJSON struct {
	URL string `json:"url"`
}

// BeginClone makes the directory of a store and marks it as an unfinished clone of the given address. The mark
// is durable when it returns.
func BeginClone(dir, url string) error {
	if err := makeRoot(dir); err != nil {
		return err
	}
	b, err := json.MarshalIndent(cloneJSON{url}, "", "  ")
	if err != nil {
		return err
	}
	if err := disk.WriteFile(filepath.Join(dir, cloneFile), disk.WithSum(append(b, '\n'))); err != nil {
		return disk.Writing(fmt.Errorf("write %s: %w", cloneFile, err))
	}
	return nil
}

// Cloning returns the address of the unfinished clone in dir, "" if there is none. A damaged mark is [ErrDamaged].
func Cloning(dir string) (url string, err error) {
	var j cloneJSON
	some, err := disk.ReadNote(dir, cloneFile, &j)
	if some && j.URL == "" {
		err = fmt.Errorf("read %s: %w: it names no remote", filepath.Join(dir, cloneFile), ErrDamaged)
	}
	return j.URL, err
}

// EndClone removes the mark of an unfinished clone of the given address, if there is one.
func (r *Repo) EndClone(url string) error {
	from, err := Cloning(r.dir)
	if err != nil || from != url {
		return err
	}
	return r.RemoveNote(cloneFile)
}
