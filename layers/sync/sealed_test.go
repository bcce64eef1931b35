package sync_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
	"github.com/memvcs/mem/refs/sealed"
)

// A tampering is what a hostile server does to a branch of three segments.
type tampering struct {
	name   string
	status string // of the lane, to who had the first segment
	do     func(t *testing.T, dir string, segments []string, other string) (tip string)
}

// recommit makes a commit with the files of another one, or with one file.
func recommit(t testing.TB, dir, parent, from string, file []byte) string {
	t.Helper()
	tree := ""
	if file == nil {
		tree = layerstest.Git(t, dir, nil, "rev-parse", from+"^{tree}")
	} else {
		blob := layerstest.Git(t, dir, file, "hash-object", "-w", "--stdin")
		tree = layerstest.Git(t, dir, []byte("100644 blob "+blob+"\t000000\n"), "mktree")
	}
	args := []string{"commit-tree", tree}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	return layerstest.Git(t, dir, []byte("mem\n"), args...)
}

func content(t testing.TB, dir, commit string) []byte {
	t.Helper()
	return []byte(layerstest.Git(t, dir, nil, "cat-file", "blob", commit+":000000"))
}

func tamperings() []tampering {
	return []tampering{
		{"a bit is flipped", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			b := content(t, dir, s[2])
			b[len(b)/2] ^= 1
			return recommit(t, dir, s[1], "", b)
		}},
		{"a bit of the head is flipped", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			b := content(t, dir, s[2])
			b[300] ^= 1
			return recommit(t, dir, s[1], "", b)
		}},
		{"a segment is cut off", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			b := content(t, dir, s[2])
			return recommit(t, dir, s[1], "", b[:len(b)-100])
		}},
		{"segments are swapped", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			return recommit(t, dir, recommit(t, dir, s[0], s[2], nil), s[1], nil)
		}},
		{"a segment is left out", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			return recommit(t, dir, s[0], s[2], nil)
		}},
		{"a segment is there twice", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			return recommit(t, dir, s[2], s[2], nil)
		}},
		{"the first is left out", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			return recommit(t, dir, recommit(t, dir, "", s[1], nil), s[2], nil)
		}},
		{"it is another branch", "refused", func(t *testing.T, dir string, s []string, other string) string { return other }},
		{"it is no segment", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			return recommit(t, dir, s[2], "", []byte("hello"))
		}},
		{"it has other files", "refused", func(t *testing.T, dir string, s []string, _ string) string {
			blob := layerstest.Git(t, dir, []byte("x"), "hash-object", "-w", "--stdin")
			tree := layerstest.Git(t, dir, []byte("100644 blob "+blob+"\t.git-x\n"), "mktree", "--missing")
			return layerstest.Git(t, dir, []byte("mem\n"), "commit-tree", tree, "-p", s[2])
		}},
	}
}

// TestSealedHostile lets the server of an encrypted remote do what it likes. Nothing of the lane is taken, whether it was known
// before or not, and the other lane is.
func TestSealedHostile(t *testing.T) {
	t.Parallel()
	layerstest.SkipShort(t)
	h := layerstest.NewHub(t, "sealed dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	p := layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10))[0].Project.ID
	layerstest.PushAll(t, a)
	branch := lanesOf(t, h.Dir)[0]
	layerstest.FetchAll(t, b)
	before := layerstest.Roots(t, b)
	for i := range 2 {
		layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 20+10*i))
		layerstest.PushAll(t, a)
	}
	layerstest.Add(t, a, layerstest.Session(t, "s2", "/home/dev/blog", 10))
	layerstest.PushAll(t, a)
	segments := strings.Fields(layerstest.Git(t, h.Dir, nil, "rev-list", "--reverse", branch))
	if len(segments) != 3 {
		t.Fatalf("%d segments, want 3", len(segments))
	}
	var other string
	for _, ref := range lanesOf(t, h.Dir) {
		if ref != branch {
			other = layerstest.Git(t, h.Dir, nil, "rev-parse", ref)
		}
	}
	for _, x := range tamperings() {
		t.Run(x.name, func(t *testing.T) {
			bad := *h
			bad.Dir = filepath.Join(t.TempDir(), "hub.git")
			copyDir(t, h.Dir, bad.Dir)
			bad.URL = bad.Dir
			layerstest.Git(t, bad.Dir, nil, "update-ref", branch, x.do(t, bad.Dir, segments, other))
			known := bad.CopyOf(t, b)
			u, _, err := remote.ParseURL(bad.URL, nil)
			if err == nil {
				err = sync.SetRemoteURL(context.Background(), known.DB, "origin", u)
			}
			if err != nil {
				t.Fatal(err)
			}
			for who, m := range map[string]*layers.Memory{"who had the first": known, "who had nothing": bad.Memory(t, "new")} {
				out := layerstest.FetchAll(t, m)
				status := map[bool]string{}
				for _, l := range out.Lanes {
					status[l.Project == p || l.Project == ""] = l.Status
				}
				if status[true] != x.status || status[false] != "new" {
					t.Errorf("%s: %v, want the lane %s and the other one new", who, status, x.status)
				}
				if got := layerstest.Roots(t, m); m == known && !strings.Contains(got, before) || m != known && strings.Contains(got, string(p)) {
					t.Errorf("%s: roots\n%s\nof which it had\n%s", who, got, before)
				}
			}
		})
	}
}

