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

	"github.com/memvcs/mem/hooks/settings"
)

// leaveWord leaves v for a worker: whole or not at all, for one may be looking, and not durable. The directory
// lies in the cache, which may be dropped at any time.
func leaveWord(file string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err = putWord(file, b); errors.Is(err, fs.ErrNotExist) {
		err = putWord(file, b)
	}
	return cause(err)
}

func putWord(file string, b []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	t, err := os.CreateTemp(dir, settings.Unnamed+"*")
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

// A word is a file that hooks have left for a worker, as it was read.
type word struct {
	file string
	text []byte
	info os.FileInfo
}

// readWord reads the word in a file. The error wraps [fs.ErrNotExist] if another worker was faster.
func readWord(file string) (x word, err error) {
	x.file = file
	if x.info, err = os.Lstat(file); err == nil {
		x.text, err = os.ReadFile(file)
	}
	return x, err
}

// done removes a word that was heeded, unless another one was left in its place since: whoever left that waits for it.
func (x word) done() error {
	now, err := os.Lstat(x.file)
	if errors.Is(err, fs.ErrNotExist) || err == nil &&
		!(os.SameFile(now, x.info) && now.ModTime().Equal(x.info.ModTime())) {
		return nil
	}
	return errors.Join(err, remove(x.file))
}

// words yields what hooks have left in a directory for a worker, a file for each session. What cannot be one is
// removed.
func (w *World) words(dir string) iter.Seq[word] {
	return func(yield func(word) bool) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return // there is none
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if fi, err := e.Info(); err != nil || strings.HasPrefix(e.Name(), settings.Unnamed) &&
				w.Now().Sub(fi.ModTime()) < time.Hour {
				continue // it is gone, or being written
			}
			x, err := readWord(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || checkSession(e.Name()) != nil {
				_ = remove(file) // it is no use to anybody
				continue
			}
			if !yield(x) {
				return
			}
		}
	}
}

// remove removes a file; it is fine if another process was faster.
func remove(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
