package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Drop deletes the objects from the packs of dir for which keep returns false. A pack with such an object is replaced
// by a new one without it, which is durable before the old one is removed. Superseded packs are removed at once. Drop
// can be interrupted, without loss of a kept object, and repeated.
//
// Drop skips no pack: if one with an object to delete is unreadable, has deltas or a .keep file, the error names it.
// The caller must prevent others from adding packs with objects unknown to keep.
func Drop(dir, mark string, keep func(ID) bool) error {
	if err := drop(dir, mark, keep); err != nil {
		return fmt.Errorf("drop objects: %w", err)
	}
	return nil
}

func drop(dir, mark string, keep func(ID) bool) error {
	if err := Sweep(dir, mark); err != nil {
		return err
	}
	if err := Expire(dir, 0); err != nil {
		return err
	}
	bases, err := listPacks(dir)
	if err != nil {
		return err
	}
	var old []string
	for _, base := range bases {
		some, err := hasUnwanted(base, keep)
		if err != nil {
			return fmt.Errorf("pack %s: %w", filepath.Base(base), err)
		}
		if some {
			old = append(old, base)
		}
	}
	if len(old) == 0 {
		return nil
	}
	_, err = replacePacks(dir, mark, old, keep, removePack)
	return err
}

// hasUnwanted reports whether a pack contains objects for which keep returns false.
func hasUnwanted(base string, keep func(ID) bool) (some bool, err error) {
	x, err := openIndex(base + ".idx")
	if err != nil {
		return false, err
	}
	if !slices.ContainsFunc(x.ids(), func(id ID) bool { return !keep(id) }) {
		return false, nil
	}
	kept, err := isKept(base)
	if err == nil && kept {
		err = errors.New("it must be kept: it has a .keep or .promisor file")
	}
	return true, err
}

// DropLoose deletes the loose objects for which keep returns false. dir is the objects directory of a git repository.
func DropLoose(dir string, keep func(ID) bool) error {
	fans, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, fan := range fans {
		if !fan.IsDir() || len(fan.Name()) != 2 {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, fan.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range files {
			id, err := ParseID(fan.Name() + f.Name())
			if err != nil || keep(id) {
				continue // not an object, or a kept one
			}
			if err := removeFile(filepath.Join(dir, fan.Name(), f.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
