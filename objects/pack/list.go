package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
)

// forget removes packs from the list, so that the next listing opens them again.
func (d *Dir) forget(packs []*file) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range packs {
		i := slices.Index(d.files, f)
		if i < 0 {
			continue // another goroutine has removed it
		}
		d.files = slices.Delete(slices.Clone(d.files), i, i+1)
		d.bases = slices.DeleteFunc(slices.Clone(d.bases), func(b string) bool { return b == f.base })
		d.state++
	}
}

// list returns the packs, and a number that changes when they do. It reads the directory the first time and if again
// is set.
func (d *Dir) list(again bool) ([]*file, int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.state > 0 && !again {
		return d.files, d.state, nil
	}
	bases, err := listPacks(d.path)
	if err != nil {
		return nil, 0, fmt.Errorf("list packs: %w", err)
	}
	if d.state > 0 && slices.Equal(bases, d.bases) {
		return d.files, d.state, nil
	}
	var next []*file
	for _, f := range d.files {
		if _, ok := slices.BinarySearch(bases, f.base); ok {
			next = append(next, f)
		}
	}
	var files []*file // new ones first: they have what was written last
	for _, base := range bases {
		if _, known := slices.BinarySearch(d.bases, base); !known {
			files = append(files, &file{base: base})
		}
	}
	d.state++
	d.bases, d.files = bases, append(files, next...)
	return d.files, d.state, nil
}

// listPacks returns the paths, without ".pack", of all packs that have an index and are not superseded, in
// order of name.
func listPacks(dir string) ([]string, error) {
	names, err := readNames(dir)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var bases []string
	for _, name := range names {
		base, ok := strings.CutSuffix(name, ".pack")
		_, idx := slices.BinarySearch(names, base+".idx")
		_, old := slices.BinarySearch(names, base+superseded)
		if ok && idx && !old && strings.HasPrefix(base, "pack-") {
			bases = append(bases, filepath.Join(dir, base))
		}
	}
	slices.Sort(bases) // "pack-a-b.pack" comes before "pack-a.pack", but "pack-a" before "pack-a-b"
	return bases, nil
}

// All yields the names of all objects in increasing order, each once.
func (d *Dir) All() iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		var ids []ID
		err := d.each(func(f *file) error {
			x, err := f.index()
			if err == nil {
				ids = append(ids, x.ids()...)
			}
			return err
		})
		if err != nil {
			yield(ID{}, fmt.Errorf("list objects: %w", err))
			return
		}
		slices.SortFunc(ids, Compare)
		for _, id := range slices.Compact(ids) {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// each calls use with each pack, and with all of them again if one was removed meanwhile.
func (d *Dir) each(use func(*file) error) (err error) {
	for range maxLists {
		var files []*file
		if files, _, err = d.list(true); err != nil {
			return err
		}
		for _, f := range files {
			if err = use(f); err != nil {
				break
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}
