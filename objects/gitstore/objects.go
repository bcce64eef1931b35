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
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

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
	if got := pack.Name(k, data); got != id {
		return 0, nil, fmt.Errorf("read object %s: content has the name %s: %w", id, got, pack.ErrCorrupt)
	}
	return k, data, nil
}

// StoredSize returns the size of an object on disk: of its pack entry, or of its loose file.
func (r *Repo) StoredSize(id pack.ID) (int64, error) {
	n, err := r.packs.EntrySize(id)
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
	r := bufio.NewReader(z)
	k, size, err := looseHead(r)
	if err == nil {
		// The size in the file may be wrong, so it is only a limit.
		data, err = io.ReadAll(io.LimitReader(r, size+1))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		return 0, nil, asCorrupt(err)
	}
	return k, data, nil
}

// looseHead reads the header of a loose object: its kind and size.
func looseHead(r *bufio.Reader) (pack.Kind, int64, error) {
	head, err := r.ReadSlice(0) // at most what the buffer holds
	if err != nil && err != bufio.ErrBufferFull {
		return 0, 0, err
	}
	name, digits, _ := strings.Cut(strings.TrimSuffix(string(head), "\x00"), " ")
	k, err := plumbing.ParseObjectType(name)
	size, serr := strconv.ParseInt(digits, 10, 64)
	switch {
	case err != nil || serr != nil || size < 0:
		return 0, 0, fmt.Errorf("it begins with %.40q: %w", head, pack.ErrCorrupt)
	case size > pack.MaxSize:
		return 0, 0, fmt.Errorf("%d bytes: %w", size, pack.ErrTooLarge)
	}
	return k, size, nil
}

// asCorrupt adds [pack.ErrCorrupt] to an error of a decoder, unless it is an I/O error.
func asCorrupt(err error) error {
	var disk *fs.PathError
	if errors.As(err, &disk) {
		return err
	}
	return fmt.Errorf("%w: %w", err, pack.ErrCorrupt)
}
