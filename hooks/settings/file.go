package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/refs/disk"
)

// A SettingsFile is a settings file of Claude Code.
type SettingsFile struct {
	Path  string
	Store string // the memory, which has a backup of the file
}

// A backup is a settings file before mem's hooks were installed.
type backup struct {
	File    string `json:"file"`
	Existed bool   `json:"existed"`
	MadeDir bool   `json:"made_dir"` // its directory was created by Install
	Before  []byte `json:"before"`
	After   string `json:"after"` // SHA-256 of the file after Install
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func (f SettingsFile) backupFile() string {
	return filepath.Join(f.Store, "hooks", sum([]byte(f.Path))[:16]+".json")
}

// ErrSettings reports that the path of the settings is not a regular file: a dangling link, a pipe, a directory.
var ErrSettings = errors.New("no settings file")

// read returns the content of the file and its path with symbolic links resolved, because people link to settings kept
// elsewhere. A dangling link is an error: its target may not exist yet, and a file written in place of the link would
// hide it.
func (f SettingsFile) read() (b []byte, path string, existed bool, err error) {
	path = f.Path
	if real, err := filepath.EvalSymlinks(f.Path); err == nil {
		path = real
	} else if to, err := os.Readlink(f.Path); err == nil {
		return nil, path, false, fmt.Errorf("%s: %w: it is a link to %s, which does not exist", f.Path, ErrSettings, to)
	}
	fi, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, path, false, nil
	case err == nil && !fi.Mode().IsRegular():
		return nil, path, false, fmt.Errorf("%s: %w: it is not a file", f.Path, ErrSettings)
	case err == nil:
		b, err = os.ReadFile(path)
	}
	return b, path, err == nil, err
}

// Installed is [Installed] for the file. Disabled reports whether the file disables all hooks.
func (f SettingsFile) Installed() (found []Found, disabled bool, err error) {
	b, _, _, err := f.read()
	if err != nil {
		return nil, false, err
	}
	found, err = Installed(b)
	return found, Disabled(b), f.name(err)
}

// A Change is the content of a settings file before and after a change. A missing file is empty.
type Change struct {
	Before, After []byte
}

// Changed reports whether the content differs.
func (c Change) Changed() bool { return !bytes.Equal(c.Before, c.After) }

// Install is [Install] for the file. It writes a backup first. With dry it writes nothing.
func (f SettingsFile) Install(p Program, dry bool) (Change, error) {
	b, path, existed, err := f.read()
	if err != nil {
		return Change{}, err
	}
	out, err := Install(b, p)
	if err != nil {
		return Change{}, f.name(err)
	}
	c := Change{b, out}
	if !c.Changed() || dry {
		return c, nil
	}
	k := backup{File: f.Path, Existed: existed, After: sum(out)}
	if k.Before, err = Uninstall(b); err != nil {
		return Change{}, f.name(err)
	}
	if old, ok := f.backup(); ok && existed && old.After == sum(b) {
		k.Before, k.Existed, k.MadeDir = old.Before, old.Existed, old.MadeDir
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		k.MadeDir = true
	}
	if err := f.keep(k); err != nil {
		return Change{}, fmt.Errorf("keep a copy: %w", err)
	}
	return c, write(path, out)
}

// Uninstall removes mem's hooks from the file. If nobody has changed the file since Install, it is restored byte for
// byte; otherwise only the hooks are removed. With dry it writes nothing.
func (f SettingsFile) Uninstall(dry bool) (Change, error) {
	b, path, existed, err := f.read()
	if err != nil || !existed {
		return Change{}, err
	}
	k, ok := f.backup()
	untouched := ok && k.After == sum(b)
	out := k.Before
	if !untouched {
		if out, err = Uninstall(b); err != nil {
			return Change{}, f.name(err)
		}
	}
	c := Change{b, out}
	if dry || !c.Changed() {
		return c, nil
	}
	if untouched && !k.Existed {
		err = os.Remove(path)
		if k.MadeDir {
			os.Remove(filepath.Dir(path)) // it fails if the directory has other files
		}
	} else {
		err = write(path, out)
	}
	if err != nil {
		return Change{}, err
	}
	if err := os.Remove(f.backupFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	return c, nil
}

// name adds the path to an error.
func (f SettingsFile) name(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", f.Path, err)
}

func (f SettingsFile) backup() (k backup, ok bool) {
	b, err := os.ReadFile(f.backupFile())
	return k, err == nil && json.Unmarshal(b, &k) == nil && k.File == f.Path
}

// Others reports whether hooks of the memory are, or may be, installed in another settings file.
func (f SettingsFile) Others() (bool, error) {
	dir, own := filepath.Split(f.backupFile())
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return slices.ContainsFunc(list, func(e fs.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".json") && e.Name() != own && f.hasHooks(filepath.Join(dir, e.Name()))
	}), err
}

// hasHooks reports whether the settings file of a backup has hooks of mem, or cannot be read. It may have been deleted
// with its project.
func (f SettingsFile) hasHooks(backupFile string) bool {
	var k backup
	b, err := os.ReadFile(backupFile)
	if err != nil || json.Unmarshal(b, &k) != nil {
		return true
	}
	found, _, err := SettingsFile{Path: k.File, Store: f.Store}.Installed()
	return err != nil || len(found) > 0
}

func (f SettingsFile) keep(k backup) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return write(f.backupFile(), append(b, '\n'))
}

// write is [disk.WriteFile] for a file whose directory may not exist.
func write(file string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return disk.WriteFile(file, b)
}
