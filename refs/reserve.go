package refs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/refs/disk"
)

// A store keeps some room of its disk for itself, because to forget means to write first: a lane that begins
// anew and packs without what goes. The room is a file that is removed when a command that frees space meets a
// full disk, and made again afterwards.

const (
	reserveFile = "reserve"
	// ReserveSize is the size of a whole reserve.
	ReserveSize = 4 << 20
	// leastReserve is the size below which a reserve is not worth a file.
	leastReserve = 256 << 10
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

// KeepReserve makes the reserve whole; one that was copied with holes gets its blocks. Where there is too
// little room for that it is as large as half of it, a quarter and so on, if only that fits; the error is that
// of the whole one then.
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
		if size /= 2; size < max(leastReserve, n) {
			if n < leastReserve {
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

// Freeing runs f, which makes room or takes next to none. If f meets a full disk, the reserve is released and f
// runs again, so f must be able to; the reserve is made again afterwards as far as there is room.
func (r *Repo) Freeing(f func() error) error {
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
	// there may still be no room: "mem doctor" tells, and the next command that frees space tries again
	_ = r.KeepReserve()
	return err
}

func (r *Repo) reservePath() string { return filepath.Join(r.dir, reserveFile) }
