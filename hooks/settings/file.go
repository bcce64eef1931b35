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
)

// A SettingsFile is a settings file of Claude Code that mem's hooks go into and come out of.
type SettingsFile struct {
	Path  string
	Store string // the memory, which keeps what the file was before
}

// A backup is what a settings file was before mem's hooks came into it.
type backup struct {
	File    string `json:"file"`
	Existed bool   `json:"existed"`
	MadeDir bool   `json:"made_dir"` // the directory was made for it
	Before  []byte `json:"before"`
	After   string `json:"after"` // SHA-256 of what was written
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func (f SettingsFile) backupFile() string {
	return filepath.Join(f.Store, "hooks", sum([]byte(f.Path))[:16]+".json")
}

// ErrSettings says that in the place of settings there is something that holds none: a link to nothing, a pipe,
// a directory.
var ErrSettings = errors.New("no settings file")

// read returns the file, and the path behind symbolic links: people keep their settings elsewhere and link
// them. A link to nothing is an error: what it leads to may only not be there yet, and a file in its place
// would hide it.
func (f SettingsFile) read() (b []byte, path string, existed bool, err error) {
	path = f.Path
	if real, err := filepath.EvalSymlinks(f.Path); err == nil {
		path = real
	} else if to, err := os.Readlink(f.Path); err == nil {
		return nil, path, false, fmt.Errorf("%s: %w: it is a link to %s, where nothing is", f.Path, ErrSettings, to)
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

// Installed returns the hooks of mem in the file, and whether the file switches all hooks off.
func (f SettingsFile) Installed() (found []Found, disabled bool, err error) {
	b, _, _, err := f.read()
	if err != nil {
		return nil, false, err
	}
	found, err = Installed(b)
	return found, Disabled(b), f.name(err)
}

// Install puts mem's hooks into the file and reports whether that changed it. What it was before is kept first. With
// dry nothing is written.
func (f SettingsFile) Install(p Program, dry bool) (changed bool, err error) {
	b, path, existed, err := f.read()
	if err != nil {
		return false, err
	}
	out, err := Install(b, p)
	if err != nil || bytes.Equal(out, b) || dry {
		return err == nil && !bytes.Equal(out, b), f.name(err)
	}
	k := backup{File: f.Path, Existed: existed, After: sum(out)}
	if k.Before, err = Uninstall(b); err != nil {
		return false, f.name(err)
	}
	if old, ok := f.backup(); ok && existed && old.After == sum(b) {
		k.Before, k.Existed, k.MadeDir = old.Before, old.Existed, old.MadeDir
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		k.MadeDir = true
	}
	if err := f.keep(k); err != nil {
		return false, fmt.Errorf("keep a copy: %w", err)
	}
	return true, WriteFile(path, out)
}

// Uninstall takes mem's hooks out of the file and reports whether that changed it. A file that nobody has changed since
// is as it was before, byte for byte; in another one, what others wrote stays as they wrote it.
func (f SettingsFile) Uninstall(dry bool) (changed bool, err error) {
	b, path, existed, err := f.read()
	if err != nil || !existed {
		return false, err
	}
	k, ok := f.backup()
	untouched := ok && k.After == sum(b)
	out := k.Before
	if !untouched {
		if out, err = Uninstall(b); err != nil {
			return false, f.name(err)
		}
	}
	gone := untouched && !k.Existed
	if dry || bytes.Equal(out, b) && !gone {
		return gone || !bytes.Equal(out, b), nil
	}
	if gone {
		err = os.Remove(path)
		if k.MadeDir {
			os.Remove(filepath.Dir(path)) // it stays if there is something else in it by now
		}
	} else {
		err = WriteFile(path, out)
	}
	if err != nil {
		return false, err
	}
	if err := os.Remove(f.backupFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	return true, nil
}

// name says which file an error is about.
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

func (f SettingsFile) keep(k backup) error {
	b, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return WriteFile(f.backupFile(), append(b, '\n'))
}

// Unnamed begins the name of a file that is written before it has its own.
const Unnamed = ".mem-"

// WriteFile makes file with the content b, durable and whole or not at all. Its mode is 0600; that of one that
// is there stays.
func WriteFile(file string, b []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	mode := os.FileMode(0o600)
	if fi, err := os.Stat(file); err == nil {
		mode = fi.Mode().Perm()
	}
	t, err := os.CreateTemp(dir, Unnamed+"*")
	if err != nil {
		return err
	}
	_, err = t.Write(b)
	err = errors.Join(err, t.Chmod(mode), t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return SyncDir(dir)
}
