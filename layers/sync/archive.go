package sync

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/archive"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/remote"
)

// ArchiveOptions select the content of an archive.
type ArchiveOptions struct {
	Projects  []state.Project
	Originals bool   // include the exact bytes, secrets included
	Temp      string // directory for temporary files
	DryRun    bool
	Progress  func(n int64)
}

// WriteArchive writes an archive of all local lanes of projects. It is a push to an empty repository: the archive
// contains what a push would send. If it contains no lane, nothing is written and Pushed says why. Write is called
// with the function that writes the archive.
func WriteArchive(ctx context.Context, db *state.DB, write func(func(io.Writer) error) error,
	o ArchiveOptions) (out Pushed, err error) {
	dir, remove, err := makeTemp(ctx, db, o.Temp)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	repo := filepath.Join(dir, "memory.git")
	if err := gitstore.InitTemporary(repo); err != nil {
		return out, err
	}
	r, err := directory(repo, o.Originals)
	if err != nil {
		return out, err
	}
	out, err = Push(ctx, db, PushOptions{Remote: r, Projects: o.Projects, DryRun: o.DryRun, Others: true,
		Progress: o.Progress, Consent: func(state.Project, refs.Remote) (bool, error) { return true, nil }})
	if err != nil || o.DryRun || out.Objects == 0 {
		return out, err
	}
	git, err := gitstore.Open(repo)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, git.Close()) }()
	manifest := archive.Manifest{Created: db.Opts.Now().UTC(), Device: db.Refs.Device().Name, Originals: o.Originals,
		Projects: []archive.Project{}}
	for _, p := range o.Projects {
		if slices.ContainsFunc(out.Lanes, func(l PushedLane) bool { return l.Project.ID == p.ID && l.Status == "new" }) {
			manifest.Projects = append(manifest.Projects, archive.Project{ID: string(p.ID), Name: p.Name})
		}
	}
	return out, write(func(w io.Writer) error { return archive.Write(w, git, manifest) })
}

// abandoned is the age from which a directory without a lock file is removed: its process was killed at once.
const abandoned = 24 * time.Hour

// makeTemp creates a locked directory for the parts of an archive, and a function that removes it. It removes the
// directories of killed processes.
func makeTemp(ctx context.Context, db *state.DB, in string) (dir string, remove func() error, err error) {
	left, err := disk.Match(in, "archive-*.tmp")
	if err != nil {
		return "", nil, err
	}
	for _, dir := range left {
		if err := removeAbandoned(db, dir); err != nil {
			return "", nil, err
		}
	}
	if dir, err = os.MkdirTemp(in, "archive-*.tmp"); err != nil {
		return "", nil, err
	}
	unlock, err := disk.Lock(ctx, filepath.Join(dir, tempLock), db.Opts.LockTimeout)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return removeLocked(dir, unlock) }, nil
}

// removeLocked removes a directory with a locked file, and unlocks it.
func removeLocked(dir string, unlock func()) error {
	err := os.RemoveAll(dir)
	unlock()
	if err != nil { // on Windows an open file cannot be removed
		err = os.RemoveAll(dir)
	}
	return err
}

// tempLock is the file that a process locks in its directory for the parts of an archive.
const tempLock = "lock"

// removeAbandoned removes a directory for the parts of an archive, unless a process uses it.
func removeAbandoned(db *state.DB, dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil // removed meanwhile, or not a directory of mem
	}
	lock := filepath.Join(dir, tempLock)
	if _, err := os.Lstat(lock); errors.Is(err, fs.ErrNotExist) {
		if db.Opts.Now().Sub(info.ModTime()) > abandoned {
			return os.RemoveAll(dir)
		}
		return nil
	}
	unlock, ok, err := disk.TryLock(lock)
	if err != nil || !ok {
		return err
	}
	return removeLocked(dir, unlock)
}

// directory returns a remote without a name. No state of it is stored.
func directory(path string, originals bool) (refs.Remote, error) {
	u, _, err := remote.ParseURL(path, nil)
	return refs.Remote{URL: u.String(), Originals: originals}, err
}

// ReadArchiveOptions select what is imported from an archive.
type ReadArchiveOptions struct {
	Projects []refs.Project // nil: all
	Temp     string         // directory for temporary files
	DryRun   bool
	Progress func(n int64)
}

// ReadArchive imports the lanes of an archive like a fetch: existing data stays, forgotten data does not return, and
// new devices are untrusted. The error wraps [archive.ErrDamaged] or [archive.ErrNewer] if the archive is the cause;
// then nothing is imported.
func ReadArchive(ctx context.Context, db *state.DB, from io.Reader,
	o ReadArchiveOptions) (a archive.Manifest, out Fetched, err error) {
	dir, remove, err := makeTemp(ctx, db, o.Temp)
	if err != nil {
		return a, out, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	repo := filepath.Join(dir, "memory.git")
	if a, err = archive.Unpack(ctx, from, repo, o.Progress); err != nil {
		return a, out, err
	}
	r, err := directory(repo, a.Originals)
	if err != nil {
		return a, out, err
	}
	out, err = Fetch(ctx, db, FetchOptions{Remote: r, Projects: o.Projects, DryRun: o.DryRun})
	if err != nil || !out.Twin || o.DryRun {
		return a, out, err
	}
	if err := db.Refs.NewDeviceID(ctx); err != nil { // the store is a copy or an old backup
		return a, out, fmt.Errorf("become a new device: %w", err)
	}
	again, err := Fetch(ctx, db, FetchOptions{Remote: r, Projects: o.Projects})
	again.Twin = true
	return a, again, err
}
