package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Match returns the paths of the entries of dir whose names match a pattern of [path.Match], sorted. It returns none if
// there is no dir. Unlike [filepath.Glob] it does not read dir as a pattern, and returns errors of the disk.
func Match(dir, pattern string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		ok, err := path.Match(pattern, e.Name())
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, filepath.Join(dir, e.Name()))
		}
	}
	return found, nil
}