// lanesOf returns the branches of an encrypted remote that are lanes.
func lanesOf(t testing.TB, dir string) []string {
	t.Helper()
	refs := strings.Fields(layerstest.Git(t, dir, nil, "for-each-ref", "--format=%(refname)"))
	return slices.DeleteFunc(refs, func(ref string) bool { return ref == "refs/heads/keys" })
}

func copyDir(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v %s", err, out)
	}
}

// TestSealedKeyring lets the server show an old keyring, none, and one of its own.
func TestSealedKeyring(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "sealed dir")
	a := h.Memory(t, "laptop")
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10))
	layerstest.PushAll(t, a)
	old := layerstest.Git(t, h.Dir, nil, "rev-parse", "refs/heads/keys")
	b := h.Memory(t, "desk")
	layerstest.FetchAll(t, a) // which sees the keyring of two members
	now := layerstest.Git(t, h.Dir, nil, "rev-parse", "refs/heads/keys")
	layerstest.Add(t, b, layerstest.Session(t, "s2", "/home/dev/shop", 10))
	layerstest.PushAll(t, b)
	before := layerstest.Roots(t, a)
	fetch := func() error {
		_, err := sync.Fetch(context.Background(), a.DB, sync.FetchOptions{Remote: layerstest.Origin(t, a)})
		return err
	}
	stranger := layerstest.NewHub(t, "sealed dir")
	stranger.Memory(t, "laptop")
	layerstest.Git(t, h.Dir, nil, "fetch", "-q", stranger.Dir, "refs/heads/keys:refs/heads/foreign")
	foreign := layerstest.Git(t, h.Dir, nil, "rev-parse", "refs/heads/foreign")
	layerstest.Git(t, h.Dir, nil, "update-ref", "-d", "refs/heads/foreign")
	for _, test := range []struct {
		name, at string
		want     error
	}{
		{"an old one", old, sealed.ErrKeyring},
		{"an old one put on top", recommit(t, h.Dir, now, old, nil), sealed.ErrKeyring},
		{"one of strangers", foreign, sealed.ErrNoKey},
		{"garbage", recommit(t, h.Dir, now, "", []byte("hello")), sealed.ErrTampered},
		{"none", "", sealed.ErrKeyring},
	} {
		if test.at == "" {
			layerstest.Git(t, h.Dir, nil, "update-ref", "-d", "refs/heads/keys")
		} else {
			layerstest.Git(t, h.Dir, nil, "update-ref", "refs/heads/keys", test.at)
		}
		if err := fetch(); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", test.name, err, test.want)
		}
		if layerstest.Roots(t, a) != before {
			t.Errorf("%s: something was taken", test.name)
		}
	}
	layerstest.Git(t, h.Dir, nil, "update-ref", "refs/heads/keys", old)
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 20))
	layerstest.PushAll(t, a) // puts the newest keyring back
	layerstest.FetchAll(t, b)
	layerstest.FetchAll(t, a)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots after the keyring was put back")
	}
}

// TestSealedForgets lets a device lose what it knew of an encrypted remote after a push, as when it is killed just then, and goes on.
func TestSealedForgets(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "sealed dir")
	a := h.Memory(t, "laptop")
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10))
	layerstest.PushAll(t, a)
	keys := filepath.Join(a.Refs.Dir(), "keys")
	kept := filepath.Join(t.TempDir(), "keys")
	copyDir(t, keys, kept)
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 20))
	layerstest.PushAll(t, a)
	if err := os.RemoveAll(keys); err != nil {
		t.Fatal(err)
	}
	copyDir(t, kept, keys)
	if out := layerstest.PushAll(t, a); out.Objects != 0 {
		t.Errorf("pushed again: %+v", out)
	}
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 30))
	layerstest.PushAll(t, a)
	b := h.Memory(t, "desk")
	layerstest.FetchAll(t, b)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots")
	}
}

// TestSealedInterrupted interrupts pushes at any point. What is there afterwards is whole, and the next push goes on.
func TestSealedInterrupted(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	h := layerstest.NewHub(t, "sealed dir")
	a := h.Memory(t, "laptop")
	stopped := 0
	for i := range 12 {
		layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10+10*i), layerstest.Session(t, "s2", "/home/dev/blog", 5+5*i))
		projects, err := trust.Projects(context.Background(), a.DB)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		_, err = sync.Push(ctx, a.DB, sync.PushOptions{Remote: layerstest.Origin(t, a), Projects: projects, Consent: layerstest.Yes, Progress: func(int64) {
			if n++; n == 1+3*i {
				cancel()
			}
		}})
		cancel()
		if err != nil {
			stopped++
		}
		m := h.Memory(t, "reader")
		layerstest.FetchAll(t, m)
		layerstest.Roots(t, m)
	}
	if stopped < 4 {
		t.Errorf("%d of 12 pushes were interrupted, want more", stopped)
	}
	layerstest.PushAll(t, a)
	b := h.Memory(t, "desk")
	layerstest.FetchAll(t, b)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots")
	}
}

