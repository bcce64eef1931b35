package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// put writes one file into dir as a command does.
func put(dir, name, content string, o TreeOptions, wrote func(string, objects.Hash)) error {
	t, err := OpenTree(dir, o)
	if err != nil {
		return err
	}
	err = t.Stage(name, text(content))
	if err == nil {
		err = t.Commit(wrote)
	}
	return errors.Join(err, t.Close())
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func write(t *testing.T, path, s string) string {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(s), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// No name leads out of the tree, whatever the options are.
func TestStageRefusesNames(t *testing.T) {
	t.Parallel()
	up := t.TempDir()
	precious := write(t, filepath.Join(up, "precious"), "mine")
	dir := filepath.Join(up, "tree")
	for _, name := range []string{"../precious", "a/../../precious", precious, "", ".", "..", "a/", "/a", "a//b", "a/./b", `..\precious`, "a\x00b", "a\nb", "\x1b]0;x\a", "a\xffb"} {
		for _, force := range []bool{false, true} {
			err := put(dir, name, "theirs", TreeOptions{Force: force}, nil)
			var refused *FileError
			if !errors.As(err, &refused) || !errors.Is(err, ErrName) {
				t.Errorf("Stage(%q), force %v: %v, want %v", name, force, err, ErrName)
			}
		}
	}
	if got := content(t, precious); got != "mine" {
		t.Errorf("the file outside holds %q", got)
	}
	if left, err := os.ReadDir(up); err != nil || len(left) != 1 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// A link is never followed: neither at the end of a name nor on the way, neither out of the tree nor inside it.
func TestStageRefusesLinks(t *testing.T) {
	t.Parallel()
	up := t.TempDir()
	precious := write(t, filepath.Join(up, "other", "precious"), "mine")
	dir := filepath.Join(up, "tree")
	inside := write(t, filepath.Join(dir, "real", "precious"), "mine")
	for link, target := range map[string]string{"file": precious, "dir": filepath.Dir(precious), "near": "real", "nowhere": filepath.Join(up, "new")} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("SKIPPED: no links here:", err)
		}
	}
	for _, name := range []string{"file", "dir/precious", "dir/new", "near/precious", "nowhere"} {
		if err := put(dir, name, "theirs", TreeOptions{}, nil); !errors.Is(err, ErrLink) {
			t.Errorf("Stage(%q): %v, want %v", name, err, ErrLink)
		}
	}
	for _, name := range []string{"dir/precious", "near/precious"} {
		if err := put(dir, name, "theirs", TreeOptions{Force: true}, nil); !errors.Is(err, ErrLink) {
			t.Errorf("Stage(%q) by force: %v, want %v", name, err, ErrLink)
		}
	}
	if err := put(dir, "file", "theirs", TreeOptions{Force: true}, nil); err != nil || content(t, filepath.Join(dir, "file")) != "theirs" {
		t.Errorf("the link by force: %v", err) // the link is replaced, not what it leads to
	}
	if got := content(t, precious) + content(t, inside); got != "minemine" {
		t.Errorf("what links lead to holds %q", got)
	}
}

// A file is replaced if mem wrote it and nobody changed it, if it has the same bytes, or by force.
func TestStageReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "a"), "mine")
	sums := map[string]objects.Hash{}
	o := TreeOptions{Wrote: func(path string, sum objects.Hash) bool { return sums[path] == sum }}
	wrote := func(path string, sum objects.Hash) { sums[path] = sum }
	steps := []struct {
		name, content string
		o             TreeOptions
		want          error
	}{
		{"of the user", "1", o, ErrExists},
		{"the same bytes", "mine", o, nil},
		{"written by mem", "2", o, nil},
		{"by force", "3", TreeOptions{Force: true}, nil},
		{"without a memory of it", "4", TreeOptions{}, ErrExists},
		{"in a dry run", "5", TreeOptions{DryRun: true}, ErrExists},
	}
	for _, s := range steps {
		before := content(t, file)
		if err := put(dir, "a", s.content, s.o, wrote); !errors.Is(err, s.want) {
			t.Errorf("%s: %v, want %v", s.name, err, s.want)
		}
		want := s.content
		if s.want != nil {
			want = before
		}
		if got := content(t, file); got != want {
			t.Errorf("%s: the file holds %q, want %q", s.name, got, want)
		}
	}
	write(t, file, "edited")
	if err := put(dir, "a", "6", o, wrote); !errors.Is(err, ErrExists) {
		t.Errorf("a file that was edited since: %v, want %v", err, ErrExists)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("it left %v, %v", left, err)
	}
}

