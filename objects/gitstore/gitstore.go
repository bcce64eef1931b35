// Package gitstore stores trees, commits and branches in a bare git repository, so that plain git can read all data of
// the program.
//
// A [Repo] reads objects from packs with objects/pack, and loose objects, which only other programs write. Every object
// is checked against its name. Trees follow a closed grammar ([DecodeTree]); all others are
// refused when they are read.
//
// Only [Repo.Update] moves branches: with git's own protocol of lock files, compare-and-swap and fsync. So git and any
// number of our processes may write at once. go-git never moves a branch here and never writes an object.
package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/memvcs/mem/objects/pack"
)

var (
	// ErrKind means that an object is of another kind than requested.
	ErrKind = errors.New("object is of another kind")
	// ErrMoved means that a branch is not at the old commit that the caller of [Repo.Update] expects.
	ErrMoved = errors.New("branch has moved")
	// ErrLocked means that another process did not release the lock of a branch in time.
	ErrLocked = errors.New("branch is locked")
	// ErrNoRepository means that a directory is not a repository that this package can use.
	ErrNoRepository = errors.New("not a usable bare git repository")
)

// A Repo is a bare git repository. Its methods may be called from several goroutines at once, and
// while other processes write. Use [Open].
type Repo struct {
	dir       string
	packs     *pack.Dir
	alternate *Repo // read for missing objects; may be nil
}

// Open opens the repository in dir. The error wraps [ErrNoRepository] if it is not a bare repository of git's classic
// form (SHA-1, branches as files), or if it borrows objects from another one.
func Open(dir string) (*Repo, error) {
	err := checkRepository(dir)
	if errors.Is(err, pack.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", err, ErrNoRepository)
	}
	if err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return &Repo{dir: dir, packs: pack.OpenDir(filepath.Join(dir, "objects", "pack"))}, nil
}

// Alternate makes r continue another repository: missing objects are read from it. The caller closes both.
func (r *Repo) Alternate(other *Repo) { r.alternate = other }

// checkRepository returns an error unless dir is a repository that Open accepts.
func checkRepository(dir string) error {
	for _, sub := range []string{"objects", "refs"} {
		st, err := os.Stat(filepath.Join(dir, sub))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
			return fmt.Errorf("no directory %s: %w", sub, ErrNoRepository)
		}
		if err != nil {
			return err
		}
	}
	head, err := readSmall(filepath.Join(dir, headFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("no HEAD: %w", ErrNoRepository)
	}
	if err != nil {
		return err
	}
	line := strings.TrimSuffix(string(head), "\n")
	if _, err := pack.ParseID(line); err != nil && !strings.HasPrefix(line, "ref: refs/") {
		return fmt.Errorf("HEAD is %.60q: %w", line, ErrNoRepository)
	}
	for _, name := range []string{"alternates", "http-alternates"} {
		b, err := readSmall(filepath.Join(dir, "objects", "info", name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if len(strings.TrimSpace(string(b))) > 0 {
			return fmt.Errorf("objects/info/%s: borrows objects from another repository: %w", name, ErrNoRepository)
		}
	}
	return checkConfig(filepath.Join(dir, "config"))
}

// Dir returns the directory of the repository.
func (r *Repo) Dir() string { return r.dir }

// PackDir returns the directory of its packs, for [pack.Create] and [pack.Merge].
func (r *Repo) PackDir() string { return filepath.Join(r.dir, "objects", "pack") }

// Packs returns the reader of its packs.
func (r *Repo) Packs() *pack.Dir { return r.packs }

// Close closes all files. The Repo may be used again.
func (r *Repo) Close() error { return r.packs.Close() }

// Get returns the content of an object, checked against its name. The error wraps [pack.ErrNotFound] if it does not
// exist, [ErrKind] if it is of another kind, [pack.ErrCorrupt] if it is damaged. The caller owns the result.
func (r *Repo) Get(id pack.ID, want pack.Kind) ([]byte, error) {
	k, data, err := r.Read(id)
	if r.alternate != nil && errors.Is(err, pack.ErrNotFound) {
		return r.alternate.Get(id, want)
	}
	if err != nil {
		return nil, err
	}
	if k != want {
		return nil, fmt.Errorf("object %s is a %s, not a %s: %w", id, k, want, ErrKind)
	}
	return data, nil
}

// Has reports whether there is an object of that name. It does not read the object.
func (r *Repo) Has(id pack.ID) (bool, error) {
	if ok, err := r.packs.Has(id); ok || err != nil {
		return ok, err
	}
	_, err := os.Lstat(r.loosePath(id))
	if errors.Is(err, fs.ErrNotExist) {
		ok, err := r.packs.Has(id) // git may have packed it meanwhile
		if ok || err != nil || r.alternate == nil {
			return ok, err
		}
		return r.alternate.Has(id)
	}
	return err == nil, err
}

// Read returns an object of any kind, checked against its name. It reads from the packs, then a loose object: an object
// damaged in a pack may be intact elsewhere.
func (r *Repo) Read(id pack.ID) (k pack.Kind, data []byte, err error) {
	if k, data, err = r.packs.Get(id); err == nil {
		return k, data, nil
	}
	lk, ldata, lerr := r.loose(id)
	switch {
	case lerr == nil:
		return lk, ldata, nil
	case !errors.Is(err, pack.ErrNotFound):
		return 0, nil, err
	case !errors.Is(lerr, pack.ErrNotFound):
		return 0, nil, lerr
	}
	return r.packs.Get(id) // git may have packed it meanwhile
}

// Tree returns the entries of a tree, checked as [DecodeTree] does.
func (r *Repo) Tree(id pack.ID) ([]TreeEntry, error) {
	b, err := r.Get(id, pack.Tree)
	if err != nil {
		return nil, err
	}
	es, err := DecodeTree(b)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", id, err)
	}
	return es, nil
}

// Trees returns the entries of several trees, which it reads on all cores.
func (r *Repo) Trees(ids []pack.ID) ([][]TreeEntry, error) {
	trees, errs := make([][]TreeEntry, len(ids)), make([]error, len(ids))
	var next atomic.Int64
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(ids)) {
		readers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(ids)); i = next.Add(1) - 1 {
				trees[i], errs[i] = r.Tree(ids[i])
			}
		})
	}
	readers.Wait()
	return trees, errors.Join(errs...)
}

// Commit returns a commit.
func (r *Repo) Commit(id pack.ID) (Commit, error) {
	b, err := r.Get(id, pack.Commit)
	if err != nil {
		return Commit{}, err
	}
	c, err := DecodeCommit(b)
	if err != nil {
		return Commit{}, fmt.Errorf("commit %s: %w", id, err)
	}
	return c, nil
}
