package pack

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// maxOpen is the maximum number of packs that a Dir keeps open. Indexes of small packs need no open file.
	maxOpen = 64
	// maxLists is the maximum number of times that one call lists the directory while others replace packs.
	maxLists = 10
)

// A Dir reads objects from all packs of a directory. It may be used by several goroutines, while
// other processes add and merge packs. Use [OpenDir].
type Dir struct {
	path string

	mu    sync.Mutex
	state int      // counts the changes of what is listed; 0 = nothing is listed yet
	bases []string // what was listed, in order
	files []*file  // the last one used first; the slice is replaced, never changed
}

// OpenDir returns a reader of the packs in path, the directory objects/pack of a git repository.
// Nothing is read before the first call.
func OpenDir(path string) *Dir { return &Dir{path: path} }

// Get returns the kind and the content of an object, checked against its name. The error wraps
// [ErrNotFound] if no pack contains it, [ErrDelta] if it is stored as a delta, [ErrCorrupt] if it is damaged in every
// pack that contains it. The caller owns the result.
func (d *Dir) Get(id ID) (k Kind, data []byte, err error) {
	err = d.look(id, func(f *file, off int64) error {
		if err := d.openData(f); err != nil {
			return err
		}
		var err error
		k, data, err = readObject(f.f, id, off, f.end)
		return err
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return k, data, nil
}

// Has reports whether a pack contains an object of that name. It does not read the object.
func (d *Dir) Has(id ID) (bool, error) {
	err := d.look(id, func(*file, int64) error { return nil })
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for object %s: %w", id, err)
	}
	return true, nil
}

// Reader opens an object of any size. The content is compared with its name at the end: if the reader fails there with
// [ErrCorrupt], the bytes before were wrong.
func (d *Dir) Reader(id ID) (k Kind, size int64, rc io.ReadCloser, err error) {
	err = d.look(id, func(f *file, off int64) error {
		if err := d.openData(f); err != nil {
			return err
		}
		own, err := OpenFile(f.base + ".pack")
		if err != nil {
			return err
		}
		br := bufio.NewReaderSize(nil, 64<<10)
		s, err := readSlot(br, own, off, f.end)
		if err == nil && (s.kind == offsetDelta || s.kind == refDelta) {
			err = ErrDelta
		}
		var z io.ReadCloser
		if err == nil {
			z, err = inflater(br, own, s, f.end)
		}
		if err != nil {
			return errors.Join(err, own.Close())
		}
		k, size, rc = s.kind, s.size, newStream(z, s, id, own.Close)
		return nil
	})
	if err != nil {
		return 0, 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return k, size, rc, nil
}

// look calls use with the packs that hold id until it succeeds. A directory that is listed while
// packs are merged may show neither the old packs nor the new one. So nothing is "not found" before
// two lists, one after the other, have shown the packs that were searched: what the first may have
// missed was there before the second began. Packs that are added are searched, but need no further list:
// only where some have gone may others have what was in them.
func (d *Dir) look(id ID, use func(f *file, off int64) error) error {
	files, state, err := d.list(false)
	var before []*file // what the last list but one showed, if that was made here
	made, reopened := false, false
	for range maxLists {
		if err != nil {
			return err
		}
		r := d.search(files, id, use)
		if r.found || errors.Is(r.err, ErrDelta) {
			return r.err
		}
		if len(r.bad) > 0 && !reopened {
			reopened, before = true, nil // a damaged pack may have been repaired since it was opened
			d.forget(r.bad)
		}
		if before != nil && !r.vanished && among(before, files) {
			return cmp.Or(r.err, ErrNotFound)
		}
		if before = nil; made && !r.vanished {
			before = files
		}
		searched := state
		for try := 0; try < 2 && err == nil && state == searched; try++ {
			files, state, err = d.list(true)
			made = true
		}
		if err == nil && state == searched && !r.vanished {
			return cmp.Or(r.err, ErrNotFound)
		}
	}
	return fmt.Errorf("%s changes all the time", d.path)
}

// among reports whether all files of some are in all.
func among(some, all []*file) bool {
	has := make(map[*file]bool, len(all))
	for _, f := range all {
		has[f] = true
	}
	return !slices.ContainsFunc(some, func(f *file) bool { return !has[f] })
}

// A result of a search: found, or the first error of a pack that is damaged.
type result struct {
	found    bool
	err      error
	bad      []*file
	vanished bool // a pack was gone when it was opened
}

// search tries the packs one by one.
func (d *Dir) search(files []*file, id ID, use func(f *file, off int64) error) (r result) {
	for i, f := range files {
		ok, err := try(f, id, use)
		switch {
		case err == nil && ok:
			if i > 0 {
				d.toFront(f)
			}
			return result{found: true}
		case err == nil:
		case errors.Is(err, fs.ErrNotExist):
			r.vanished = true
		case errors.Is(err, ErrDelta):
			r.err = &DeltaError{ID: id, Pack: f.base}
		default:
			r.err = cmp.Or(r.err, fmt.Errorf("pack %s: %w", filepath.Base(f.base), err))
			r.bad = append(r.bad, f)
		}
	}
	return r
}

func try(f *file, id ID, use func(f *file, off int64) error) (ok bool, err error) {
	x, err := f.pin()
	if err != nil {
		return false, err
	}
	off, ok, err := x.find(id)
	if err == nil && ok {
		err = use(f, off)
	}
	return ok, errors.Join(err, f.unpin())
}

// openData opens the pack of a pinned file, and closes those longest unused if too many are open.
func (d *Dir) openData(f *file) error {
	opened, err := f.data()
	if err != nil || !opened {
		return err
	}
	d.mu.Lock()
	files := d.files
	d.mu.Unlock()
	open := 0
	for _, o := range files {
		if o.isOpen() {
			open++
		}
		if open > maxOpen {
			if err := o.rest(); err != nil {
				return err
			}
		}
	}
	return nil
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
		errs = append(errs, f.drop())
	}
	d.files, d.bases, d.state = nil, nil, 0
	return errors.Join(errs...)
}
