package hooks

import (
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/memvcs/mem/refs/disk"
)

// writeRequest writes v as JSON for a worker, atomically but not durably. The file is in the cache, which may be
// deleted at any time.
func writeRequest(file string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err = replaceFile(file, b); errors.Is(err, fs.ErrNotExist) {
		err = replaceFile(file, b)
	}
	return withoutPath(err)
}

func replaceFile(file string, b []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(dir, disk.Temporary+"*")
	if err != nil {
		return err
	}
	_, err = t.Write(b)
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), file)
	}
	if err != nil {
		return errors.Join(err, remove(t.Name()))
	}
	return nil
}

// A request is a file that a hook wrote for a worker.
type request struct {
	file string
	text []byte
	info os.FileInfo
}

// readRequest reads a request. The error wraps [fs.ErrNotExist] if another worker was faster.
func readRequest(file string) (x request, err error) {
	x.file = file
	if x.info, err = os.Lstat(file); err == nil {
		x.text, err = os.ReadFile(file)
	}
	return x, err
}

// done removes a request that was carried out, unless a newer one has replaced it.
func (x request) done() error {
	now, err := os.Lstat(x.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil &&
		!(os.SameFile(now, x.info) && now.ModTime().Equal(x.info.ModTime())) {
		return nil
	}
	return errors.Join(err, remove(x.file))
}

// requests yields the requests in a directory, one file for each session. It removes files that cannot be requests.
func (w *World) requests(dir string) iter.Seq[request] {
	return func(yield func(request) bool) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // no requests
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if fi, err := e.Info(); err != nil || strings.HasPrefix(e.Name(), disk.Temporary) &&
				w.Now().Sub(fi.ModTime()) < time.Hour {
				continue // gone or being written
			}
			x, err := readRequest(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || checkSession(e.Name()) != nil {
				_ = remove(file) // if it stays, the next worker removes it
				continue
			}
			if !yield(x) {
				return
			}
		}
	}
}
