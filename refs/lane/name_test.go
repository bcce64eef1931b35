package lane

import (
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// TestNames reads the names that branches have here and on remotes, and refuses all others.
func TestNames(t *testing.T) {
	t.Parallel()
	project, device := strings.Repeat("a", 16), strings.Repeat("b", 32)
	for _, l := range []Lane{
		{Project: Project(project), Device: device},
		{Project: Project(project), Device: device, Originals: true},
	} {
		if got, ok := ParseRemoteRef(l.Ref()); !ok || got != l {
			t.Errorf("ParseBranch(%s) = %+v, %v", l.Ref(), got, ok)
		}
	}
	for _, ref := range []string{
		"refs/heads/main", Prefix + project, Prefix + project + "/x", Prefix + string(Home) + "/" + device,
		Prefix + project + "/" + device + "/x", Prefix + strings.ToUpper(project) + "/" + device,
	} {
		if l, ok := ParseRemoteRef(ref); ok {
			t.Errorf("ParseBranch(%s) = %+v, want none", ref, l)
		}
	}
}

// TestCleanName makes names with which git accepts a commit.
func TestCleanName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"desk": "desk", "my desk": "my desk", " desk. ": "desk", "de<s>k\n": "desk", "": "device", " .,": "device",
		"desk\u00a0": "desk", "\u3000desk": "desk", "desk.\u0085 ": "desk", "\u00a0": "device", "a\u00a0b": "a\u00a0b",
		"b\xffad\u2003": "b\ufffdad",
	} {
		got := CleanName(in)
		if got != want {
			t.Errorf("CleanName(%q) = %q, want %q", in, got, want)
		}
		c := gitstore.Commit{Tree: pack.ID{1}, Name: got, Email: "x@mem.invalid", Time: time.Unix(1e9, 0)}
		if _, err := gitstore.EncodeCommit(c); err != nil {
			t.Errorf("a commit of %q: %v", got, err)
		}
	}
}

func TestProjects(t *testing.T) {
	t.Parallel()
	a, b := ProjectOf("github.com/a/b"), ProjectOf("github.com/a/c")
	if a == b || a == Home {
		t.Errorf("projects of two origins are %s and %s", a, b)
	}
	for in, ok := range map[string]bool{string(a): true, string(Home): true, "": false, string(a)[1:]: false, string(a) + "0": false,
		strings.ToUpper(string(a)): strings.ToUpper(string(a)) == string(a), "../../../../../x": false} {
		if got, err := ParseProject(in); (err == nil) != ok || ok && got != Project(in) {
			t.Errorf("ParseProject(%q) = %q, %v; want ok == %v", in, got, err, ok)
		}
	}
}

// TestRefsOfALane names a lane here and on a remote: an outside one is not below [Prefix] here.
func TestRefsOfALane(t *testing.T) {
	t.Parallel()
	l := Lane{Project: "00000000000000aa", Device: strings.Repeat("b", 32)}
	path := "00000000000000aa/" + l.Device
	for _, c := range []struct {
		outside, originals bool
		local, remote      string
	}{
		{false, false, "refs/heads/p/" + path, "refs/heads/p/" + path},
		{true, false, "refs/untrusted/" + path, "refs/heads/p/" + path},
		{false, true, "refs/heads/p/" + path, "refs/heads/o/" + path},
	} {
		l.Outside, l.Originals = c.outside, c.originals
		if local, remote := l.LocalRef(), l.Ref(); local != c.local || remote != c.remote {
			t.Errorf("outside %v, originals %v: %s and %s, want %s and %s", c.outside, c.originals, local, remote, c.local, c.remote)
		}
		parsed, ok := ParseLocalRef(c.local)
		parsed.Originals = c.originals // the repository tells
		if !ok || parsed != l {
			t.Errorf("ParseLocalRef(%s) = %+v, %v; want %+v", c.local, parsed, ok, l)
		}
	}
	for _, ref := range []string{path, "refs/heads/" + path, "refs/heads/o/" + path, OutsidePrefix + path + "/x", OutsidePrefix, Prefix} {
		if l, ok := ParseLocalRef(ref); ok {
			t.Errorf("ParseLocalRef(%s) = %+v, want none", ref, l)
		}
	}
}