// Of several files none is written if one may not be, and one that appears meanwhile stays.
func TestCommitAllOrNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "deep")
	tree, err := OpenTree(dir, TreeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tree.Stage("a", text("1")), tree.Stage("sub/b", text("2"))); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("no more")
	if err := tree.Stage("c", func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a source that fails: %v", err)
	}
	if err := tree.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory that is not needed stays: %v", err)
	}
	if tree, err = OpenTree(dir, TreeOptions{}); err != nil {
		t.Fatal(err)
	}
	if made := tree.Created(); len(made) != 2 || made[1] != dir {
		t.Errorf("created %q", made)
	}
	if err := tree.Stage("a", text("theirs")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a"), "mine")
	if err := errors.Join(tree.Commit(nil), tree.Close()); !errors.Is(err, ErrExists) {
		t.Errorf("a file that appeared: %v, want %v", err, ErrExists)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || content(t, filepath.Join(dir, "a")) != "mine" {
		t.Errorf("left %v, %v", left, err)
	}
}

// A dry run writes nothing and creates no directory.
func TestDryRun(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	if err := put(dir, "sub/a", "1", TreeOptions{DryRun: true}, nil); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory: %v", err)
	}
}

// TestSweep writes into a directory where a command was killed: its temporary file goes, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * abandoned)
	for name, at := range map[string]time.Time{
		"sub/.mem-4711-0": old, "sub/.mem-4711-1": time.Now(), "sub/.mem-4711-0.jsonl": old, "sub/mem-4711-0": old, ".mem-4711-0": old,
	} {
		if err := os.Chtimes(write(t, filepath.Join(dir, name), "x"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := put(dir, "sub/a.txt", "a", TreeOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, sub := range []string{"sub", "."} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got = append(got, e.Name())
		}
	}
	if want := []string{".mem-4711-0.jsonl", ".mem-4711-1", "a.txt", "mem-4711-0", ".mem-4711-0", "sub"}; !slices.Equal(got, want) {
		t.Errorf("there is %q, want %q", got, want)
	}
}

// A file is continued only if all of it is the beginning of the new one, and if nobody else goes on with it.
func TestContinue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		old, now string
		ok       bool
	}{
		{"one\n", "one\ntwo\n", true},
		{"", "one\n", true},
		{"one\n", "one\n", true},
		{"one\nmore\n", "one\n", false},
		{"one\n", "two\none\n", false},
		{"onE\n", "one\ntwo\n", false},
	} {
		for _, dry := range []bool{true, false} {
			dir := t.TempDir()
			path := write(t, filepath.Join(dir, "f"), c.old)
			err := put(dir, "f", c.now, TreeOptions{Continue: true, DryRun: dry}, nil)
			if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrExists) {
				t.Errorf("%q continued as %q: %v", c.old, c.now, err)
			}
			want := c.old
			if c.ok && !dry {
				want = c.now
			}
			if got := content(t, path); got != want {
				t.Errorf("%q continued as %q is %q, want %q", c.old, c.now, got, want)
			}
		}
	}
	dir := t.TempDir()
	path := write(t, filepath.Join(dir, "f"), "one\n")
	tree, err := OpenTree(dir, TreeOptions{Continue: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Stage("f", text("one\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("of the client\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(tree.Commit(nil), tree.Close()); !errors.Is(err, ErrExists) || content(t, path) != "one\nof the client\n" {
		t.Errorf("a file that went on meanwhile: %v, %q", err, content(t, path))
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
