package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExposed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for file, mode := range map[string]fs.FileMode{
		filepath.Join(dir, "private"):    0o600,
		filepath.Join(dir, "readable"):   0o644,
		filepath.Join(dir, "writable"):   0o602,
		filepath.Join(dir, "executable"): 0o711,
		outside:                          0o666,
	} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "open"): 0o755} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}

	got, err := Exposed(dir, false)
	if err != nil || got.Open != 4 || got.Foreign != 0 || !strings.HasPrefix(got.First, filepath.Join(dir, "executable")) {
		t.Errorf("Exposed = %+v, %v; want the directory and three files, the first of them executable", got, err)
	}
	if fixed, err := Exposed(dir, true); err != nil || fixed != got {
		t.Errorf("Exposed with fix = %+v, %v; want what it found before, %+v", fixed, err, got)
	}
	if again, err := Exposed(dir, false); err != nil || again != (Exposure{}) {
		t.Errorf("after a fix: %+v, %v", again, err)
	}
	for path, want := range map[string]fs.FileMode{
		filepath.Join(dir, "open"): 0o700, filepath.Join(dir, "executable"): 0o700, filepath.Join(dir, "writable"): 0o600,
		outside: 0o666, // a link is not followed
	} {
		if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v: %v", path, fi.Mode().Perm(), want, err)
		}
	}
	if _, err := Exposed(filepath.Join(dir, "none"), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Exposed of a missing store = %v", err)
	}
}

func TestCheckPrivate(t *testing.T) {
	t.Parallel()
	for mode, safe := range map[fs.FileMode]bool{0o700: true, 0o755: true, 0o770: false, 0o702: false, 0o720: false} {
		dir := t.TempDir()
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := CheckPrivate(dir); (err == nil) != safe || err != nil && !errors.Is(err, ErrUnsafe) {
			t.Errorf("CheckPrivate of mode %v = %v, want safe == %v", mode, err, safe)
		}
	}
	file := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckPrivate(file); !errors.Is(err, ErrNotRepo) {
		t.Errorf("CheckPrivate of a file = %v, want ErrNotRepo", err)
	}
	if err := CheckPrivate(file + "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("CheckPrivate of nothing = %v, want ErrNotExist", err)
	}
}

// TestMatch lists files of a directory whose name is a pattern itself.
func TestMatch(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a[b]*")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p2.pack", "p1.pack", "p1.idx", "q.pack"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Match(dir, "p*.pack")
	if want := []string{filepath.Join(dir, "p1.pack"), filepath.Join(dir, "p2.pack")}; err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("Match = %v, %v; want %v", got, err, want)
	}
	if got, err := Match(dir+"x", "*"); err != nil || got != nil {
		t.Errorf("Match in a missing directory = %v, %v", got, err)
	}
	if _, err := Match(dir, "["); err == nil {
		t.Error("Match with a malformed pattern succeeds")
	}
	if _, err := Match(filepath.Join(dir, "q.pack"), "*"); err == nil {
		t.Error("Match in a file succeeds")
	}
}
