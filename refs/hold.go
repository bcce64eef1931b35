package refs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// A Hold is a note that other processes can read as long as the one that made it lives: what a request under way may
// still cost. The kernel's lock on its file says whether that process lives, so a hold ends with it, however it ends.
type Hold struct {
	r      *Repo
	file   string
	unlock func()
}

const (
	holdsDir   = "holds"
	holdPrefix = "hold-"
	noteSuffix = ".json"
)

// Hold shows the notes of all others that live to decide and keeps the note that it returns; an error of decide is
// returned as it is. No two calls decide at once on one machine. The note must be released.
func (r *Repo) Hold(ctx context.Context, decide func(others [][]byte) ([]byte, error)) (*Hold, error) {
	unlock, err := r.lockHolds(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	others, err := r.holds()
	if err != nil {
		return nil, err
	}
	note, err := decide(others)
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Join(r.dir, holdsDir), holdPrefix+"*")
	if err != nil {
		return nil, err
	}
	h := &Hold{r: r, file: f.Name()}
	if err := f.Close(); err != nil {
		return nil, errors.Join(err, h.remove())
	}
	var ok bool
	if h.unlock, ok, err = disk.TryLock(h.file); err == nil && !ok {
		err = fmt.Errorf("%s: %w", h.file, ErrLocked)
	}
	if err == nil {
		err = os.WriteFile(h.file+noteSuffix, note, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, h.remove())
	}
	return h, nil
}

// Release ends the hold after settle has written down what came of it: nobody decides in between. If the lock cannot
// be had in time, settle is called nevertheless.
func (h *Hold) Release(ctx context.Context, settle func() error) error {
	unlock, err := h.r.lockHolds(ctx)
	if err == nil {
		defer unlock()
	}
	return errors.Join(settle(), h.remove())
}

func (h *Hold) remove() error {
	if h.unlock != nil {
		h.unlock()
	}
	return removeHold(h.file)
}

// removeHold deletes a hold, the note first: a hold without its note says nothing, a note alone would stay for
// ever. Who releases it without the lock and who sweeps may both be at it.
func removeHold(file string) error {
	for _, name := range []string{file + noteSuffix, file} {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (r *Repo) lockHolds(ctx context.Context) (func(), error) {
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, holdsDir, "lock"), r.opts.LockTimeout)
	if err != nil {
		return nil, fmt.Errorf("lock the cost of requests: %w", err)
	}
	return unlock, nil
}

// holds returns the notes of processes that live and sweeps away those of others.
func (r *Repo) holds() ([][]byte, error) {
	dir := filepath.Join(r.dir, holdsDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var notes [][]byte
	for _, e := range entries {
		name := e.Name()
		if !strings.HasPrefix(name, holdPrefix) || strings.HasSuffix(name, noteSuffix) {
			continue
		}
		file := filepath.Join(dir, name)
		unlock, dead, err := disk.TryLock(file)
		if err != nil {
			return nil, err
		}
		if dead {
			unlock()
			if err := removeHold(file); err != nil {
				return nil, err
			}
			continue
		}
		note, err := pack.ReadFile(file + noteSuffix)
		if errors.Is(err, os.ErrNotExist) {
			continue // released without the lock, after it was settled
		}
		if err != nil {
			return nil, err
		}
		notes = append(notes, note)
	}
	return notes, nil
}
