package app

import (
	"cmp"
	"io"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// OutName returns "-" for /dev/stdout and every other name unchanged.
func OutName(name string) string {
	if name == "/dev/stdout" {
		return "-"
	}
	return name
}

// OutPath returns the absolute path of an output; a name with a separator at the end is a directory. A path inside
// the memory is a usage error.
func OutPath(e *Env, name string) (string, error) {
	path := e.Path(name)
	if err := CheckOutside(e, path); err != nil {
		return "", err
	}
	if os.IsPathSeparator(name[len(name)-1]) {
		path += string(filepath.Separator)
	}
	return path, nil
}

// CheckOutside returns a usage error for a path inside the memory, also through links.
func CheckOutside(e *Env, path string) error {
	memory, err := e.MemoryDir()
	if err != nil {
		return err
	}
	for _, at := range [][2]string{{memory, path}, {unlinked(memory), unlinked(path)}} {
		if rel, err := filepath.Rel(at[0], at[1]); err == nil && filepath.IsLocal(rel) {
			return WithHint(Usagef("%s is inside the memory", path), "name another file or directory with -o")
		}
	}
	return nil
}

// unlinked resolves the links in the existing part of a path.
func unlinked(path string) string {
	found, err := filepath.EvalSymlinks(path)
	if dir := filepath.Dir(path); err != nil && dir != path {
		return filepath.Join(unlinked(dir), filepath.Base(path))
	}
	return cmp.Or(found, path)
}

// Stdout returns standard output for content: sanitised for a terminal, unchanged for a file or pipe.
func Stdout(e *Env) io.Writer {
	if e.Term.Stdout {
		return &term.SafeWriter{W: e.Out}
	}
	return e.Out
}

// NoteCreated prints notes of directories that were created outside the working directory.
func NoteCreated(e *Env, dirs []string) {
	for _, dir := range dirs {
		if rel, err := filepath.Rel(unlinked(e.Dir), unlinked(dir)); err != nil || !filepath.IsLocal(rel) {
			e.Note("created directory %s", e.Safe(dir))
		}
	}
}
