package hooks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/capture"
)

// A stamp is what a file looked like before it was captured: if it still looks so, nothing has to be read. It
// only saves work between two hooks; SessionStart compares with what the memory holds.
type stamp struct {
	size     int64
	modified int64
}

func stampOf(path string) (stamp, bool) {
	fi, err := os.Lstat(path)
	if err != nil || !fi.Mode().IsRegular() {
		return stamp{}, false
	}
	return stamp{fi.Size(), fi.ModTime().UnixNano()}, true
}

// noProject stands for the project of a file that holds no session.
const noProject = "none"

func (w *World) seenFile(path string) string {
	id := capture.Source{Path: path}.SessionID()
	if checkSession(id) != nil {
		return ""
	}
	return filepath.Join(w.Store, "cache", "hooks", id+".seen")
}

// remember notes that a file was captured as it looked at s. A note that cannot be written costs a read later.
func (w *World) remember(path string, s stamp, project string) {
	file := w.seenFile(path)
	if file == "" || w.removed() || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = overwrite(file, fmt.Appendf(nil, "%d %d %s %s\n", s.size, s.modified, project, path)) // as above
}

// overwrite writes a small file whose readers know a torn one. It is not emptied first: some file systems write
// what is in a file that was empty to the disk when it is closed, and a hook would wait for that.
func overwrite(file string, b []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Truncate(int64(len(b)))
	}
	return errors.Join(err, f.Close())
}

// remembered returns the project that a file was captured into, if it still looks as it did then.
func (w *World) remembered(path string) (project string, ok bool) {
	file := w.seenFile(path)
	if file == "" {
		return "", false
	}
	b, err := os.ReadFile(file)
	now, there := stampOf(path)
	if err != nil || !there {
		return "", false
	}
	rest, ok := strings.CutPrefix(string(b), fmt.Sprintf("%d %d ", now.size, now.modified))
	if !ok {
		return "", false
	}
	project, of, ok := strings.Cut(strings.TrimSuffix(rest, "\n"), " ")
	return project, ok && of == path && strings.HasSuffix(rest, "\n")
}

func (w *World) unchanged(path string) bool {
	_, ok := w.remembered(path)
	return ok
}

// forget makes the next look at a file read it.
func (w *World) forget(path string) {
	if file := w.seenFile(path); file != "" {
		os.Remove(file) // if it stays, the file has not changed since
	}
}
