package gitstore

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/memvcs/mem/objects/pack"
)

// VerifyRefs reads all branches strictly, calls bad for damaged ones and returns the others, sorted. bad gets the file
// and the name of the branch; the name is empty if damage hides it.
func (r *Repo) VerifyRefs(bad func(file, name string, err error)) ([]Ref, error) {
	all, err := r.verifyLooseRefs(bad)
	if err != nil {
		return nil, err
	}
	b, err := pack.ReadFile(filepath.Join(r.dir, packedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		bad(packedFile, "", err)
	}
	for line := range strings.Lines(string(b)) {
		if refs, err := parsePacked(line, branches); err != nil {
			bad(packedFile, "", err)
		} else {
			all = append(all, refs...)
		}
	}
	slices.SortStableFunc(all, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Ref) bool { return a.Name == b.Name }), nil
}

// RemoveDamaged removes a file that [Repo.VerifyRefs] reports. Of packed-refs it removes only the malformed lines, in one
// step, so that a killed process loses no branch.
func (r *Repo) RemoveDamaged(file string) error {
	if file != packedFile {
		err := os.Remove(r.refPath(file))
		if isAbsent(err) {
			return nil
		}
		return err
	}
	b, err := pack.ReadFile(filepath.Join(r.dir, packedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil && !errors.Is(err, pack.ErrNotFile) { // a link or a pipe is replaced
		return err
	}
	return replaceFile(r.dir, packedFile, packedWithout(string(b), func(line string) bool {
		_, err := parsePacked(line, branches)
		return err != nil
	}))
}

const packedFile = "packed-refs"

func (r *Repo) verifyLooseRefs(bad func(file, name string, err error)) (refs []Ref, err error) {
	err = r.walkLooseRefs(branches, func(name string) error {
		id, err := strictRef(r.refPath(name))
		if isAbsent(err) {
			return nil // git packed it meanwhile
		}
		if err == nil {
			err = CheckRef(name)
		}
		if err != nil {
			bad(name, name, err)
			return nil
		}
		refs = append(refs, Ref{name, id})
		return nil
	})
	return refs, err
}

// strictRef reads the file of a branch. Anything but 40 lower-case digits and a newline is damage.
func strictRef(path string) (pack.ID, error) {
	b, err := pack.ReadFile(path)
	if err != nil {
		return pack.ID{}, err
	}
	id, err := pack.ParseID(strings.TrimSuffix(string(b), "\n"))
	if err != nil || id.IsZero() || string(b) != id.String()+"\n" {
		return pack.ID{}, fmt.Errorf("%.60q: %w", b, ErrRef)
	}
	return id, nil
}

// VerifyLoose reads every loose object and calls bad for damaged ones. Only other programs write loose objects.
func (r *Repo) VerifyLoose(bad func(file string, err error)) error {
	dirs, err := os.ReadDir(filepath.Join(r.dir, "objects"))
	if err != nil {
		return err
	}
	for _, d := range dirs {
		if _, err := hex.DecodeString(d.Name()); err != nil || len(d.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(r.dir, "objects", d.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // git packed its objects
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			id, err := pack.ParseID(d.Name() + f.Name())
			if err != nil {
				continue // a temporary file
			}
			if _, _, err := r.loose(id); err != nil && !errors.Is(err, pack.ErrNotFound) {
				bad(filepath.ToSlash(filepath.Join("objects", d.Name(), f.Name())), err)
			}
		}
	}
	return nil
}

// VerifyFiles checks HEAD, which must name one of the branches heads, and git's settings in dir. The repository need
// not be one that can be opened.
func VerifyFiles(dir string, heads []string, bad func(file string, err error)) error {
	b, err := pack.ReadFile(filepath.Join(dir, headFile))
	if err != nil {
		bad(headFile, err)
	} else if !slices.ContainsFunc(heads, func(h string) bool { return string(b) == "ref: "+h+"\n" }) {
		bad(headFile, fmt.Errorf("%.120q: %w", b, pack.ErrCorrupt))
	}
	b, err = pack.ReadFile(filepath.Join(dir, configFile))
	if err == nil {
		err = verifyConfig(string(b))
	}
	if err != nil {
		bad(configFile, err)
	}
	return nil
}

const (
	headFile   = "HEAD"
	configFile = "config"
)

// verifyConfig checks that all settings of mem have the values that it writes. Other settings are allowed.
func verifyConfig(text string) error {
	got, err := parseConfig(text)
	if err != nil {
		return err
	}
	want, err := parseConfig(configText)
	if err != nil {
		return err
	}
	for _, s := range want.Sections {
		for _, o := range s.Options {
			if v := got.Section(s.Name).Option(o.Key); v != o.Value {
				return fmt.Errorf("%s.%s is %q, want %q: %w", s.Name, o.Key, v, o.Value, pack.ErrCorrupt)
			}
		}
	}
	return nil
}

func parseConfig(text string) (*config.Config, error) {
	c := config.New()
	if err := config.NewDecoder(strings.NewReader(text)).Decode(c); err != nil {
		return nil, fmt.Errorf("%w: %w", err, pack.ErrCorrupt)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, fmt.Errorf("the last line is cut off: %w", pack.ErrCorrupt)
	}
	return c, nil
}

// RepairFiles rewrites HEAD, with the first of heads, and the settings, without those of the user, if [VerifyFiles] finds
// damage. It keeps the damaged files in the directory aside.
func RepairFiles(dir string, heads []string, aside string) (kept map[string]string, err error) {
	var bad []string
	kept = map[string]string{}
	if err := VerifyFiles(dir, heads, func(file string, _ error) { bad = append(bad, file) }); err != nil {
		return nil, err
	}
	for _, file := range bad {
		path := filepath.Join(dir, file)
		content := "ref: " + heads[0] + "\n"
		if file == configFile {
			content = configText
		}
		if kept[file], err = pack.SetAside(path, aside); err != nil {
			return nil, err
		}
		if err := replaceFile(dir, file, content); err != nil {
			return kept, err
		}
	}
	return kept, initDir(dir)
}
