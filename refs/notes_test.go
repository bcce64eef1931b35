package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/memvcs/mem/refs/disk"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	var v map[string]any
	if ok, err := r.ReadNote("a.json", &v); ok || err != nil {
		t.Errorf("ReadNote of no note = %v, %v", ok, err)
	}
	if err := r.WriteNote("a.json", []byte("{\n  \"a\": 1\n}\n")); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.ReadNote("a.json", &v); !ok || err != nil || v["a"] != 1.0 {
		t.Errorf("ReadNote = %v, %v with %v", ok, err, v)
	}
	file := filepath.Join(r.dir, "a.json")
	if err := os.WriteFile(file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.ReadNote("a.json", &v); !errors.Is(err, ErrDamaged) {
		t.Errorf("ReadNote of a damaged note = %v", err)
	}
	if b, err := r.ReadDamagedNote("a.json"); err != nil || string(b) != "{" {
		t.Errorf("ReadDamagedNote = %q, %v", b, err)
	}
	kept, err := r.ReplaceNote("a.json", []byte("{\n  \"a\": 2\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(kept))); err != nil || string(b) != "{" {
		t.Errorf("the damaged note is kept in %s as %q, %v", kept, b, err)
	}
	if _, err := r.ReadNote("a.json", &v); err != nil || v["a"] != 2.0 {
		t.Errorf("after ReplaceNote the note is %v, %v", v, err)
	}
	for range 2 { // removing nothing is no error
		if err := r.RemoveNote("a.json"); err != nil {
			t.Error(err)
		}
	}
	var write *disk.WriteError
	if err := r.WriteNote("none/a.json", nil); !errors.As(err, &write) || !strings.Contains(err.Error(), "none/a.json") {
		t.Errorf("WriteNote that fails = %v, want a WriteError with the name", err)
	}
}

// TestUnfinishedClone marks a clone before there is a store, and removes the mark only for the same URL.
func TestUnfinishedClone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "memory")
	if err := BeginClone(dir, "/hub.git"); err != nil {
		t.Fatal(err)
	}
	if url, err := UnfinishedClone(dir); err != nil || url != "/hub.git" {
		t.Errorf("UnfinishedClone = %q, %v", url, err)
	}
	if _, err := Open(dir, testOptions()); err == nil {
		t.Error("a directory with only the mark of a clone opens as a store")
	}
	r, err := Init(t.Context(), dir, "desk", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range []struct{ url, left string }{{"/other.git", "/hub.git"}, {"/hub.git", ""}, {"/hub.git", ""}} {
		if err := r.EndClone(c.url); err != nil {
			t.Error(err)
		}
		if got, err := UnfinishedClone(dir); err != nil || got != c.left {
			t.Errorf("after the end of a clone of %s the mark is %q, %v; want %q", c.url, got, err, c.left)
		}
	}
	for _, damaged := range []string{"", "{}", "{\"url\": \"\"}"} {
		if err := os.WriteFile(filepath.Join(dir, cloneFile), []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := UnfinishedClone(dir); !errors.Is(err, ErrDamaged) {
			t.Errorf("a mark %q is read as %q, %v; want ErrDamaged", damaged, got, err)
		}
	}
}

// TestEditRemotes adds remotes from several goroutines: none is lost, and a failing edit changes nothing.
func TestEditRemotes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if got, err := r.Remotes(); err != nil || got != nil {
		t.Errorf("Remotes of a new store = %v, %v", got, err)
	}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := r.EditRemotes(t.Context(), func(l []Remote) ([]Remote, error) {
				return append(l, Remote{Name: fmt.Sprintf("r%02d", i), URL: "/r"}), nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := r.Remotes()
	if err != nil || len(got) != 20 || !slices.IsSortedFunc(got, func(a, b Remote) int { return strings.Compare(a.Name, b.Name) }) {
		t.Fatalf("%d remotes, %v; want 20 in the order of their names", len(got), err)
	}
	stop := errors.New("stop")
	if err := r.EditRemotes(t.Context(), func([]Remote) ([]Remote, error) { return nil, stop }); !errors.Is(err, stop) {
		t.Errorf("an edit that fails = %v", err)
	}
	if again, err := r.Remotes(); err != nil || len(again) != 20 {
		t.Errorf("after an edit that failed there are %d remotes, %v", len(again), err)
	}
	if err := r.EditRemotes(t.Context(), func([]Remote) ([]Remote, error) { return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(r.dir, remotesFile)); err != nil || !strings.Contains(string(b), "\"remotes\": []") {
		t.Errorf("without remotes the file is %s, %v", b, err)
	}
}

func TestMalformedRemotes(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for what, content := range map[string]string{
		"not JSON":          "{{",
		"an unsafe name":    `{"remotes": [{"name": "../x"}]`,
		"an option as name": `{"remotes": [{"name": "-x"}]`,
		"a name twice":      `{"remotes": [{"name": "a"}, {"name": "a"}]`,
		"no sum":            "{\n  \"remotes\": []\n}\n",
	} {
		b := []byte(content)
		if what != "no sum" {
			b = disk.WithSum([]byte(content + "\n}\n"))
		}
		if err := os.WriteFile(filepath.Join(r.dir, remotesFile), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := r.Remotes(); !errors.Is(err, ErrRemotes) {
			t.Errorf("%s: Remotes = %v, %v; want ErrRemotes", what, got, err)
		}
		if err := r.EditRemotes(t.Context(), func([]Remote) ([]Remote, error) { return nil, nil }); !errors.Is(err, ErrRemotes) {
			t.Errorf("%s: EditRemotes = %v: it would replace what it cannot read", what, err)
		}
	}
}

func TestCheckRemoteName(t *testing.T) {
	t.Parallel()
	for name, ok := range map[string]bool{"origin": true, "a.b-c_1": true, strings.Repeat("a", 60): true, strings.Repeat("a", 61): false,
		"": false, ".": false, "..": false, ".a": false, "-a": false, "a/b": false, "a b": false, "é": false, "a\n": false} {
		if err := CheckRemoteName(name); (err == nil) != ok {
			t.Errorf("CheckRemoteName(%q) = %v, want ok == %v", name, err, ok)
		}
	}
	r := newRepo(t)
	if _, err := r.LockRemote(t.Context(), "../../x"); err == nil {
		t.Error("LockRemote of an unsafe name succeeds")
	}
	unlock, err := r.LockRemote(t.Context(), "origin")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	other, err := r.LockRemote(t.Context(), "second") // another remote is not locked
	if err != nil {
		t.Fatal(err)
	}
	other()
}

// TestSecrets edits a secret from several goroutines: each sees what the one before wrote.
func TestSecrets(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if b, err := r.Secret("k"); b != nil || err != nil {
		t.Errorf("Secret of no secret = %q, %v", b, err)
	}
	if names, err := r.Secrets(); names != nil || err != nil {
		t.Errorf("Secrets of a new store = %v, %v", names, err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := r.EditSecret(t.Context(), "k", func(b []byte) ([]byte, error) {
				return fmt.Appendf(nil, "{\n  \"n\": \"%s\"\n}\n", strings.Repeat("x", strings.Count(string(b), "x")+1)), nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	b, err := r.Secret("k")
	if err != nil || strings.Count(string(b), "x") != 10 {
		t.Errorf("after 10 edits the secret is %q, %v", b, err)
	}
	if err := disk.CheckSum(b); err != nil || !strings.Contains(string(b), "sum") {
		t.Errorf("the secret %q has no sum: %v", b, err)
	}
	if names, err := r.Secrets(); err != nil || !slices.Equal(names, []string{"k"}) {
		t.Errorf("Secrets = %v, %v", names, err)
	}
	if fi, err := os.Stat(filepath.Join(r.dir, keysDir)); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the secrets: %v, %v", fi.Mode(), err)
	}
	stop := errors.New("stop")
	if err := r.EditSecret(t.Context(), "k", func([]byte) ([]byte, error) { return nil, stop }); !errors.Is(err, stop) {
		t.Errorf("an edit that fails = %v", err)
	}
	if again, err := r.Secret("k"); err != nil || string(again) != string(b) {
		t.Errorf("after an edit that failed the secret is %q, %v", again, err)
	}
}

// TestShared excludes the users of a shared repository while it is swept, and the other way round.
func TestShared(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	s := Shared{Repo: r.memory, Timeout: 1}
	first, err := s.Share(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Share(t.Context())
	if err != nil {
		t.Fatalf("a second user: %v", err)
	}
	if _, err := s.Exclude(t.Context()); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "lock the remote") {
		t.Errorf("Exclude beside two users = %v", err)
	}
	first()
	second()
	unlock, err := Shared{Repo: r.memory}.Exclude(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Share(t.Context()); !errors.Is(err, ErrLocked) {
		t.Errorf("Share of an excluded repository = %v", err)
	}
	named, err := s.Lock(t.Context(), "push-a") // a name is independent of both
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lock(t.Context(), "push-a"); !errors.Is(err, ErrLocked) {
		t.Errorf("a second Lock of a name = %v", err)
	}
	named()
	unlock()
}
