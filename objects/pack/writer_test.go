package pack_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/pack"
)

// childDir names a directory in which this binary writes and merges packs until it is killed.
const childDir = "PACK_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		fmt.Fprintln(os.Stderr, writeForEver(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForEver prints the name of every object that is on stable storage.
func writeForEver(dir string) error {
	for i := 0; ; i++ {
		w, err := pack.Create(dir, "child")
		if err != nil {
			return err
		}
		var names strings.Builder
		for j := range 4 {
			e := pack.Encode(pack.Blob, randomBytes(uint64(os.Getpid()*1000+4*i+j), 1000+i%3*400_000), 0)
			if err := w.Add(e); err != nil {
				return err
			}
			fmt.Fprintln(&names, e.ID)
		}
		if _, err := w.Close(); err != nil {
			return err
		}
		fmt.Print(names.String())
		if i%4 == 3 {
			if _, err := pack.Merge(dir, "child"); err != nil {
				return err
			}
			if err := pack.Expire(dir, 0); err != nil {
				return err
			}
		}
	}
}

func TestKilledWriter(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo", "objects", "pack")
	for _, sub := range []string{".", "../../refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "../../HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	said := map[pack.ID]bool{}
	left := 0
	kills := 12
	if testing.Short() {
		kills = 4
	}
	for i := range kills {
		wait := [...]string{"", "tmp_pack_", "tmp_idx_"}[i%3]
		for _, line := range strings.Fields(runAndKill(t, dir, i*41, wait)) {
			id, err := pack.ParseID(line)
			if err != nil {
				t.Fatal(err)
			}
			said[id] = true
		}
		for _, name := range list(t, dir) {
			if strings.HasPrefix(name, "tmp_") {
				left++
			}
		}
		d := pack.OpenDir(dir)
		for id := range said {
			if _, _, err := d.Get(id); err != nil {
				t.Errorf("after kill %d: %v", i, err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := pack.Sweep(dir, "child"); err != nil {
			t.Error(err)
		}
		for _, name := range list(t, dir) {
			if strings.HasPrefix(name, "tmp_") {
				t.Errorf("Sweep leaves %s", name)
			}
		}
	}
	t.Logf("%d objects, %d temporary files left by kills", len(said), left)
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED, NOTHING IS KNOWN ABOUT GIT: ", err)
	}
	out, err := exec.Command("git", "-C", filepath.Join(dir, "../.."), "fsck", "--full", "--strict", "--no-dangling").CombinedOutput()
	if err != nil || strings.Contains(string(out), "error") {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

// runAndKill runs a child until it has said n bytes and a file whose name begins with wait is
// there, and returns what it said.
func runAndKill(t *testing.T, dir string, n int, wait string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(out, head); err != nil {
		t.Fatalf("child: %v %s", err, errs.String())
	}
	for tries := 0; wait != "" && tries < 5000 && !strings.Contains(" "+strings.Join(list(t, dir), " "), " "+wait); tries++ {
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if errs.Len() > 0 {
		t.Fatalf("child: %s", errs.String())
	}
	all := string(head) + string(rest)
	return all[:strings.LastIndexByte(all, '\n')+1]
}

// Every flipped bit of a pack or an index is found out: what is read is right or ErrCorrupt.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var entries []pack.Entry
	content := map[pack.ID]string{}
	for i := range 4 {
		b := randomBytes(uint64(i), 300)
		e := pack.Encode(pack.Blob, b, i%2*6)
		entries = append(entries, e)
		content[e.ID] = string(b)
	}
	name := writePack(t, dir, entries...)
	for _, ext := range []string{".pack", ".idx"} {
		path := filepath.Join(dir, name+ext)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		step := 1
		if testing.Short() {
			step = 7
		}
		for i := 0; i < len(good); i += step {
			bad := append([]byte(nil), good...)
			bad[i] ^= byte(1 << (i % 8))
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			damaged := 0
			d := pack.OpenDir(dir)
			for id, want := range content {
				_, got, err := d.Get(id)
				switch {
				case errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrDelta):
					damaged++
				case err != nil || string(got) != want:
					t.Fatalf("Get with byte %d of %s flipped: %q, %v", i, ext, got, err)
				}
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
			if ext == ".idx" && damaged != len(content) {
				t.Errorf("byte %d of the index flipped: %d objects found damaged, want all", i, damaged)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVerify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := writePack(t, dir, pack.Encode(pack.Blob, randomBytes(1, 300), 6))
	verify := func() (bad []string) {
		t.Helper()
		if _, err := pack.Verify(dir, func(d pack.Damage) {
			if d.Pack != nil {
				bad = append(bad, fmt.Sprint(d.Name, ".pack: ", d.Pack))
			}
			if d.Index != nil {
				bad = append(bad, fmt.Sprint(d.Name, ".idx: ", d.Index))
			}
		}); err != nil {
			t.Fatal(err)
		}
		return bad
	}
	if bad := verify(); len(bad) != 0 {
		t.Errorf("Verify of a good pack: %v", bad)
	}
	for _, file := range []string{name + ".idx", name + ".pack"} {
		path := filepath.Join(dir, file)
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range good {
			bad := append([]byte(nil), good...)
			bad[i] ^= 4
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if bad := verify(); len(bad) != 1 || !strings.HasPrefix(bad[0], file) {
				t.Fatalf("Verify with byte %d of %s flipped: %v", i, file, bad)
			}
		}
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
