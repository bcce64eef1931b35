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

// A Hold publishes a note to other processes while its process runs: the maximum cost of a running request. A kernel
// lock on its file shows whether the process runs, so a hold also ends when the process is killed.
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

// Hold calls decide with the notes of all running processes and publishes the note that decide returns. It returns an
// error of decide unchanged. Only one decide runs at a time on a machine. The caller must release the hold.
func (r *Repo) Hold(ctx context.Context, decide func(others [][]byte) ([]byte, error)) (*Hold, error) {
	unlock, err := r.lockHolds(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	others, err := r.runningNotes()
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

// Release calls settle, which stores the result, and ends the hold. No other decide runs in between, unless the lock
// times out: then settle is called without it.
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

// removeHold deletes a hold, the note first: a hold without a note is ignored, but a note without a hold would never
// be deleted. A release without the lock and a sweep may delete the same hold at the same time.
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
		return nil, fmt.Errorf("lock the costs of requests: %w", err)
	}
	return unlock, nil
}

// runningNotes returns the notes of running processes and deletes those of ended ones.
func (r *Repo) runningNotes() ([][]byte, error) {
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
		unlock, ended, err := disk.TryLock(file)
		if err != nil {
			return nil, err
		}
		if ended {
			unlock()
			if err := removeHold(file); err != nil {
				return nil, err
			}
			continue
		}
		note, err := pack.ReadFile(file + noteSuffix)
		if errors.Is(err, os.ErrNotExist) {
			continue // released without the lock, after settle
		}
		if err != nil {
			return nil, err
		}
		notes = append(notes, note)
	}
	return notes, nil
}
