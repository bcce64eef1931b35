package gitstore_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

func TestCheckRef(t *testing.T) {
	t.Parallel()
	for _, good := range []string{lane, "refs/heads/main", "refs/heads/a/b-c_d", "refs/heads/x.y", "refs/heads/ü", "refs/heads/@"} {
		if err := gitstore.CheckRef(good); err != nil {
			t.Errorf("CheckRef(%q): %v", good, err)
		}
	}
	for _, bad := range []string{"", "HEAD", "main", "refs/heads", "refs/heads/", "refs/tags/v1", "refs/heads//a", "refs/heads/a/",
		"refs/heads/../x", "refs/heads/a..b", "refs/heads/.a", "refs/heads/a/.b", "refs/heads/a.lock", "refs/heads/a.lock/b",
		"refs/heads/a b", "refs/heads/a\x00", "refs/heads/a\n", "refs/heads/a\x7f", "refs/heads/a~1", "refs/heads/a^", "refs/heads/a:b",
		"refs/heads/a?", "refs/heads/a*", "refs/heads/[a", `refs/heads/a\b`, "refs/heads/a@{1}", "refs/heads/a.", "refs/heads/-a"} {
		if err := gitstore.CheckRef(bad); !errors.Is(err, gitstore.ErrRefName) {
			t.Errorf("CheckRef(%q): %v, want ErrRefName", bad, err)
		}
	}
}

// What we allow, git allows.
func FuzzCheckRef(f *testing.F) {
	f.Add(lane)
	f.Add("refs/heads/a.lock")
	f.Fuzz(func(t *testing.T, name string) {
		if gitstore.CheckRef(name) != nil {
			return
		}
		if p := filepath.Clean("/" + name); p != "/"+name || !strings.HasPrefix(p, "/refs/heads/") {
			t.Errorf("CheckRef allows %q, which is the path %s", name, p)
		}
	})
}

// TestRefsUpTo lists branches of which some are files, some are packed and one is both.
func TestRefsUpTo(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	name := func(i int) string { return fmt.Sprintf("refs/heads/n/%d", i) }
	var packed strings.Builder
	for i := range 4 {
		if i < 3 {
			write(t, filepath.Join(r.Dir(), name(i)), one.String()+"\n")
		}
		if i > 1 {
			fmt.Fprintf(&packed, "%s %s\n", one, name(i))
		}
	}
	write(t, filepath.Join(r.Dir(), "packed-refs"), packed.String())
	for n := range 6 {
		got, err := r.RefsUpTo("refs/heads/n/", n)
		if n < 4 && !errors.Is(err, gitstore.ErrManyRefs) || n >= 4 && (err != nil || len(got) != 4) {
			t.Errorf("RefsUpTo(%d): %d branches, %v", n, len(got), err)
		}
	}
}

// TestLargeFiles reads a repository in which a small file has a gigabyte.
func TestLargeFiles(t *testing.T) {
	for _, name := range []string{"refs/heads/p/x", "HEAD", "config", "objects/info/alternates"} {
		dir := filepath.Join(t.TempDir(), "r.git")
		if err := gitstore.Init(dir); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(file), 0o700)
		if err = errors.Join(err, os.WriteFile(file, nil, 0o600), os.Truncate(file, 1<<30)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := gitstore.Open(dir)
		want := gitstore.ErrNoRepository
		if err == nil {
			want = gitstore.ErrRef
			_, err = r.RefsUpTo("refs/heads/", 10)
			r.Close()
		}
		runtime.ReadMemStats(&after)
		if !errors.Is(err, want) || (want == gitstore.ErrRef) != (name == "refs/heads/p/x") {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: it took %d MB", name, used>>20)
		}
	}
}

