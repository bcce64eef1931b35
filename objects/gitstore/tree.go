package gitstore

import (
	"bytes"
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

// EncodeTree returns the content of a tree. The entries may be in any order; es is not changed. It refuses names that
// [DecodeTree] would refuse.
func EncodeTree(es []TreeEntry) ([]byte, error) {
	es = slices.Clone(es)
	slices.SortFunc(es, func(a, b TreeEntry) int { return strings.Compare(a.key(), b.key()) })
	var b []byte
	for i, e := range es {
		if err := e.checkAfter(es[:i]); err != nil {
			return nil, err
		}
		mode := "100644 "
		if e.Tree {
			mode = "40000 "
		}
		b = append(append(append(append(b, mode...), e.Name...), 0), e.ID[:]...)
	}
	return b, nil
}

// DecodeTree decodes a tree. The error wraps [ErrTree] for everything that EncodeTree does not write: other modes;
// names that are empty, ".", "..", ".git" in any case, or contain "/" or NUL; duplicate names; entries out of git's
// order.
func DecodeTree(b []byte) (es []TreeEntry, err error) {
	for len(b) > 0 {
		var e TreeEntry
		head, rest, ok := bytes.Cut(b, []byte{0})
		mode, name, _ := strings.Cut(string(head), " ")
		e.Name, e.Tree = name, mode == "40000"
		if !ok || len(rest) < len(e.ID) || !e.Tree && mode != "100644" {
			return nil, fmt.Errorf("entry %.60q: %w", head, ErrTree)
		}
		b = rest[copy(e.ID[:], rest):]
		if err := e.checkAfter(es); err != nil {
			return nil, err
		}
		es = append(es, e)
	}
	return es, nil
}

// key returns the text by which git orders the entries of a tree.
func (e TreeEntry) key() string {
	if e.Tree {
		return e.Name + "/"
	}
	return e.Name
}

// checkAfter refuses an entry with a name that git or a file system would read differently, and one that may not follow
// the entries before it.
func (e TreeEntry) checkAfter(before []TreeEntry) error {
	switch {
	case e.Name == "", e.Name == ".", e.Name == "..", strings.EqualFold(e.Name, ".git"), strings.ContainsAny(e.Name, "/\x00"):
		return fmt.Errorf("name %.60q: %w", e.Name, ErrTree)
	case e.ID.IsZero():
		return fmt.Errorf("entry %q names no object: %w", e.Name, ErrTree)
	case len(before) > 0 && before[len(before)-1].key() > e.key():
		return fmt.Errorf("entry %q is not in order: %w", e.Name, ErrTree)
	}
	// A file comes before the directory of the same name, and between them are only names that begin with it.
	for _, b := range slices.Backward(before) {
		if b.Name == e.Name {
			return fmt.Errorf("duplicate entry %q: %w", e.Name, ErrTree)
		}
		if !strings.HasPrefix(b.Name, e.Name) {
			break
		}
	}
	return nil
}
