package projects

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
)

// A Renaming is a directory that may be another one under a new name or at a new place.
type Renaming struct {
	Dir  string        // the directory asked for, or one of its parents
	From string        // it does not exist any more
	Of   state.Project // that From belongs to
}

// maxRenamings bounds the guesses: with more, the directory is simply a new one next to some that were deleted.
const maxRenamings = 3

// Renamed returns what dir, whose project has no sessions, may have been before, the newest first: a directory in the same
// place, or with the same name, that is gone. Only projects that are identified by their path are lost by a new name.
func Renamed(ctx context.Context, db *state.DB, dir string) ([]Renaming, error) {
	paths, err := Paths(ctx, db)
	if err != nil {
		return nil, err
	}
	return renamed(paths, dir), nil
}

func renamed(paths []records.PathBody, dir string) (out []Renaming) {
	for _, b := range slices.Backward(newest(paths)) {
		if !strings.HasPrefix(b.Identity, "path ") || !filepath.IsAbs(b.Path) {
			continue
		}
		if _, err := os.Lstat(b.Path); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for d := dir; d != ""; d = Parent(d) {
			if Parent(d) != "" && (Parent(d) == Parent(b.Path) || filepath.Base(d) == filepath.Base(b.Path)) && !isBelow(d, b.Path) {
				out = append(out, Renaming{d, b.Path, projectOf(&b)})
				break
			}
		}
	}
	if len(out) > maxRenamings {
		return nil
	}
	return out
}
