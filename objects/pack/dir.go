package pack

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// maxLists is the maximum number of times that one call lists the directory while others replace packs.
const maxLists = 1000

// A Dir reads objects from all packs of a directory. It may be used by several goroutines, while
// other processes add and merge packs. Use [OpenDir].
type Dir struct {
	path string

	mu    sync.Mutex
	state int      // number of listings that differed from the one before; 0: not listed yet
	bases []string // of the last listing, sorted
	files []*file  // those written last first; the slice is replaced, never changed
}

// OpenDir returns a reader of the packs in path, the directory objects/pack of a git repository.
// Nothing is read before the first call.
func OpenDir(path string) *Dir { return &Dir{path: path} }

// Get returns the kind and the content of an object, checked against its name. The error wraps
// [ErrNotFound] if no pack contains it, [ErrCorrupt] if it is damaged in every pack that contains it. The caller owns
// the result.
func (d *Dir) Get(id ID) (k Kind, data []byte, err error) {
	err = d.withData(id, func(f *file, p *os.File, off, end int64) error {
		var err error
		u := unpacker{p: p, end: end, find: f.idx.find}
		if k, data, err = u.object(off); err != nil {
			return err
		}
		if got := Name(k, data); got != id {
			return fmt.Errorf("content has the name %s: %w", got, ErrCorrupt)
		}
		return nil
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return k, data, nil
}

// Has reports whether a pack contains an object of that name. It does not read the object.
func (d *Dir) Has(id ID) (bool, error) {
	err := d.lookup(id, func(*file, int64) error { return nil })
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for object %s: %w", id, err)
	}
	return true, nil
}

// withData is lookup with the open pack and the end of its entries.
func (d *Dir) withData(id ID, use func(f *file, p *os.File, off, end int64) error) error {
	return d.lookup(id, func(f *file, off int64) error {
		p, end, err := f.open()
		if err != nil {
			return err
		}
		return use(f, p, off, end)
	})
}

// lookup calls use with each pack that contains id until it succeeds. A listing of the directory during a merge may
// show neither the old packs nor the new one. So lookup returns [ErrNotFound] only if two more listings show the packs
// that it has searched: a pack that the first one missed existed before the second one began.
func (d *Dir) lookup(id ID, use func(f *file, off int64) error) error {
	files, state, err := d.list(false)
	reopened := false
	for range maxLists {
		if err != nil {
			return err
		}
		r := search(files, id, use)
		if r.found || errors.Is(r.err, ErrDelta) {
			return r.err
		}
		if len(r.corrupt) > 0 && !reopened {
			reopened = true // another process may have repaired it under the same name since it was opened
			d.forget(r.corrupt)
		}
		searched := state
		for try := 0; try < 2 && err == nil && state == searched; try++ {
			files, state, err = d.list(true)
		}
		if err == nil && state == searched && !r.vanished {
			return cmp.Or(r.err, ErrNotFound)
		}
	}
	return fmt.Errorf("%s changed during each of %d searches", d.path, maxLists)
}

// A searchResult is the outcome of a search.
type searchResult struct {
	found    bool
	err      error
	corrupt  []*file
	vanished bool // a pack was removed before it was opened
}

// search tries the packs one by one.
func search(files []*file, id ID, use func(f *file, off int64) error) (r searchResult) {
	for _, f := range files {
		ok, err := tryPack(f, id, use)
		switch {
		case err == nil && ok:
			return searchResult{found: true}
		case err == nil:
		case errors.Is(err, fs.ErrNotExist):
			r.vanished = true
		case errors.Is(err, ErrDelta):
			r.err = err
		default:
			r.err = cmp.Or(r.err, fmt.Errorf("pack %s: %w", filepath.Base(f.base), err))
			if errors.Is(err, ErrCorrupt) {
				r.corrupt = append(r.corrupt, f)
			}
		}
	}
	return r
}

func tryPack(f *file, id ID, use func(f *file, off int64) error) (ok bool, err error) {
	x, err := f.index()
	if err != nil {
		return false, err
	}
	off, ok, err := x.find(id)
	if err == nil && ok {
		err = use(f, off)
	}
	return ok, err
}

// Count returns the number of packs in the directory now.
func (d *Dir) Count() (int, error) {
	files, _, err := d.list(true)
	return len(files), err
}

// Close closes all files. The Dir may be used again.
func (d *Dir) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.close())
	}
	d.files, d.bases, d.state = nil, nil, 0
	return errors.Join(errs...)
}
