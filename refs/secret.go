package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

const (
	// keysDir holds what opens encrypted remotes. Like device.json it never travels.
	keysDir = "keys"
	// scratchDir holds repositories that are thrown away. It holds nothing that is missed.
	scratchDir = "scratch"
)

// Secret returns what [Repo.EditSecret] stored under a name, nil if that is nothing.
func (r *Repo) Secret(name string) ([]byte, error) {
	b, err := pack.ReadFile(r.secretPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Secrets returns the names of all secrets, sorted.
func (r *Repo) Secrets() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(r.dir, keysDir, "*.json"))
	for i, f := range files {
		base := filepath.Base(f)
		files[i] = base[:len(base)-len(".json")]
	}
	return files, err
}

func (r *Repo) secretPath(name string) string { return filepath.Join(r.dir, keysDir, name+".json") }

// EditSecret changes a file that only this device may see: all of what fn does, durably, or nothing. The name
// is letters and digits, the file an indented JSON object with a newline behind it, which gets a member "sum".
func (r *Repo) EditSecret(ctx context.Context, name string, fn func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Join(r.dir, keysDir), 0o700); err != nil {
		return err
	}
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, MemoryDir, "mem", "keys.lock"), r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("change keys: %w", err)
	}
	defer unlock()
	b, err := r.Secret(name)
	if err != nil {
		return err
	}
	if b, err = fn(b); err != nil {
		return err
	}
	return disk.WriteFile(r.secretPath(name), disk.WithSum(b))
}

// A Scratch is a repository next to the store that is deleted when it is closed.
type Scratch struct {
	*gitstore.Repo
	dir    string
	unlock func()
}

// Scratch makes an empty repository. There is one of a name at a time; what a killed process left of it goes.
// The error wraps [ErrLocked] if another process has it for too long.
func (r *Repo) Scratch(ctx context.Context, name string) (*Scratch, error) {
	unlock, err := disk.Lock(ctx, r.scratchLock(name), r.opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	s := &Scratch{dir: filepath.Join(r.dir, scratchDir, name+".git"), unlock: unlock}
	if err = os.RemoveAll(s.dir); err == nil {
		err = gitstore.InitScratch(s.dir)
	}
	if err == nil {
		s.Repo, err = gitstore.Open(s.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a scratch repository: %w", err), s.Close())
	}
	return s, nil
}

func (r *Repo) scratchLock(name string) string {
	return filepath.Join(r.dir, MemoryDir, "mem", "scratch-"+name+".lock")
}

// sweepScratch removes what killed processes left. Who lives holds the lock of its name.
func (r *Repo) sweepScratch() error {
	dirs, err := os.ReadDir(filepath.Join(r.dir, scratchDir))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, d := range dirs {
		name, ok := strings.CutSuffix(d.Name(), ".git")
		if !ok {
			continue
		}
		unlock, free, lerr := disk.TryLock(r.scratchLock(name))
		if err = errors.Join(err, lerr); free {
			err = errors.Join(err, os.RemoveAll(filepath.Join(r.dir, scratchDir, d.Name())))
			unlock()
		}
	}
	return err
}

// Close removes the repository.
func (s *Scratch) Close() error {
	var errs []error
	if s.Repo != nil {
		errs = append(errs, s.Repo.Close())
	}
	errs = append(errs, os.RemoveAll(s.dir))
	s.unlock()
	return errors.Join(errs...)
}
