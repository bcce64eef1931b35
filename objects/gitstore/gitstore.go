// Package gitstore keeps trees, commits and branches in a bare git repository, so that plain git can
// read all that the program stores.
//
// A [Repo] reads objects from packs through objects/pack. What that package leaves out, loose objects
// and deltas, which only other programs write, is decoded by go-git. Every object is checked
// against its name. Trees follow a closed grammar ([DecodeTree]): what we do not write ourselves is
// refused when it is read.
//
// Branches move in one way only, [Repo.Update]: git's own protocol of lock files, with compare and
// swap and with everything synced, so git and any number of our processes may write at once. go-git
// never moves a branch here and never writes an object.
package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects/pack"
)

var (
	// ErrKind says that an object is not of the kind that was asked for.
	ErrKind = errors.New("object is of another kind")
	// ErrMoved says that a branch is not where the caller of [Repo.Update] thought.
	ErrMoved = errors.New("branch has moved")
	// ErrLocked says that another process held the lock of a branch all the time. The error is a
	// [*LockedError].
	ErrLocked = errors.New("branch is locked")
	// ErrNoRepository says that a directory is not a repository that this package can use.
	ErrNoRepository = errors.New("not a usable bare git repository")
)

// A Repo is a bare git repository. Its methods may be called from several goroutines at once, and
// while other processes write. Use [Open].
type Repo struct {
	dir   string
	packs *pack.Dir
	under *Repo // where objects are looked for that are not here; nil for nowhere

	mu     sync.Mutex
	deltas map[string]*deltas // by the path of the pack
}

// Open opens the repository in dir. It refuses what is not a bare repository of git's classic form
// (SHA-1, branches as files), and one that borrows objects from another ([ErrNoRepository]).
func Open(dir string) (*Repo, error) {
	if err := check(dir); err != nil {
		return nil, fmt.Errorf("open repository %s: %w", dir, err)
	}
	return &Repo{dir: dir, packs: pack.OpenDir(filepath.Join(dir, "objects", "pack")), deltas: map[string]*deltas{}}, nil
}

// OpenOver is [Open] of a repository whose objects may refer to those of another one: what is not in dir is read from
// under. Branches are those of dir alone. The caller closes both.
func OpenOver(dir string, under *Repo) (*Repo, error) {
	r, err := Open(dir)
	if err == nil {
		r.under = under
	}
	return r, err
}

// check makes sure that dir is a repository as Open wants it.
func check(dir string) error {
	for _, sub := range []string{"objects", "refs"} {
		st, err := os.Stat(filepath.Join(dir, sub))
		if errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
			return fmt.Errorf("no directory %s: %w", sub, ErrNoRepository)
		}
		if err != nil {
			return err
		}
	}
	head, err := pack.ReadFile(filepath.Join(dir, headFile))
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
		b, err := pack.ReadFile(filepath.Join(dir, "objects", "info", name))
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
func (r *Repo) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	errs := []error{r.packs.Close()}
	for _, d := range r.deltas {
		errs = append(errs, d.close())
	}
	clear(r.deltas)
	return errors.Join(errs...)
}

// Get returns the content of an object, checked against its name. The error wraps
// [pack.ErrNotFound] if there is none of that name, [ErrKind] if it is not what is wanted,
// [pack.ErrCorrupt] if it is damaged. The caller owns the result.
func (r *Repo) Get(id pack.ID, want pack.Kind) ([]byte, error) {
	k, data, err := r.read(id)
	if r.under != nil && errors.Is(err, pack.ErrNotFound) {
		return r.under.Get(id, want)
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
		ok, err := r.packs.Has(id) // git may have packed it in between
		if ok || err != nil || r.under == nil {
			return ok, err
		}
		return r.under.Has(id)
	}
	return err == nil, err
}

// Read returns an object of any kind, checked against its name.
func (r *Repo) Read(id pack.ID) (pack.Kind, []byte, error) { return r.read(id) }

// maxTries bounds how often a read follows packs that git replaces under it.
const maxTries = 10

// read asks the packs, then go-git. What is damaged in a pack may lie elsewhere in good order.
func (r *Repo) read(id pack.ID) (k pack.Kind, data []byte, err error) {
	for range maxTries {
		if k, data, err = r.packs.Get(id); err == nil {
			return k, data, nil
		}
		lk, ldata, lerr := r.loose(id)
		if lerr == nil {
			return lk, ldata, nil
		}
		if errors.Is(err, pack.ErrNotFound) {
			if !errors.Is(lerr, pack.ErrNotFound) {
				return 0, nil, lerr
			}
			if k, data, err = r.packs.Get(id); err == nil { // git may have packed it in between
				return k, data, nil
			}
		}
		var delta *pack.DeltaError
		if !errors.As(err, &delta) {
			return 0, nil, err
		}
		if k, data, err = r.delta(delta); !errors.Is(err, fs.ErrNotExist) {
			return k, data, err
		}
		if _, lerr := r.packs.Count(); lerr != nil { // which lists the packs again
			return 0, nil, lerr
		}
	}
	return 0, nil, err
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
