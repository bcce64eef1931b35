package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
)

// A store reserves some disk space, because even deleting data needs space first: for the restarted lane and the
// packs without the deleted data. The reserve is a file. When a command that frees space finds the disk full, the file
// is removed and created again afterwards.

const (
	reserveFile = "reserve"
	// ReserveSize is the size of a whole reserve.
	ReserveSize = 4 << 20
	// minReserve is the size below which a reserve is not worth a file.
	minReserve = 256 << 10
)

// Reserve returns the size of the reserve, 0 if there is none.
func (r *Repo) Reserve() (int64, error) {
	fi, err := os.Lstat(r.reservePath())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !fi.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file", r.reservePath())
	}
	return fi.Size(), nil
}

// KeepReserve creates the reserve, or allocates its missing blocks. If the disk has too little space, the reserve is a
// half, a quarter and so on of [ReserveSize], and the error is that of the first attempt.
func (r *Repo) KeepReserve() error {
	n, err := r.Reserve()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(r.reservePath(), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	err = disk.Allocate(f, ReserveSize)
	for size := int64(ReserveSize); err != nil; {
		if size /= 2; size < max(minReserve, n) {
			if n < minReserve {
				return errors.Join(err, f.Close(), os.Remove(r.reservePath()))
			}
			return errors.Join(err, f.Truncate(n), f.Close())
		}
		if errors.Join(f.Truncate(n), disk.Allocate(f, size)) == nil {
			break
		}
	}
	return errors.Join(err, f.Close())
}

// WithReserve calls f, which frees space or needs little. If the disk is full, it removes the reserve, calls f once
// more, and creates the reserve again as far as there is space.
func (r *Repo) WithReserve(f func() error) error {
	err := f()
	if !disk.IsFull(err) {
		return err
	}
	n, rerr := r.Reserve()
	if rerr == nil && n > 0 {
		rerr = os.Remove(r.reservePath())
	}
	if rerr != nil || n == 0 {
		return errors.Join(err, rerr)
	}
	err = f()
	// if there is still no space, "mem doctor" reports it, and the next command that frees space tries again
	_ = r.KeepReserve()
	return err
}

func (r *Repo) reservePath() string { return filepath.Join(r.dir, reserveFile) }