func TestRefOfGarbage(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	for _, content := range []string{"", "\n", "garbage\n", "ref: refs/heads/main\n", strings.Repeat("0", 40) + "\n", one.String() + "0\n", one.String()[:39]} {
		write(t, filepath.Join(r.Dir(), lane), content)
		if id, err := r.Ref(lane); !errors.Is(err, gitstore.ErrRef) {
			t.Errorf("Ref of %q = %s, %v, want ErrRef", content, id, err)
		}
		if _, err := r.Refs("refs/heads/p/"); !errors.Is(err, gitstore.ErrRef) {
			t.Errorf("Refs with %q: %v, want ErrRef", content, err)
		}
		if err := r.Update(t.Context(), lane, pack.ID{}, one); !errors.Is(err, gitstore.ErrRef) {
			t.Errorf("Update of %q: %v, want ErrRef", content, err)
		}
	}
	write(t, filepath.Join(r.Dir(), lane), one.String())
	if id, err := r.Ref(lane); id != one || err != nil {
		t.Errorf("Ref without a newline = %s, %v", id, err)
	}
	for _, content := range []string{"garbage\n", one.String() + " " + lane, one.String() + "\n", one.String()[1:] + " " + lane + "\n"} {
		write(t, filepath.Join(r.Dir(), "packed-refs"), content)
		if id, err := r.Ref("refs/heads/other"); !errors.Is(err, gitstore.ErrRef) {
			t.Errorf("Ref with packed-refs %q = %s, %v, want ErrRef", content, id, err)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	if refs, err := r.Refs("refs/heads/p/"); len(refs) != 0 || err != nil {
		t.Errorf("Refs of nothing = %v, %v", refs, err)
	}
	write(t, filepath.Join(r.Dir(), "packed-refs"), "# pack-refs with: peeled fully-peeled sorted \n"+
		one.String()+" refs/heads/p/a/x\n"+one.String()+" refs/heads/p/a/y\n"+three.String()+" refs/heads/p/ab\n"+one.String()+" refs/tags/t\n^"+two.String()+"\n")
	update(t, r, "refs/heads/p/a/y", one, two)
	update(t, r, "refs/heads/main", pack.ID{}, three)
	write(t, filepath.Join(r.Dir(), "refs/heads/p/a/z.lock"), "")
	write(t, filepath.Join(r.Dir(), "refs/heads/p/.DS_Store"), "x")
	if err := os.Mkdir(filepath.Join(r.Dir(), "refs/heads/p/empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{
		"":                  "[main:03 p/a/x:01 p/a/y:02 p/ab:03]",
		"refs/heads/p/":     "[p/a/x:01 p/a/y:02 p/ab:03]",
		"refs/heads/p/a":    "[p/a/x:01 p/a/y:02 p/ab:03]",
		"refs/heads/p/a/":   "[p/a/x:01 p/a/y:02]",
		"refs/heads/p/a/y":  "[p/a/y:02]",
		"refs/heads/q/":     "[]",
		"refs/tags/":        "[]",
		"refs/heads/main/x": "[]",
	} {
		refs, err := r.Refs(prefix)
		got := []string{}
		for _, ref := range refs {
			got = append(got, strings.TrimPrefix(ref.Name, "refs/heads/")+":"+ref.ID.String()[:2])
		}
		if fmt.Sprint(got) != want || err != nil {
			t.Errorf("Refs(%q) = %v, %v, want %s", prefix, got, err, want)
		}
	}
	update(t, r, "refs/heads/p/empty", pack.ID{}, one) // an empty directory is in nobody's way
	if id, err := r.Ref("refs/heads/p/a/x"); id != one || err != nil {
		t.Errorf("Ref of a packed branch = %s, %v", id, err)
	}
	if id, err := r.Ref("refs/heads/p/a"); !id.IsZero() || err != nil {
		t.Errorf("Ref of a directory = %s, %v", id, err)
	}
}

func TestInit(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "memory.git")
	for range 2 {
		if err := gitstore.Init(dir); err != nil {
			t.Fatal(err)
		}
	}
	r, err := gitstore.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.SetHEAD(lane); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "config"), "[core]\nbare = true\n[user]\nname = x\n")
	if err := gitstore.Init(dir); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "HEAD")); string(b) != "ref: "+lane+"\n" || err != nil {
		t.Errorf("Init changed HEAD to %q, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "config")); !strings.Contains(string(b), "name = x") || err != nil {
		t.Errorf("Init changed config to %q, %v", b, err)
	}
	if err := r.SetHEAD("refs/heads/../x"); !errors.Is(err, gitstore.ErrRefName) {
		t.Errorf("SetHEAD to a bad name: %v", err)
	}
	err = filepath.WalkDir(filepath.Dir(dir), func(path string, de os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := de.Info()
		if err == nil && st.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has mode %v: others can read it", path, st.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "mem")); len(left) != 0 || err != nil {
		t.Errorf("left in mem: %v, %v", left, err)
	}
}

// Init is killed after any number of its steps, and run again.
func TestInitResumes(t *testing.T) {
	t.Parallel()
	for _, drop := range [][]string{{"HEAD"}, {"HEAD", "config"}, {"HEAD", "config", "mem"}, {"HEAD", "config", "mem", "refs"},
		{"HEAD", "config", "mem", "refs", "objects/pack"}, {"HEAD", "config", "mem", "refs", "objects"}} {
		r := newRepo(t)
		for _, name := range drop {
			if err := os.RemoveAll(filepath.Join(r.Dir(), name)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := gitstore.Open(r.Dir()); !errors.Is(err, gitstore.ErrNoRepository) {
			t.Errorf("Open without %v: %v, want ErrNoRepository", drop, err)
		}
		if err := gitstore.Init(r.Dir()); err != nil {
			t.Errorf("Init without %v: %v", drop, err)
		}
		history(t, r, 1)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	if _, err := gitstore.Open(t.TempDir()); !errors.Is(err, gitstore.ErrNoRepository) {
		t.Errorf("Open of an empty directory: %v", err)
	}
	for name, content := range map[string]string{
		"HEAD":                         "garbage\n",
		"config":                       "[core]\n\tbare = false\n",
		"config ":                      "[extensions]\n\tobjectFormat = sha256 ; new\n",
		"config  ":                     "[core]\n\trepositoryformatversion = 7\n",
		"config   ":                    "[extensions]\nrefStorage = \"reftable\"\n",
		"objects/info/alternates":      "/elsewhere/objects\n",
		"objects/info/http-alternates": "http://example.org/\n",
	} {
		r := newRepo(t)
		write(t, filepath.Join(r.Dir(), strings.TrimSpace(name)), content)
		if _, err := gitstore.Open(r.Dir()); !errors.Is(err, gitstore.ErrNoRepository) {
			t.Errorf("Open with %s = %q: %v, want ErrNoRepository", name, content, err)
		}
	}
}

func TestGitKeepsItPrivate(t *testing.T) {
	t.Parallel()
	needGit(t)
	r := newRepo(t)
	cmd := gitCommand(r.Dir(), "hash-object", "-w", "--stdin")
	cmd.Stdin = strings.NewReader("private")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	for _, path := range []string{id[:2], id[:2] + "/" + id[2:]} {
		st, err := os.Stat(filepath.Join(r.Dir(), "objects", path))
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("git made objects/%s with mode %v", path, st.Mode())
		}
	}
	if out := git(t, r.Dir(), "rev-parse", "--is-bare-repository"); out != "true" {
		t.Errorf("git takes the repository for bare: %s", out)
	}
}
