package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// WriteNote writes a control file in the store's directory, atomically and durably. It is never pushed. b is an
// indented JSON object and a newline; WriteNote adds a member "sum".
func (r *Repo) WriteNote(name string, b []byte) error {
	if err := disk.WriteFile(filepath.Join(r.dir, name), disk.WithSum(b)); err != nil {
		return disk.AsWriteError(fmt.Errorf("write %s: %w", name, err))
	}
	return nil
}

// ReadNote decodes a file of [Repo.WriteNote] into v. It returns false if there is no such file. The error wraps
// [ErrDamaged] if the file is damaged.
func (r *Repo) ReadNote(name string, v any) (bool, error) { return disk.ReadNote(r.dir, name, v) }

// ReadDamagedNote returns the bytes of a note unchanged. Callers must not trust them.
func (r *Repo) ReadDamagedNote(name string) ([]byte, error) {
	b, err := pack.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return b, nil
}

// ReplaceNote is [Repo.WriteNote] over a damaged note. It keeps the damaged file in [DamagedDir] and returns its path
// in the store.
func (r *Repo) ReplaceNote(name string, b []byte) (kept string, err error) {
	if kept, err = pack.SetAside(filepath.Join(r.dir, name), filepath.Join(r.dir, DamagedDir)); err != nil {
		return "", disk.AsWriteError(fmt.Errorf("keep the damaged %s: %w", name, err))
	}
	return DamagedPath("", kept), r.WriteNote(name, b)
}

// RemoveNote removes a file of [Repo.WriteNote], if there is one.
func (r *Repo) RemoveNote(name string) error {
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.AsWriteError(err)
	}
	return disk.AsWriteError(disk.SyncDir(r.dir))
}
