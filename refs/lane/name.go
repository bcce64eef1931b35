// Package lane reads and names the branches of a memory.
//
// A [Lane] is the branch refs/heads/p/<project>/<device>. It is linear, and only its device writes and signs it. A
// [Snapshot] is what it holds at a commit: a tree of closed grammar ([PathGrammar]) with records, objects, growth
// points and the segments of streams. Its commits are walked with [Since] and [Steps], its signatures checked with
// [VerifySignature], the Lamport times of others bounded with [LamportBound]. Nothing here moves a ref or writes a
// repository: package refs does.
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

func IsHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Home is the project whose lanes only hold the devices' own records, so that a new store already has
// a commit and plain git can log and clone it.
const Home Project = "0000000000000000"

const Prefix = "refs/heads/p/"

func Ref(p Project, device string) string {
	return Prefix + string(p) + "/" + device
}

// Split splits the name of a lane's ref.
func Split(ref string) (Project, string, bool) {
	p, device, ok := strings.Cut(strings.TrimPrefix(ref, Prefix), "/")
	ok = ok && len(p) == 16 && IsHex(p) && ValidDevice(device)
	return Project(p), device, ok
}

// ErrFormat says that a store was written by a newer version of mem.
var ErrFormat = errors.New("written by a newer version of mem")

// Format is the content of the file "format" in every lane.
const Format = "mem 1\n"

// A Lane is a branch of memory.git: where a device is in a project.
type Lane struct {
	Project   Project
	Device    string
	Tip       pack.ID
	Originals bool // it is one of originals.git
}

// Ref returns the name of the lane's branch on every remote. In memory.git it is the same.
func (l Lane) Ref() string {
	if l.Originals {
		return originalsPrefix + string(l.Project) + "/" + l.Device
	}
	return Ref(l.Project, l.Device)
}

// Local returns the name of the lane's branch in the repository that it belongs to.
func (l Lane) Local() string { return Ref(l.Project, l.Device) }

// originalsPrefix is where lanes of originals.git are on a remote.
const originalsPrefix = "refs/heads/o/"

// Parse reads the name of a branch. It reports false if no lane has such a name. Lanes of [Home] are none that
// may travel.
func Parse(ref string) (Lane, bool) {
	p, device, ok := Split(ref)
	return Lane{Project: p, Device: device}, ok && p != Home && ref == Ref(p, device)
}

// ParseBranch reads the name that a lane of either repository has on a remote.
func ParseBranch(ref string) (Lane, bool) {
	rest, originals := strings.CutPrefix(ref, originalsPrefix)
	if !originals {
		return Parse(ref)
	}
	l, ok := Parse(Prefix + rest)
	l.Originals = true
	return l, ok
}