// TestSealedWhole asks for all that a lane is, as a repair does, and for one that began anew, as forgetting lets it.
func TestSealedWhole(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	h := layerstest.NewHub(t, "sealed dir")
	a := h.Memory(t, "laptop")
	p := layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10))[0].Project.ID
	layerstest.PushAll(t, a)
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 20))
	layerstest.PushAll(t, a)
	branch := lanesOf(t, h.Dir)[0]
	was := layerstest.Git(t, h.Dir, nil, "rev-parse", branch)
	lane := func() refs.Lane {
		lanes, err := a.Refs.Lanes()
		if err != nil || len(lanes) != 1 {
			t.Fatalf("lanes %v, %v", lanes, err)
		}
		return lanes[0]
	}
	layerstest.FetchAll(t, a)
	if n, all := wholeLane(t, a, lane()), len(stepsOf(t, a, lane())); n != all {
		t.Errorf("%d objects of a lane that is here, want all %d", n, all)
	}
	old := lane()
	if err := a.Refs.Rewrite(ctx, p, "begin anew", func(before, tx *refs.Tx) error {
		return errors.Join(tx.CopyFrom(before, func(string, objects.Hash) bool { return true }), addMark(tx))
	}); err != nil {
		t.Fatal(err)
	}
	client, err := sync.Client(ctx, a.DB, layerstest.Origin(t, a), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.Open(ctx, remote.Receive)
	if err != nil {
		t.Fatal(err)
	}
	ids := stepsOf(t, a, lane())
	b := remote.Batch{Updates: []remote.Update{{Ref: old.Ref(), Old: old.Tip, New: lane().Tip}}, Objects: len(ids)}
	for _, id := range ids {
		n, err := remote.EntrySize(a.Refs.Git(), id)
		if err != nil {
			t.Fatal(err)
		}
		b.Size += n
	}
	b.Entries = func(yield func(pack.Entry) error) error {
		for _, id := range ids {
			e, err := remote.Entry(a.Refs.Git(), id)
			if err = errors.Join(err, yield(e)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := errors.Join(s.Push(ctx, b), s.Close()); err != nil {
		t.Fatal(err)
	}
	if n := layerstest.Git(t, h.Dir, nil, "rev-list", "--count", branch); n != "1" {
		t.Errorf("%s segments after the lane began anew, want 1", n)
	}
	if layerstest.Git(t, h.Dir, nil, "branch", "--contains", was) != "" {
		t.Error("a branch still leads to the old segments")
	}
	c := h.Memory(t, "desk")
	layerstest.FetchAll(t, c)
	if layerstest.Roots(t, a) != layerstest.Roots(t, c) {
		t.Error("other roots")
	}
}

// addMark makes a commit differ from the one before.
func addMark(tx *refs.Tx) error {
	_, err := tx.Add("mark", map[string]string{"of": "a test"})
	return err
}

func stepsOf(t *testing.T, m *layers.Memory, l refs.Lane) (ids []pack.ID) {
	t.Helper()
	commits, _, err := lane.CommitsSince(context.Background(), m.Refs.Git(), l.Tip, pack.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for step, err := range lane.Additions(context.Background(), m.Refs.Git(), commits, map[pack.ID]struct{}{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, step.Objects...)
	}
	return ids
}

// wholeLane asks the remote for all of a lane and counts its objects.
func wholeLane(t *testing.T, m *layers.Memory, l refs.Lane) int {
	t.Helper()
	ctx := context.Background()
	client, err := sync.Client(ctx, m.DB, layerstest.Origin(t, m), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s, err := client.Open(ctx, remote.Upload)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pack.Create(t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Fetch(ctx, []pack.ID{l.Tip}, nil, w, sync.Limits(nil))
	if err = errors.Join(err, s.Close(), w.Abort()); err != nil {
		t.Fatal(err)
	}
	return w.Len()
}

// TestSealedGuest restores from an encrypted remote that cannot be written to.
func TestSealedGuest(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "sealed http")
	a := h.Memory(t, "laptop")
	layerstest.Add(t, a, layerstest.Session(t, "s1", "/home/dev/shop", 10))
	layerstest.PushAll(t, a)
	layerstest.GitRun(t, h.Dir, "config", "http.receivepack", "false")
	b := h.Memory(t, "desk")
	layerstest.FetchAll(t, b)
	if layerstest.Roots(t, a) != layerstest.Roots(t, b) {
		t.Error("other roots")
	}
	if _, err := layerstest.TryPush(t, b); !errors.Is(err, remote.ErrAuth) {
		t.Errorf("push: %v, want ErrAuth", err)
	}
}
