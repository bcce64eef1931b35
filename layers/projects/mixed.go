package projects

import (
	"context"
	"os"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// A Stray is a directory that this device has in one project although its repository says that it belongs to another.
type Stray struct {
	Dir  string
	In   state.Project // which has its sessions
	Owns state.Project // to which it belongs
}

// Strays returns the directories of this device whose sessions are in the project of an unrelated directory, in the order
// in which they became known. That happens if git answered for another repository than that of the directory, or if two
// copies of a repository were one project. Directories that do not exist, and those that the user linked, count as right.
func Strays(ctx context.Context, db *state.DB) ([]Stray, error) {
	paths, err := Paths(ctx, db)
	if err != nil {
		return nil, err
	}
	find := NewFinder(links(paths), db.Opts.World.Command)
	var order []refs.Project
	dirs := map[refs.Project][]records.PathBody{}
	for _, b := range newest(paths) {
		if _, err := os.Stat(b.Path); err != nil || b.Linked {
			continue
		}
		if dirs[b.Project] == nil {
			order = append(order, b.Project)
		}
		dirs[b.Project] = append(dirs[b.Project], b)
	}
	var out []Stray
	for _, id := range order {
		if len(dirs[id]) > 1 {
			out = append(out, find.strays(ctx, dirs[id])...)
		}
	}
	return out, nil
}

// links returns the newest records of the directories that the user linked.
func links(paths []records.PathBody) []records.PathBody {
	return slices.DeleteFunc(newest(paths), func(b records.PathBody) bool { return !b.Linked })
}

// strays returns the strays among the directories of one project. One directory of a project is none: it may have become
// a repository since. If no directory belongs to the project any more, the first does.
func (f *Finder) strays(ctx context.Context, dirs []records.PathBody) (out []Stray) {
	owners := make([]state.Project, len(dirs))
	home := refs.Project("")
	for i, b := range dirs {
		owners[i], _ = f.Locate(ctx, b.Path)
		if owners[i].ID == b.Project {
			home = b.Project
		}
	}
	if home == "" {
		home = owners[0].ID
	}
	for i, b := range dirs {
		if owners[i].ID != home {
			out = append(out, Stray{b.Path, projectOf(&b), owners[i]})
		}
	}
	return out
}

// Owner returns the project that a directory belongs to, whatever project this device has had it in. A link by the user
// still counts.
func Owner(ctx context.Context, db *state.DB, dir string) (state.Project, error) {
	paths, err := Paths(ctx, db)
	if err != nil {
		return state.Project{}, err
	}
	p, _ := NewFinder(links(paths), db.Opts.World.Command).Locate(ctx, dir)
	return p, nil
}
