package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// WriteNote makes a file of the store beside the repositories, which never travels: durable and whole, or not
// at all. It is an indented JSON object with a newline behind it, and gets a member "sum".
func (r *Repo) WriteNote(name string, b []byte) error {
	if err := disk.WriteFile(filepath.Join(r.dir, name), disk.WithSum(b)); err != nil {
		return disk.Writing(fmt.Errorf("write %s: %w", name, err))
	}
	return nil
}

// ReadNote decodes what [Repo.WriteNote] wrote into v, and reports false if it is not there. The error wraps
// [ErrDamaged] if it is not as it was written: a damaged note is never taken for a missing one.
func (r *Repo) ReadNote(name string, v any) (bool, error) { return disk.ReadNote(r.dir, name, v) }

// DamagedNote returns the bytes of a note unchanged. Callers must not trust them.
func (r *Repo) DamagedNote(name string) ([]byte, error) {
	b, err := pack.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// ReplaceNote is [Repo.WriteNote] in the place of a damaged note, which it keeps with the other damaged files
// under the name that it returns.
func (r *Repo) ReplaceNote(name string, b []byte) (kept string, err error) {
	if kept, err = pack.SetAside(filepath.Join(r.dir, name), filepath.Join(r.dir, DamagedDir)); err != nil {
		return "", disk.Writing(fmt.Errorf("keep the damaged %s: %w", name, err))
	}
	return KeptAs("", kept), r.WriteNote(name, b)
}

// RemoveNote removes what [Repo.WriteNote] wrote.
func (r *Repo) RemoveNote(name string) error {
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.Writing(err)
	}
	return disk.Writing(disk.SyncDir(r.dir))
}
