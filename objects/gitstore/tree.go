package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

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
	var t object.Tree
	names := make(map[string]bool, len(es))
	for _, e := range es {
		switch {
		case e.Name == "", e.Name == ".", e.Name == "..", strings.EqualFold(e.Name, ".git"), strings.ContainsAny(e.Name, "/\x00"):
			return nil, fmt.Errorf("name %.60q: %w", e.Name, ErrTree)
		case e.ID.IsZero():
			return nil, fmt.Errorf("entry %q names no object: %w", e.Name, ErrTree)
		case names[e.Name]:
			return nil, fmt.Errorf("duplicate entry %q: %w", e.Name, ErrTree)
		}
		names[e.Name] = true
		mode := filemode.Regular
		if e.Tree {
			mode = filemode.Dir
		}
		t.Entries = append(t.Entries, object.TreeEntry{Name: e.Name, Mode: mode, Hash: e.ID})
	}
	sort.Sort(object.TreeEntrySorter(t.Entries))
	return encode(t.Encode)
}

// DecodeTree decodes a tree. The error wraps [ErrTree] for everything that EncodeTree does not write: other modes;
// names that are empty, ".", "..", ".git" in any case, or contain "/" or NUL; duplicate names; entries out of git's
// order.
func DecodeTree(b []byte) ([]TreeEntry, error) {
	var t object.Tree
	if err := decode(pack.Tree, b, t.Decode); err != nil {
		return nil, fmt.Errorf("%v: %w", err, ErrTree)
	}
	var es []TreeEntry
	for _, e := range t.Entries {
		es = append(es, TreeEntry{e.Name, e.Mode == filemode.Dir, e.Hash})
	}
	again, err := EncodeTree(es)
	if err == nil && !bytes.Equal(again, b) {
		err = fmt.Errorf("not in the form that mem writes: %w", ErrTree)
	}
	if err != nil {
		return nil, err
	}
	return es, nil
}
