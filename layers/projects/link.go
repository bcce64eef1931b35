package projects

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Paths returns the directories known to this device, later records last.
func Paths(ctx context.Context, db *state.DB) ([]records.PathBody, error) {
	var paths []records.PathBody
	err := db.Refs.ViewRetry(ctx, refs.Home, func(tx *refs.Tx) error {
		st, err := db.FoldOutline(ctx, tx, refs.Home)
		if err == nil {
			paths = st.PathsOf(db.Refs.Device().ID)
		}
		return err
	})
	return paths, err
}

// DirsOf returns the directories of a project on this device.
func DirsOf(ctx context.Context, db *state.DB, p refs.Project) (out []string, err error) {
	paths, err := Paths(ctx, db)
	for _, b := range newest(paths) {
		if b.Project == p {
			out = append(out, b.Path)
		}
	}
	return out, err
}

// HasProject reports whether the memory has records of a project.
func HasProject(ctx context.Context, db *state.DB, p refs.Project) (has bool, err error) {
	err = db.Refs.ViewRetry(ctx, p, func(tx *refs.Tx) error {
		has = len(tx.Tips()) > 0
		return nil
	})
	return has, err
}

// LinkProject links dir to the project p on this device.
func LinkProject(ctx context.Context, db *state.DB, p state.Project, dir string) error {
	return AddPaths(ctx, db, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: true}})
}

// Relink links the directories of one project to another one that they belonged to before.
func Relink(ctx context.Context, db *state.DB, from refs.Project, to state.Project) error {
	paths, err := Paths(ctx, db)
	if err != nil {
		return err
	}
	var again []records.PathBody
	for i, b := range paths {
		if last := lastWord(paths, b.Path); last == &paths[i] && b.Project == from && slices.ContainsFunc(paths[:i], func(was records.PathBody) bool {
			return portablePath(was.Path) == portablePath(b.Path) && was.Project == to.ID
		}) {
			again = append(again, records.PathBody{Path: b.Path, Project: to.ID, Identity: to.Identity, Name: to.Name, Linked: true})
		}
	}
	return AddPaths(ctx, db, again)
}

// ErrNotLinked reports a directory that is not linked to a project.
var ErrNotLinked = errors.New("it is not linked to a project")

// UnlinkProject removes the link of dir and returns its project without the link. Captured sessions stay in their
// project. The error is [ErrNotLinked] if there is no link. A dry run writes nothing.
func UnlinkProject(ctx context.Context, db *state.DB, dir string, dryRun bool) (p state.Project, err error) {
	paths, err := Paths(ctx, db)
	if err != nil {
		return p, err
	}
	if b := lastWord(paths, dir); b == nil || !b.Linked {
		return p, ErrNotLinked
	}
	unlinked := slices.DeleteFunc(slices.Clone(paths), func(b records.PathBody) bool { return b.Path == dir && b.Linked })
	p, _ = NewFinder(unlinked, db.Opts.World.Command).Locate(ctx, dir)
	if dryRun {
		return p, nil
	}
	b := records.PathBody{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name}
	return p, addPaths(ctx, db, []records.PathBody{b}, hasPath)
}

// Meet records that dir belongs to the project p on this device, unless dir has a record. It also applies to
// subdirectories that are not repositories.
func Meet(ctx context.Context, db *state.DB, p state.Project, dir string) error {
	return AddPaths(ctx, db, []records.PathBody{{Path: dir, Project: p.ID, Identity: p.Identity, Name: p.Name,
		Linked: false}})
}

// AddPaths records the projects of directories, unless they are known.
func AddPaths(ctx context.Context, db *state.DB, paths []records.PathBody) error {
	return addPaths(ctx, db, paths, knowsPath)
}

// addPaths records the projects of directories, unless has reports that the known ones include it.
func addPaths(ctx context.Context, db *state.DB, paths []records.PathBody,
	has func([]records.PathBody, records.PathBody) bool) error {
	if len(paths) == 0 {
		return nil
	}
	message := "path of " + paths[0].Name
	if len(paths) > 1 {
		message = fmt.Sprintf("paths of %d directories", len(paths))
	}
	var st *state.State
	var on *refs.Tx
	err := db.Refs.Update(ctx, refs.Home, message, func(tx *refs.Tx) (err error) {
		on = tx
		if st, err = db.Fold(ctx, tx, refs.Home); err != nil {
			return err
		}
		known := st.PathsOf(db.Refs.Device().ID)
		for _, b := range paths {
			if has(known, b) {
				continue
			}
			if _, err := tx.Add(records.KindPath, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		db.Advance(st, on)
	}
	return err
}

// hasPath reports whether the newest record of the directory equals b.
func hasPath(known []records.PathBody, b records.PathBody) bool {
	p := lastWord(known, b.Path)
	return p != nil && p.Project == b.Project && p.Linked == b.Linked
}

// knowsPath reports whether the newest record of the directory equals b or is a link by the user.
func knowsPath(known []records.PathBody, b records.PathBody) bool {
	p := lastWord(known, b.Path)
	return p != nil && p.Project == b.Project && (p.Linked || !b.Linked)
}

// newest returns the newest record of each directory in paths.
func newest(paths []records.PathBody) (out []records.PathBody) {
	for i, b := range paths {
		if lastWord(paths[i+1:], b.Path) == nil {
			out = append(out, b)
		}
	}
	return out
}

// lastWord returns the newest record of a directory in paths, nil if there is none.
func lastWord(paths []records.PathBody, dir string) *records.PathBody {
	for i := len(paths) - 1; i >= 0; i-- {
		if portablePath(paths[i].Path) == portablePath(dir) {
			return &paths[i]
		}
	}
	return nil
}
