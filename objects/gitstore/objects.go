package gitstore

import (
	"bufio"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/memvcs/mem/objects/pack"
)

func (r *Repo) loosePath(id pack.ID) string {
	s := id.String()
	return filepath.Join(r.dir, "objects", s[:2], s[2:])
}

// loose reads a loose object.
func (r *Repo) loose(id pack.ID) (pack.Kind, []byte, error) {
	f, err := pack.OpenFile(r.loosePath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil, fmt.Errorf("read object %s: %w", id, pack.ErrNotFound)
	}
	if err != nil {
		return 0, nil, err
	}
	k, data, err := readLoose(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return checkName(id, k, data)
}

// StoredSize returns the size of an object on disk: of its pack entry, or of its loose file.
func (r *Repo) StoredSize(id pack.ID) (int64, error) {
	n, err := r.packs.StoredSize(id)
	if !errors.Is(err, pack.ErrNotFound) {
		return n, err
	}
	fi, lerr := os.Lstat(r.loosePath(id))
	if errors.Is(lerr, fs.ErrNotExist) {
		return 0, err
	}
	if lerr != nil {
		return 0, lerr
	}
	return fi.Size(), nil
}

func readLoose(f *os.File) (k pack.Kind, data []byte, err error) {
	z, err := zlib.NewReader(bufio.NewReader(f))
	if err != nil {
		return 0, nil, asCorrupt(err)
	}
	k, size, err := looseHead(z)
	if err == nil {
		// The size in the file may be wrong, so it is only a limit.
		data, err = io.ReadAll(io.LimitReader(z, size+1))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return 0, nil, asCorrupt(err)
	}
	return k, data, nil
}

// looseHead reads the header of a loose object: its kind and size. It reads no more than the longest valid header.
func looseHead(z io.Reader) (pack.Kind, int64, error) {
	var head []byte
	for c := make([]byte, 1); len(head) < len("commit 9223372036854775807\x00"); head = append(head, c[0]) {
		if _, err := io.ReadFull(z, c); err != nil {
			return 0, 0, err
		}
		if c[0] == 0 {
			break
		}
	}
	name, digits, _ := strings.Cut(string(head), " ")
	size, err := strconv.ParseInt(digits, 10, 64)
	k := slices.IndexFunc([]pack.Kind{pack.Commit, pack.Tree, pack.Blob, pack.Tag}, func(k pack.Kind) bool {
		return k.String() == name
	})
	switch {
	case err != nil || size < 0 || k < 0:
		return 0, 0, fmt.Errorf("it begins with %.40q: %w", head, pack.ErrCorrupt)
	case size > pack.MaxSize:
		return 0, 0, fmt.Errorf("%d bytes: %w", size, pack.ErrTooLarge)
	}
	return pack.Kind(k + 1), size, nil
}

// asCorrupt adds [pack.ErrCorrupt] to an error of a go-git decoder, unless it is an I/O error.
func asCorrupt(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return fmt.Errorf("%w: %w", err, pack.ErrCorrupt)
}

// checkName returns an object read by go-git if its name is id.
func checkName(id pack.ID, k pack.Kind, data []byte) (pack.Kind, []byte, error) {
	if got := pack.Name(k, data); got != id {
		return 0, nil, fmt.Errorf("read object %s: content has the name %s: %w", id, got, pack.ErrCorrupt)
	}
	return k, data, nil
}

// deltaPack is a pack opened by go-git, to resolve its deltas.
type deltaPack struct {
	file *unlockedFile
	pack *packfile.Packfile
}

func (d *deltaPack) close() error { return d.file.Close() }

// unlockedFile adapts a file to go-git. Packs are never locked.
type unlockedFile struct{ *os.File }

func (unlockedFile) Lock() error   { return nil }
func (unlockedFile) Unlock() error { return nil }

// readDelta reads an object that is stored as a delta. Goroutines must not share packs of go-git.
func (r *Repo) readDelta(at *pack.DeltaError) (pack.Kind, []byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.deltas[at.Pack]
	if !ok {
		err := r.closeDeleted()
		if err == nil {
			d, err = openDeltas(at.Pack)
		}
		if err != nil {
			return 0, nil, fmt.Errorf("read object %s: %w", at.ID, err)
		}
		r.deltas[at.Pack] = d
	}
	k, data, err := d.read(at.ID)
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s in %s: %w", at.ID, filepath.Base(at.Pack), err)
	}
	return checkName(at.ID, k, data)
}

// closeDeleted closes packs that git has deleted.
func (r *Repo) closeDeleted() error {
	var errs []error
	for base, d := range r.deltas {
		if _, err := os.Stat(base + ".pack"); errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, d.close())
			delete(r.deltas, base)
		}
	}
	return errors.Join(errs...)
}

func openDeltas(base string) (*deltaPack, error) {
	idx, err := pack.OpenFile(base + ".idx")
	if err != nil {
		return nil, err
	}
	x := idxfile.NewMemoryIndex()
	err = idxfile.NewDecoder(idx).Decode(x)
	if err != nil {
		err = asCorrupt(err)
	}
	if err = errors.Join(err, idx.Close()); err != nil {
		return nil, fmt.Errorf("index %s.idx: %w", filepath.Base(base), err)
	}
	f, err := pack.OpenFile(base + ".pack")
	if err != nil {
		return nil, err
	}
	file := &unlockedFile{f}
	return &deltaPack{file, packfile.NewPackfile(x, nil, file, 0)}, nil
}

func (d *deltaPack) read(id pack.ID) (pack.Kind, []byte, error) {
	off, err := d.pack.FindOffset(plumbing.Hash(id))
	if err != nil {
		return 0, nil, asCorrupt(err)
	}
	size, err := d.pack.GetSizeByOffset(off)
	if err != nil {
		return 0, nil, asCorrupt(err)
	}
	if size > pack.MaxSize {
		return 0, nil, fmt.Errorf("%d bytes: %w", size, pack.ErrTooLarge)
	}
	o, err := d.pack.Get(plumbing.Hash(id))
	if err != nil {
		return 0, nil, asCorrupt(err)
	}
	rc, err := o.Reader()
	if err != nil {
		return 0, nil, asCorrupt(err)
	}
	data, err := io.ReadAll(rc)
	if err = errors.Join(err, rc.Close()); err != nil {
		return 0, nil, asCorrupt(err)
	}
	return pack.Kind(o.Type()), data, nil
}
