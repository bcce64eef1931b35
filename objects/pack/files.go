package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// SyncDir makes the names in a directory durable. On Windows they always are.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkMark refuses marks that would be ambiguous in file names.
func checkMark(mark string) error {
	ok := mark != "" && len(mark) <= 100
	for _, c := range []byte(mark) {
		ok = ok && (c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z')
	}
	if !ok {
		return fmt.Errorf("mark %q: want letters, digits, - and _", mark)
	}
	return nil
}

// The prefixes of temporary files, before the mark, "_" and a number.
const (
	packTemp = "tmp_pack_"
	idxTemp  = "tmp_idx_"
)

func packPrefix(mark string) string { return packTemp + mark + "_" }
func idxPrefix(mark string) string  { return idxTemp + mark + "_" }

// Sweep removes the temporary files of killed writers with the given mark from dir, and nothing else. No such writer
// may be running: the caller holds their lock.
func Sweep(dir, mark string) error {
	if err := checkMark(mark); err != nil {
		return err
	}
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		if isTemp(name, packPrefix(mark)) || isTemp(name, idxPrefix(mark)) {
			errs = append(errs, removeFile(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// SweepIndexes removes indexes and other files without a pack: a killed process may have renamed only the index, or
// removed only the pack. The caller must prevent others from adding or removing packs.
func SweepIndexes(dir string) error {
	names, err := readNames(dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	var errs []error
	for _, name := range names {
		base := strings.TrimSuffix(name, filepath.Ext(name))
		_, pack := slices.BinarySearch(names, base+".pack")
		if strings.HasPrefix(name, "pack-") && slices.Contains(companionExts, name[len(base):]) && !pack {
			errs = append(errs, removeFile(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}

// companionExts contains the extensions of the files that belong to a pack.
var companionExts = []string{".idx", ".rev", ".bitmap", ".mtimes", superseded}

// Marks returns the marks of all temporary files in dir, of running and killed writers.
func Marks(dir string) ([]string, error) {
	names, err := readNames(dir)
	if err != nil {
		return nil, err
	}
	var marks []string
	for _, name := range names {
		for _, prefix := range []string{packTemp, idxTemp} {
			rest, _ := strings.CutPrefix(name, prefix)
			if at := strings.LastIndexByte(rest, '_'); at > 0 && isTemp(name, prefix+rest[:at+1]) {
				marks = append(marks, rest[:at])
			}
		}
	}
	slices.Sort(marks)
	return slices.Compact(marks), nil
}

// isTemp reports whether name is prefix and a number, so that mark "a" does not match "a_b".
func isTemp(name, prefix string) bool {
	n, ok := strings.CutPrefix(name, prefix)
	return ok && n != "" && strings.Trim(n, "0123456789") == ""
}

// readNames lists a directory, unsorted.
func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(-1)
	return names, errors.Join(err, f.Close())
}

// removeFile removes a file if it exists.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
