package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/memvcs/mem/objects/pack"
)

// configText contains the settings that make git safe in our repository: no automatic garbage collection, no deltas of
// compressed data, fsync for all writes, and private files.
const configText = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = true
	sharedRepository = 0600
	fsync = all
[gc]
	auto = 0
[pack]
	window = 0
`

const headText = "ref: refs/heads/main\n"

// tempDir is the directory of temporary files of branches, on the same file system as the repository.
const tempDir = "mem"

// Init creates a bare git repository in dir that only its owner can read; HEAD names refs/heads/main. It keeps existing
// files, so it may be interrupted and repeated.
func Init(dir string) error {
	if err := initDir(dir); err != nil {
		return fmt.Errorf("create repository %s: %w", dir, err)
	}
	return nil
}

func initDir(dir string) error {
	if err := makeDirs(dir); err != nil {
		return err
	}
	for _, sub := range []string{"objects", "objects/info", "objects/pack", "refs", "refs/heads", "refs/tags", tempDir} {
		if _, err := makeDir(filepath.Join(dir, filepath.FromSlash(sub))); err != nil {
			return err
		}
	}
	for _, sub := range []string{"objects", "refs", tempDir} { // the sync of later files also covers these
		if err := pack.SyncDir(filepath.Join(dir, sub)); err != nil {
			return err
		}
	}
	for _, f := range [][2]string{{configFile, configText}, {headFile, headText}} { // without HEAD a directory is no repository
		if _, err := os.Lstat(filepath.Join(dir, f[0])); !errors.Is(err, fs.ErrNotExist) {
			if err != nil {
				return err
			}
			continue
		}
		if err := replaceFile(dir, f[0], f[1]); err != nil {
			return err
		}
	}
	return checkRepository(dir)
}

// makeDirs creates a directory and its parents, private and durable.
func makeDirs(dir string) error {
	made, err := makeDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := makeDirs(filepath.Dir(dir)); err != nil {
			return err
		}
		made, err = makeDir(dir)
	}
	if made {
		return pack.SyncDir(filepath.Dir(dir))
	}
	return err
}

// makeDir creates a private directory, and reports false if it exists already.
func makeDir(dir string) (made bool, err error) {
	if err = os.Mkdir(dir, 0o700); !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	}
	return false, err
}

// writeTemp writes a durable temporary file and returns its path.
func writeTemp(dir, name, content string) (string, error) {
	f, err := os.CreateTemp(dir, name+".tmp*")
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// SetHEAD sets HEAD to the branch ref, which need not exist. It only affects what "git log" and "git clone" show.
func (r *Repo) SetHEAD(ref string) error {
	err := CheckRef(ref)
	content := "ref: " + ref + "\n"
	if err == nil {
		if b, err := pack.ReadFile(filepath.Join(r.dir, headFile)); err == nil && string(b) == content {
			return nil
		}
		err = replaceFile(r.dir, headFile, content)
	}
	if err != nil {
		return fmt.Errorf("set HEAD: %w", err)
	}
	return nil
}

// replaceFile atomically and durably replaces a file of the repository in dir.
func replaceFile(dir, name, content string) error {
	if err := makeDirs(filepath.Join(dir, tempDir)); err != nil {
		return err
	}
	tmp, err := writeTemp(filepath.Join(dir, tempDir), name, content)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return pack.SyncDir(dir)
}

// checkConfig returns an error for settings with which this package cannot read a repository.
func checkConfig(path string) error {
	b, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // git uses defaults, and so do we
	}
	if err != nil {
		return err
	}
	c := config.New()
	if err := config.NewDecoder(bytes.NewReader(b)).Decode(c); err != nil {
		return fmt.Errorf("config: %w: %w", err, ErrNoRepository)
	}
	for key, refused := range map[string]func(value string) bool{
		"core.bare":                    func(v string) bool { return slices.Contains([]string{"false", "no", "off", "0"}, v) },
		"core.repositoryformatversion": func(v string) bool { return v != "0" && v != "1" },
		"extensions.objectformat":      func(v string) bool { return v != "sha1" },
		"extensions.refstorage":        func(v string) bool { return v != "files" },
		"extensions.partialclone":      func(string) bool { return true },
	} {
		section, name, _ := strings.Cut(key, ".")
		for _, o := range c.Section(section).Options {
			if o.IsKey(name) && refused(strings.ToLower(o.Value)) {
				return fmt.Errorf("config: %s = %s: %w", key, o.Value, ErrNoRepository)
			}
		}
	}
	return nil
}
