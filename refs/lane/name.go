// Package lane reads and names the branches of a memory.
//
// A [Lane] is the branch refs/heads/p/<project>/<device>. It is linear, and only its device writes and signs it. A
// [Snapshot] is its content at a commit: a tree of closed grammar ([PathPattern]) with records, objects, growth points
// and the segments of streams. [CommitsSince] and [Additions] walk its commits, [VerifySignature] checks their
// signatures, and [LamportBound] limits the Lamport times of other devices. This package writes nothing: package refs
// does.
package lane

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// A Project is the id of a project: 16 lower-case hexadecimal digits.
type Project string

// ProjectOf returns the id of the project with the given identity, a normalised origin URL, a root
// commit or a path.
func ProjectOf(identity string) Project {
	return Project(objects.Sum([]byte("mem project 1\n" + identity)).String()[:16])
}

// ParseProject checks that s is a project id.
func ParseProject(s string) (Project, error) {
	if len(s) != 16 || !IsHex(s) {
		return "", fmt.Errorf("project id %q: want 16 hexadecimal digits", s)
	}
	return Project(s), nil
}

// IsHex reports whether s consists of lower-case hexadecimal digits.
func IsHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Home is the project whose lanes contain only records about devices. With it a new store has a commit already, so
// that plain git can log and clone it.
const Home Project = "0000000000000000"

// Prefix is the prefix of the refs of all lanes in a local repository.
const Prefix = "refs/heads/p/"

// OutsidePrefix is the prefix of the refs of lanes of untrusted devices in a local repository.
const OutsidePrefix = "refs/untrusted/"

// Ref returns the ref of a lane in a local repository.
func Ref(p Project, device string) string {
	return Prefix + string(p) + "/" + device
}

// SplitRef returns the project and the device of a lane's ref. It reports false if they are malformed.
func SplitRef(ref string) (Project, string, bool) {
	p, device, ok := strings.Cut(strings.TrimPrefix(ref, Prefix), "/")
	ok = ok && len(p) == 16 && IsHex(p) && ValidDevice(device)
	return Project(p), device, ok
}

// ErrFormat means that a newer version of mem wrote the store.
var ErrFormat = errors.New("written by a newer version of mem")

// Format is the content of the file "format" in every lane.
const Format = "mem 1\n"

// A Lane is a branch of one device in one project.
type Lane struct {
	Project   Project
	Device    string
	Tip       pack.ID
	Originals bool // true: in originals.git; false: in memory.git
	Outside   bool // of an untrusted device: nothing reads it
}

// Ref returns the lane's ref on remotes. In memory.git it is the same, unless the lane is outside.
func (l Lane) Ref() string {
	if l.Originals {
		return originalsPrefix + string(l.Project) + "/" + l.Device
	}
	return Ref(l.Project, l.Device)
}

// LocalRef returns the lane's ref in its local repository.
func (l Lane) LocalRef() string {
	if l.Outside {
		return OutsidePrefix + string(l.Project) + "/" + l.Device
	}
	return Ref(l.Project, l.Device)
}

// ParseLocalRef parses [Lane.LocalRef]. It reports false for all other refs.
func ParseLocalRef(ref string) (Lane, bool) {
	rest, outside := strings.CutPrefix(ref, OutsidePrefix)
	if !outside {
		rest, _ = strings.CutPrefix(ref, Prefix)
	}
	p, device, ok := SplitRef(Prefix + rest)
	return Lane{Project: p, Device: device, Outside: outside}, ok && rest != ref
}

// originalsPrefix is the prefix of the refs of lanes of originals.git on a remote.
const originalsPrefix = "refs/heads/o/"

// ParseRef parses the ref of a lane of memory.git. It reports false for all other refs, and for lanes of [Home], which
// are never pushed.
func ParseRef(ref string) (Lane, bool) {
	p, device, ok := SplitRef(ref)
	return Lane{Project: p, Device: device}, ok && p != Home && ref == Ref(p, device)
}

// ParseRemoteRef parses the ref of a lane of either repository on a remote; see [ParseRef].
func ParseRemoteRef(ref string) (Lane, bool) {
	rest, originals := strings.CutPrefix(ref, originalsPrefix)
	if !originals {
		return ParseRef(ref)
	}
	l, ok := ParseRef(Prefix + rest)
	l.Originals = true
	return l, ok
}
