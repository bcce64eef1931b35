package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// registry is the directory with an empty file for every branch that has existed. A file without a branch means that
// the branch was lost.
const registry = "known"

func (r *Repo) registryPath(ref string) string {
	return filepath.Join(r.dir, tempDir, registry, escapeRef(ref))
}

// escapeRef returns a file name for a branch.
func escapeRef(ref string) string { return strings.NewReplacer("%", "%25", "/", "%2F").Replace(ref) }

// register adds a branch to the registry. Errors are ignored: the branch is durable already, and its next move tries
// again.
func (r *Repo) register(ref string) {
	if !strings.HasPrefix(ref, branches) {
		return
	}
	path := r.registryPath(ref)
	_, err := os.Lstat(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) && makeDirs(filepath.Dir(path)) == nil { // a clone or a copy
		if all, err := r.Refs(branches); err == nil {
			for _, other := range all {
				r.register(other.Name)
			}
		}
	}
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_ = f.Close() // the file is empty
	}
}

// RegisteredRefs returns the names of all branches that exist or were lost.
func (r *Repo) RegisteredRefs() ([]string, error) {
	files, err := os.ReadDir(filepath.Join(r.dir, tempDir, registry))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, f := range files {
		name := strings.NewReplacer("%25", "%", "%2F", "/").Replace(f.Name())
		if CheckRef(name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// IsRegistered reports whether [Repo.RegisteredRefs] lists a branch.
func (r *Repo) IsRegistered(ref string) (bool, error) {
	_, err := os.Lstat(r.registryPath(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Unregister removes a branch from [Repo.RegisteredRefs], because it is deleted intentionally.
func (r *Repo) Unregister(ref string) error {
	err := os.Remove(r.registryPath(ref))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
