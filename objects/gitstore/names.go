package gitstore

import (
	"errors"
	"fmt"
	"strings"
)

// ErrRefName means that a name is not a valid branch name.
var ErrRefName = errors.New("not a branch name")

// branches is the prefix of all branches.
const branches = "refs/heads/"

// outside is the prefix of refs that git does not show as branches. They are kept, but neither registered nor verified.
const outside = "refs/untrusted/"

// CheckRef returns an error that wraps [ErrRefName] unless name is "refs/heads/" or "refs/untrusted/" and a name that
// git allows for a branch: parts between single slashes, of which none is empty, begins with "."
// or "-", or ends in ".lock"; no "..", "@{", space, control byte or any of ~^:?*[\ in it.
func CheckRef(name string) error {
	rest, ok := strings.CutPrefix(name, branches)
	if !ok {
		rest, ok = strings.CutPrefix(name, outside)
	}
	bad := !ok || strings.Contains(rest, "..") || strings.Contains(rest, "@{") || strings.HasSuffix(rest, ".")
	for _, c := range []byte(rest) {
		bad = bad || c <= ' ' || c == 0x7f || strings.IndexByte(`~^:?*[\`, c) >= 0
	}
	for part := range strings.SplitSeq(rest, "/") {
		bad = bad || part == "" || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return fmt.Errorf("%.200q: %w", name, ErrRefName)
	}
	return nil
}
