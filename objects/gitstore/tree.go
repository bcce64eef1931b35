package gitstore

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/objects/pack"
)

// A TreeEntry is a file or a directory of a tree. Files have the mode 100644; there is no other.
type TreeEntry struct {
	Name string
	Tree bool // a directory
	ID   pack.ID
}

// ErrTree means that bytes are not a tree that this package writes.
var ErrTree = errors.New("malformed tree")

const (
	fileMode = "100644 "
	treeMode = "40000 "
)

// EncodeTree returns the content of a tree. The entries may be in any order; es is not changed. It refuses names that
// [DecodeTree] would refuse.
func EncodeTree(es []TreeEntry) ([]byte, error) {
	sorted := slices.Clone(es)
	slices.SortFunc(sorted, compareEntries)
	size := 0
	for _, e := range es {
		size += len(fileMode) + len(e.Name) + 1 + len(e.ID)
	}
	b := make([]byte, 0, size)
	for i, e := range sorted {
		if err := checkEntry(sorted[:i], e); err != nil {
			return nil, err
		}
		mode := fileMode
		if e.Tree {
			mode = treeMode
		}
		b = append(append(append(b, mode...), e.Name...), 0)
		b = append(b, e.ID[:]...)
	}
	return b, nil
}

// DecodeTree decodes a tree. The error wraps [ErrTree] for everything that EncodeTree does not write: other modes;
// names that are empty, ".", "..", ".git" in any case, or contain "/" or NUL; duplicate names; entries out of git's
// order.
func DecodeTree(b []byte) ([]TreeEntry, error) {
	var es []TreeEntry
	for len(b) > 0 {
		var e TreeEntry
		rest, ok := bytes.CutPrefix(b, []byte(fileMode))
		if !ok {
			if rest, e.Tree = bytes.CutPrefix(b, []byte(treeMode)); !e.Tree {
				return nil, fmt.Errorf("mode of entry %d: %.8q: %w", len(es)+1, b, ErrTree)
			}
		}
		end := bytes.IndexByte(rest, 0)
		if end < 0 || len(rest)-end-1 < len(e.ID) {
			return nil, fmt.Errorf("entry %d is cut off: %w", len(es)+1, ErrTree)
		}
		e.Name = string(rest[:end])
		e.ID = pack.ID(rest[end+1:])
		if err := checkEntry(es, e); err != nil {
			return nil, err
		}
		es = append(es, e)
		b = rest[end+1+len(e.ID):]
	}
	return es, nil
}

// checkEntry checks an entry after those in before.
func checkEntry(before []TreeEntry, e TreeEntry) error {
	switch {
	case e.Name == "", e.Name == ".", e.Name == "..", strings.EqualFold(e.Name, ".git"),
		strings.ContainsAny(e.Name, "/\x00"):
		return fmt.Errorf("name %.60q: %w", e.Name, ErrTree)
	case e.ID.IsZero():
		return fmt.Errorf("entry %q names no object: %w", e.Name, ErrTree)
	case len(before) > 0 && compareEntries(before[len(before)-1], e) >= 0:
		return fmt.Errorf("entry %q is not in order: %w", e.Name, ErrTree)
	}
	if !e.Tree {
		return nil // a directory of the same name is sorted after it
	}
	if _, duplicate := slices.BinarySearchFunc(before, TreeEntry{Name: e.Name}, compareEntries); duplicate {
		return fmt.Errorf("duplicate entry %q: %w", e.Name, ErrTree)
	}
	return nil
}

// compareEntries is git's order: by the bytes of the names, with "/" appended to those of directories.
func compareEntries(a, b TreeEntry) int {
	n := min(len(a.Name), len(b.Name))
	return cmp.Or(cmp.Compare(a.Name[:n], b.Name[:n]), cmp.Compare(a.byteAt(n), b.byteAt(n)),
		cmp.Compare(len(a.Name), len(b.Name)))
}

// byteAt returns the byte of the name at n; the name ends at n or later.
func (e TreeEntry) byteAt(n int) int {
	switch {
	case n < len(e.Name):
		return int(e.Name[n])
	case e.Tree:
		return '/'
	}
	return -1
}
