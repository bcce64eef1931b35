package sealed

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
	"github.com/memvcs/mem/refs/remote"
)

// A hub is a repository in a directory that becomes an encrypted remote.
type hub struct{ dir string }

func newHub(t testing.TB) hub {
	t.Helper()
	h := hub{filepath.Join(t.TempDir(), "hub.git")}
	if err := gitstore.Init(h.dir); err != nil {
		t.Fatal(err)
	}
	return h
}

func (h hub) client() *remote.Client {
	return remote.New(remote.URL{Scheme: "file", Path: h.dir}, remote.World{Getenv: func(string) string { return "" }, Mark: "test"})
}

// git opens the repository as the host sees it.
func (h hub) git(t testing.TB) *gitstore.Repo {
	t.Helper()
	g, err := gitstore.Open(h.dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// tips returns the branches as the host sees them.
func (h hub) tips(t testing.TB) map[string]pack.ID {
	t.Helper()
	all, err := h.git(t).Refs("refs/heads/")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]pack.ID{}
	for _, ref := range all {
		out[ref.Name] = ref.ID
	}
	return out
}

// set moves a branch as the host can.
func (h hub) set(t testing.TB, ref string, to pack.ID) {
	t.Helper()
	g := h.git(t)
	now, err := g.Ref(ref)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Update(t.Context(), ref, now, to); err != nil {
		t.Fatal(err)
	}
}

// branches returns the branches of lanes, sorted.
func (h hub) branches(t testing.TB) (names []string) {
	t.Helper()
	for name := range h.tips(t) {
		if isBranch(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A member is a device with a store and, after it has joined, the secret of a hub.
type member struct {
	*refs.Repo
	hub
	id      string
	revoked func(string) bool
}

func newMember(t testing.TB, h hub) *member { return &member{Repo: refstest.New(t), hub: h} }

func (m *member) options() Options {
	return Options{Name: "device " + m.Device().ID[:4], Revoked: m.revoked, Rand: rand.Reader,
		Limits: pack.Limits{Bytes: 1 << 26, Objects: 10_000, Object: 1 << 24, Ratio: 1000}}
}

func (m *member) join(t testing.TB, how JoinOptions) JoinResult {
	t.Helper()
	j, err := Join(t.Context(), m.Repo, m.client(), how, m.options())
	if err != nil {
		t.Fatal(err)
	}
	m.id = j.ID
	return j
}

// note commits a record to the lane of a project.
func (m *member) note(t testing.TB, p refs.Project, text string) {
	t.Helper()
	refstest.Add(t, m.Repo, p, map[string]string{"text": text})
}

// lane returns the lane of this device in a project.
func (m *member) lane(t testing.TB, p refs.Project) refs.Lane {
	t.Helper()
	l := refs.Lane{Project: p, Device: m.Device().ID}
	var err error
	if l.Tip, err = m.Git().Ref(l.Ref()); err != nil {
		t.Fatal(err)
	}
	return l
}

// with calls f with the remote of a member, open: the lock of its downloads is released afterwards.
func (m *member) with(t testing.TB, f func(*Vault) error) error {
	t.Helper()
	v, err := Open(m.Repo, m.client(), m.id, m.options())
	if err != nil {
		t.Fatal(err)
	}
	return errors.Join(f(v), v.Close())
}

// keyring returns the last keyring that a member has seen.
func (m *member) keyring(t testing.TB) (k Keyring) {
	t.Helper()
	if err := m.with(t, func(v *Vault) error { k = v.Keyring(); return nil }); err != nil {
		t.Fatal(err)
	}
	return k
}

// push pushes the lane of a project, all of it or what follows the tip that the remote shows.
func (m *member) push(t testing.TB, p refs.Project) error {
	t.Helper()
	return m.with(t, func(v *Vault) error { return m.pushTo(t, v, p) })
}

func (m *member) pushTo(t testing.TB, v *Vault, p refs.Project) error {
	t.Helper()
	s, err := v.Open(t.Context(), remote.Receive)
	if err != nil {
		return err
	}
	l := m.lane(t, p)
	var old pack.ID
	for _, ref := range s.Refs() {
		if ref.Name == l.Ref() {
			old = ref.ID
		}
	}
	commits, _, err := lane.CommitsSince(t.Context(), m.Git(), l.Tip, old, 1000)
	if err != nil {
		t.Fatal(err)
	}
	b := remote.Batch{Updates: []remote.Update{{Ref: l.Ref(), Old: old, New: l.Tip}}}
	var entries []pack.Entry
	for a, err := range lane.Additions(t.Context(), m.Git(), commits, map[pack.ID]struct{}{}) {
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range a.Objects {
			e, err := m.Git().Packs().Entry(id)
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
			b.Size += int64(e.Size())
		}
	}
	b.Objects = len(entries)
	b.Entries = func(yield func(pack.Entry) error) error {
		for _, e := range entries {
			if err := yield(e); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(s.Push(t.Context(), b), s.Close())
}

func (m *member) mustPush(t testing.TB, p refs.Project) {
	t.Helper()
	if err := m.push(t, p); err != nil {
		t.Fatal(err)
	}
}

// A fetched is the result of a fetch: the tips of the lanes, the objects received and the branches that are broken.
type fetched struct {
	tips    map[string]pack.ID
	objects int
	broken  []Broken
}

// fetch fetches all lanes of other devices into the store, without the checks of a quarantine.
func (m *member) fetch(t testing.TB) (f fetched, err error) {
	t.Helper()
	err = m.with(t, func(v *Vault) error { f, err = m.fetchFrom(t, v); return err })
	return f, err
}

func (m *member) fetchFrom(t testing.TB, v *Vault) (f fetched, err error) {
	t.Helper()
	s, err := v.Open(t.Context(), remote.Upload)
	if err != nil {
		return f, err
	}
	f.tips = map[string]pack.ID{}
	var want, have []pack.ID
	for _, ref := range s.Refs() {
		f.tips[ref.Name] = ref.ID
		here, err := m.Git().Ref(ref.Name)
		if err != nil {
			t.Fatal(err)
		}
		if here != ref.ID {
			want = append(want, ref.ID)
		}
		if !here.IsZero() {
			have = append(have, here)
		}
	}
	if _, err := pack.Write(m.Git().PackDir(), "fetch", func(w *pack.Writer) error {
		got, err := s.Fetch(t.Context(), want, have, w, m.options().Limits)
		f.objects = got.Objects
		return err
	}); err != nil {
		return f, errors.Join(err, s.Close())
	}
	f.broken = v.Broken()
	for name, tip := range f.tips {
		here, err := m.Git().Ref(name)
		if err != nil {
			t.Fatal(err)
		}
		if has, err := m.Git().Has(tip); err != nil || !has || here == tip {
			continue
		}
		if err := m.Git().Update(t.Context(), name, here, tip); err != nil {
			t.Fatal(err)
		}
	}
	return f, s.Close()
}

func (m *member) mustFetch(t testing.TB) fetched {
	t.Helper()
	f, err := m.fetch(t)
	if err != nil || len(f.broken) > 0 {
		t.Fatalf("fetch: %v, broken %v", err, f.broken)
	}
	return f
}

const otherProject refs.Project = "00000000000000bb"

// TestTwoDevices pushes from one device and fetches on another: each push is one commit, each fetch gets what is new,
// and the host sees neither names nor content.
func TestTwoDevices(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a, b := newMember(t, h), newMember(t, h)
	joined := a.join(t, JoinOptions{})
	if !joined.Created || joined.Recovery == "" || !joined.Readable {
		t.Fatalf("Join of an empty remote = %+v", joined)
	}
	second := b.join(t, JoinOptions{Recovery: joined.Recovery})
	if second.Created || second.Recovery != "" || !second.Readable || second.ReadOnly != nil {
		t.Fatalf("Join with the recovery key = %+v", second)
	}
	if f := b.mustFetch(t); len(f.tips) > 0 || f.objects > 0 {
		t.Errorf("a fetch before any push: %+v", f)
	}
	for i := range 3 {
		a.note(t, refstest.Project, fmt.Sprint("a secret phrase ", i))
		a.mustPush(t, refstest.Project)
		f := b.mustFetch(t)
		l := a.lane(t, refstest.Project)
		if f.tips[l.Ref()] != l.Tip || f.objects == 0 {
			t.Errorf("push %d: fetched %d objects, the tip is %s, want %s", i, f.objects, f.tips[l.Ref()], l.Tip)
		}
		again := b.mustFetch(t)
		if again.objects > 0 || again.tips[l.Ref()] != l.Tip {
			t.Errorf("push %d: a second fetch gets %d objects and the tip %s", i, again.objects, again.tips[l.Ref()])
		}
		if n := segmentsOf(t, h, h.branches(t)[0]); n != i+1 {
			t.Errorf("after %d pushes the branch has %d commits", i+1, n)
		}
	}
	b.note(t, otherProject, "mine")
	b.mustPush(t, otherProject)
	if f := a.mustFetch(t); f.tips[b.lane(t, otherProject).Ref()] != b.lane(t, otherProject).Tip || len(f.tips) != 2 {
		t.Errorf("the first device fetches %v", f.tips)
	}
	c := newMember(t, h) // reads all segments of both lanes at once
	c.join(t, JoinOptions{Recovery: joined.Recovery})
	for name, tip := range c.mustFetch(t).tips {
		if err := lane.AddReachable(t.Context(), c.Git(), tip, map[pack.ID]struct{}{}); err != nil {
			t.Errorf("%s is not whole on a third device: %v", name, err)
		}
	}
	for name := range h.tips(t) {
		if strings.Contains(name, string(refstest.Project)) || strings.Contains(name, a.Device().ID) {
			t.Errorf("the branch %s names a project or a device", name)
		}
	}
	checkOpaque(t, h, "a secret phrase", a.Device().ID, a.Device().Name, string(refstest.Project), "Mem-Lamport")
}

// segmentsOf counts the commits of a branch.
func segmentsOf(t testing.TB, h hub, branch string) int {
	t.Helper()
	g := h.git(t)
	tip, err := g.Ref(branch)
	if err != nil {
		t.Fatal(err)
	}
	commits, _, err := lane.CommitsSince(t.Context(), g, tip, pack.ID{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(commits)
}

// checkOpaque reads every object of the hub, and finds none of the texts in it.
func checkOpaque(t testing.TB, h hub, texts ...string) {
	t.Helper()
	g := h.git(t)
	n := 0
	for id, err := range g.Packs().All() {
		if err != nil {
			t.Fatal(err)
		}
		_, data, err := g.Read(id)
		if err != nil {
			t.Fatal(err)
		}
		n++
		for _, text := range texts {
			if bytes.Contains(data, []byte(text)) {
				t.Errorf("the object %s contains %q", id, text)
			}
		}
	}
	if n < 4 {
		t.Errorf("the hub has only %d objects", n)
	}
}

// TestHostMovesBranches plays a host that moves branches: a fetch reports each of them as broken, or shows an older
// state, and never shows a lane under another name or a state that no device pushed.
func TestHostMovesBranches(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a := newMember(t, h)
	recovery := a.join(t, JoinOptions{}).Recovery
	tips := map[string][]pack.ID{}
	for i := range 2 {
		for _, p := range []refs.Project{refstest.Project, otherProject} {
			a.note(t, p, fmt.Sprint("note ", i))
			a.mustPush(t, p)
			l := a.lane(t, p)
			tips[l.Ref()] = append(tips[l.Ref()], l.Tip)
		}
	}
	names := h.branches(t)
	whole := h.tips(t)
	earlier, err := h.git(t).Commit(whole[names[0]])
	if err != nil {
		t.Fatal(err)
	}
	foreign := forgeCommit(t, h, earlier.Parent, bytes.Repeat([]byte("x"), minSegment))
	for what, c := range map[string]struct {
		to     pack.ID
		broken bool
	}{
		"the tip of the other lane":      {whole[names[1]], true},
		"the keyring":                    {whole[keysRef], true},
		"a commit that no member sealed": {foreign, true},
		"its second segment alone":       {orphan(t, h, whole[names[0]], pack.ID{}), true},
		"its second segment twice":       {orphan(t, h, whole[names[0]], whole[names[0]]), true},
		"its first commit":               {earlier.Parent, false},
	} {
		h.set(t, names[0], c.to)
		b := newMember(t, h)
		b.join(t, JoinOptions{Recovery: recovery})
		f, err := b.fetch(t)
		if err != nil {
			t.Errorf("%s: the whole fetch fails: %v", what, err)
			continue
		}
		if (len(f.broken) == 1) != c.broken || c.broken && !errors.Is(f.broken[0].Err, ErrTampered) {
			t.Errorf("%s: broken %v, want one == %v", what, f.broken, c.broken)
		}
		for name, tip := range f.tips {
			if !slices.Contains(tips[name], tip) {
				t.Errorf("%s: the lane %s is shown at %s, which was never its tip", what, name, tip)
			}
		}
		if len(f.tips) != 2-len(f.broken) {
			t.Errorf("%s: %d lanes, want all that are not broken", what, len(f.tips))
		}
		h.set(t, names[0], whole[names[0]])
	}
}

// forgeCommit makes a commit of the form of a segment.
func forgeCommit(t testing.TB, h hub, parent pack.ID, content []byte) (id pack.ID) {
	t.Helper()
	c := &commitWriter{}
	if _, err := pack.Write(h.git(t).PackDir(), "forge", func(w *pack.Writer) error {
		c.sink = w.Add
		if _, err := c.Write(content); err != nil {
			return err
		}
		return c.finish(parent)
	}); err != nil {
		t.Fatal(err)
	}
	return c.ids[len(c.ids)-1]
}

// orphan returns the commit of a segment with another parent.
func orphan(t testing.TB, h hub, id, parent pack.ID) (made pack.ID) {
	t.Helper()
	c, err := h.git(t).Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	c.Parent = parent
	b, err := gitstore.EncodeCommit(c)
	if err != nil {
		t.Fatal(err)
	}
	e := pack.Encode(pack.Commit, b, 1)
	if _, err := pack.Write(h.git(t).PackDir(), "forge", func(w *pack.Writer) error { return w.Add(e) }); err != nil {
		t.Fatal(err)
	}
	return e.ID
}

// TestRollback shows a device what the remote was before its last fetch: of lanes that is an older state, of the keyring
// it is refused.
func TestRollback(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a, b := newMember(t, h), newMember(t, h)
	recovery := a.join(t, JoinOptions{}).Recovery
	b.join(t, JoinOptions{Recovery: recovery})
	a.note(t, refstest.Project, "1")
	a.mustPush(t, refstest.Project)
	old := h.tips(t)
	newMember(t, h).join(t, JoinOptions{Recovery: recovery}) // changes the keyring
	first := a.lane(t, refstest.Project).Tip
	a.note(t, refstest.Project, "2")
	a.mustPush(t, refstest.Project)
	b.mustFetch(t)
	name := h.branches(t)[0]
	h.set(t, name, old[name])
	if f, err := b.fetch(t); err != nil || f.tips[a.lane(t, refstest.Project).Ref()] != first {
		t.Errorf("a lane that was rolled back: %v, %v; want its first tip %s", f, err, first)
	}
	h.set(t, keysRef, old[keysRef])
	if _, err := b.fetch(t); !errors.Is(err, ErrKeyring) || !strings.Contains(err.Error(), "rolled back") {
		t.Errorf("a keyring that was rolled back: %v", err)
	}
	// A member may replace it: its next push restores the newest keyring.
	b.note(t, otherProject, "3")
	b.mustPush(t, otherProject)
	if _, err := a.fetch(t); err != nil {
		t.Errorf("after a push of a member: %v", err)
	}
	if n := a.keyring(t).Number; n != 3 {
		t.Errorf("the keyring has the number %d, want 3", n)
	}
}

// TestRemovedKeyring removes the keyring: a fetch is refused, a push makes the remote whole again.
func TestRemovedKeyring(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a := newMember(t, h)
	a.join(t, JoinOptions{})
	a.note(t, refstest.Project, "1")
	a.mustPush(t, refstest.Project)
	if err := h.git(t).Remove(t.Context(), keysRef); err != nil {
		t.Fatal(err)
	}
	if _, err := a.fetch(t); !errors.Is(err, ErrKeyring) {
		t.Errorf("a fetch without a keyring: %v", err)
	}
	a.note(t, refstest.Project, "2")
	a.mustPush(t, refstest.Project)
	if f := a.mustFetch(t); f.tips[a.lane(t, refstest.Project).Ref()] != a.lane(t, refstest.Project).Tip {
		t.Errorf("after a push: %v", f)
	}
}

// TestApproval lets a device in by its request, and turns a stranger and a revoked device away.
func TestApproval(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a, b := newMember(t, h), newMember(t, h)
	a.join(t, JoinOptions{})
	a.note(t, refstest.Project, "before")
	a.mustPush(t, refstest.Project)

	waiting := b.join(t, JoinOptions{})
	if waiting.Readable || waiting.Request.Device != b.Device().ID {
		t.Fatalf("Join without a key = %+v", waiting)
	}
	var stranger *NotMemberError
	if _, err := b.fetch(t); !errors.As(err, &stranger) || stranger.Request != waiting.Request || !errors.Is(err, ErrNoKey) {
		t.Errorf("a fetch of a stranger: %v", err)
	}
	if err := a.with(t, func(v *Vault) error { return v.Approve(t.Context(), waiting.Request, "desk") }); err != nil {
		t.Fatal(err)
	}
	if again := b.join(t, JoinOptions{}); !again.Readable || again.ID != waiting.ID {
		t.Errorf("Join after the approval = %+v; want the same secret %s", again, waiting.ID)
	}
	if f := b.mustFetch(t); f.objects == 0 {
		t.Error("a new member fetches nothing of what was pushed before it joined")
	}
	if got := names(a.keyring(t)); !slices.Contains(got, "desk") {
		t.Errorf("the members are %v", got)
	}

	// The revoked device reads what it could read, and nothing that is pushed later.
	a.revoked = func(device string) bool { return device == b.Device().ID }
	a.note(t, refstest.Project, "after")
	a.mustPush(t, refstest.Project)
	if f, err := b.fetch(t); !errors.Is(err, ErrNoKey) {
		t.Errorf("a fetch of a revoked device: %+v, %v", f, err)
	}
	if err := b.push(t, refstest.Project); !errors.Is(err, ErrNoKey) {
		t.Errorf("a push of a revoked device: %v", err)
	}
	k := a.keyring(t)
	if slices.Contains(names(k), "desk") || len(k.Epochs) != 2 {
		t.Errorf("after the revocation the members are %v with %d epochs", names(k), len(k.Epochs))
	}
}

func names(k Keyring) (out []string) {
	for _, m := range k.Members {
		out = append(out, m.Name)
	}
	return out
}

// TestRenewRecovery replaces the recovery key: the old one opens nothing any more.
func TestRenewRecovery(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a := newMember(t, h)
	old := a.join(t, JoinOptions{}).Recovery
	a.note(t, refstest.Project, "1")
	a.mustPush(t, refstest.Project)
	var renewed string
	err := a.with(t, func(v *Vault) (err error) { renewed, err = v.RenewRecovery(t.Context()); return err })
	if err != nil || renewed == old {
		t.Fatalf("RenewRecovery = %q, %v", renewed, err)
	}
	b := newMember(t, h)
	if _, err := Join(t.Context(), b.Repo, b.client(), JoinOptions{Recovery: old}, b.options()); !errors.Is(err, ErrNoKey) {
		t.Errorf("Join with the old key: %v", err)
	}
	b.join(t, JoinOptions{Recovery: renewed})
	if f := b.mustFetch(t); f.objects == 0 {
		t.Error("with the new key a device does not read what was pushed before")
	}
	secrets, err := b.Secrets()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range secrets {
		if s, err := b.Secret(name); err != nil || bytes.Contains(s, []byte(renewed)) {
			t.Errorf("the recovery key is stored in %s: %v", name, err)
		}
	}
}

// TestJoinOfAPlainRemote refuses to encrypt a remote that has lanes already.
func TestJoinOfAPlainRemote(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a := newMember(t, h)
	a.note(t, refstest.Project, "1")
	l := a.lane(t, refstest.Project)
	if err := os.CopyFS(filepath.Join(h.dir, "objects", "pack"), os.DirFS(a.Git().PackDir())); err != nil {
		t.Fatal(err)
	}
	h.set(t, l.Ref(), l.Tip)
	if _, err := Join(t.Context(), a.Repo, a.client(), JoinOptions{}, a.options()); !errors.Is(err, ErrPlain) {
		t.Errorf("Join of a plain remote: %v", err)
	}
	if secrets, err := a.Secrets(); err != nil || len(secrets) > 0 {
		t.Errorf("a refused Join leaves the secrets %v, %v", secrets, err)
	}
}

// TestCopiedStore makes a new device of a copy of a store: it gets a key of its own, so revoking one does not revoke the
// other.
func TestCopiedStore(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a := newMember(t, h)
	a.join(t, JoinOptions{})
	b := newMember(t, h)
	secret, err := a.Secret(a.id)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(b.Dir(), "keys")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, a.id+".json"), secret, 0o600); err != nil {
		t.Fatal(err)
	}
	b.id = a.id
	b.note(t, refstest.Project, "1")
	b.mustPush(t, refstest.Project)
	k := b.keyring(t)
	keys := map[string]string{}
	for _, m := range k.Members {
		keys[m.Device] = m.Key
	}
	if keys[a.Device().ID] == "" || keys[b.Device().ID] == "" || keys[a.Device().ID] == keys[b.Device().ID] {
		t.Errorf("the members are %+v; want both devices with different keys", k.Members)
	}
	a.mustFetch(t)
}

// TestCheck reads the secret of a remote, whole, damaged and missing.
func TestCheck(t *testing.T) {
	t.Parallel()
	a := newMember(t, newHub(t))
	a.join(t, JoinOptions{})
	if err := Check(a.Repo, a.id); err != nil {
		t.Errorf("Check = %v", err)
	}
	if err := Check(a.Repo, "none"); !errors.Is(err, ErrNoKey) {
		t.Errorf("Check of a missing secret = %v", err)
	}
	file := filepath.Join(a.Dir(), "keys", a.id+".json")
	for what, content := range map[string]string{"empty": "", "another format": `{"format": "mem keys 2"}`, "no key": `{"format": "mem keys 1"}`,
		"a malformed key": `{"format": "mem keys 1", "keys": ["x"]}`} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := Check(a.Repo, a.id); err == nil {
			t.Errorf("%s: Check accepts it", what)
		}
	}
}

// TestEditState changes the state of a remote from two processes that both read it before: neither change is lost.
func TestEditState(t *testing.T) {
	t.Parallel()
	r, h := refstest.New(t), newHub(t)
	if err := r.EditSecret(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("{\n  \"format\": \"mem keys 1\"\n}\n"), nil }); err != nil {
		t.Fatal(err)
	}
	var open [2]*Vault
	for i := range open {
		var err error
		if open[i], err = Open(r, h.client(), "a", Options{Rand: rand.Reader}); err != nil {
			t.Fatal(err)
		}
	}
	moved := map[string]branch{"refs/heads/b": {Lane: "l"}}
	if err := errors.Join(open[0].addKey(t.Context()), open[1].savePositions(t.Context(), moved)); err != nil {
		t.Fatal(err)
	}
	now, err := Open(r, h.client(), "a", Options{})
	if err != nil || len(now.st.Keys) != 1 || len(now.st.Branches) != 1 {
		t.Errorf("%d keys and %d positions, %v, want one of each", len(now.st.Keys), len(now.st.Branches), err)
	}
}

// TestCancelledFetch stops when its context ends, and the next one gets everything.
func TestCancelledFetch(t *testing.T) {
	t.Parallel()
	h := newHub(t)
	a, b := newMember(t, h), newMember(t, h)
	recovery := a.join(t, JoinOptions{}).Recovery
	a.note(t, refstest.Project, "1")
	a.mustPush(t, refstest.Project)
	b.join(t, JoinOptions{Recovery: recovery})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := b.with(t, func(v *Vault) error { _, err := v.Open(ctx, remote.Upload); return err })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Open with a cancelled context: %v", err)
	}
	if f := b.mustFetch(t); f.objects == 0 {
		t.Error("the next fetch gets nothing")
	}
}
