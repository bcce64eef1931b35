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
	// keysDir contains the keys of encrypted remotes. Like device.json it is never pushed.
	keysDir = "keys"
	// scratchDir contains temporary repositories. It may be deleted.
	scratchDir = "scratch"
)

// Secret returns the content of a file of [Repo.EditSecret], nil if there is none.
func (r *Repo) Secret(name string) ([]byte, error) {
	b, err := pack.ReadFile(r.secretPath(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return b, err
}

// Secrets returns the names of all secrets, sorted.
func (r *Repo) Secrets() ([]string, error) {
	files, err := disk.Match(filepath.Join(r.dir, keysDir), "*.json")
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".json")
	}
	return files, err
}

func (r *Repo) secretPath(name string) string { return filepath.Join(r.dir, keysDir, name+".json") }

// EditSecret atomically and durably replaces a file that never leaves this device by the content that fn returns: an
// indented JSON object and a newline, to which EditSecret adds a member "sum". name consists of letters and digits.
func (r *Repo) EditSecret(ctx context.Context, name string, fn func([]byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Join(r.dir, keysDir), 0o700); err != nil {
		return err
	}
	unlock, err := r.lock(ctx, "keys.lock", "change keys")
	if err != nil {
		return err
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

// Scratch creates an empty repository. Only one process can use a name at a time; the leftovers of a killed process are
// removed. The error wraps [ErrLocked] if another process uses it for longer than the timeout.
func (r *Repo) Scratch(ctx context.Context, name string) (*Scratch, error) {
	unlock, err := disk.Lock(ctx, r.scratchLock(name), r.opts.LockTimeout)
	if err != nil {
		return nil, err
	}
	s := &Scratch{dir: filepath.Join(r.dir, scratchDir, name+".git"), unlock: unlock}
	if err = os.RemoveAll(s.dir); err == nil {
		err = gitstore.Init(s.dir)
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

// sweepScratch removes the scratch repositories of killed processes. A running process keeps the lock of its name.
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
