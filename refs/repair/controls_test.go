package repair

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestControlFilesDamaged flips a bit of each byte of each control file: fsck finds it. A repair
// reports it and changes nothing: what a byte was is not guessed. Of the list of former commits the other lines stay. config.json and the
// notes of hooks have tests of their own (refs/config, hooks); the files in mem/known and hooks/*.off are empty.
func TestControlFilesDamaged(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(r.EditRemotes(ctx, func(l []refs.Remote) ([]refs.Remote, error) {
		return append(l, refs.Remote{Name: "origin", URL: "/r"}), nil
	}))
	must(r.EditSecret(ctx, "0123456789abcdef", func([]byte) ([]byte, error) {
		return []byte("{\n  \"format\": \"mem keys 1\",\n  \"keys\": [\n    \"AGE-SECRET-KEY-1\"\n  ]\n}\n"), nil
	}))
	must(r.WriteNote("forgotten.json", []byte("{\n  \"records\": [\n    \"ab12\"\n  ]\n}\n")))
	must(r.WriteNote("forgetting.json", []byte("{\n  \"projects\": [\n    \"0000000000000001\"\n  ]\n}\n")))
	a, b := pack.ID{1}, pack.ID{2}
	former := filepath.Join(refs.MemoryDir, "mem", refs.FormerDir, string(refs.Home)+"-"+r.Device().ID)
	must(os.MkdirAll(filepath.Dir(filepath.Join(r.Dir(), former)), 0o700))
	lines := refs.FormerLine(a.String()) + "\n" + refs.FormerLine(b.String()) + "\n"
	must(os.WriteFile(filepath.Join(r.Dir(), former), []byte(lines), 0o600))
	problems := func() (n int) {
		_, err := Check(ctx, r, false, func(Problem) { n++ })
		must(err)
		return n
	}
	if n := problems(); n != 0 {
		t.Fatalf("%d problems in a good store", n)
	}
	for _, name := range []string{lane.DeviceFile, "remotes.json", "keys/0123456789abcdef.json", "forgotten.json", "forgetting.json", former} {
		file := filepath.Join(r.Dir(), name)
		good, err := os.ReadFile(file)
		must(err)
		for i := range good {
			bad := bytes.Clone(good)
			bad[i] ^= 1 << (i % 7)
			must(os.WriteFile(file, bad, 0o600))
			if problems() == 0 {
				t.Errorf("%s: byte %d of %q is %q, and Check finds nothing", name, i, good, bad[i])
			}
			if i%16 != 0 && i < len(good)-1 {
				continue
			}
			fixes, err := FixFiles(r.Dir(), false)
			if err != nil {
				t.Fatal(err)
			}
			named := slices.IndexFunc(fixes, func(f Fix) bool { return f.Where == filepath.ToSlash(name) })
			got, _ := os.ReadFile(file)
			switch {
			case named < 0:
				t.Errorf("%s: byte %d: the repair does not name it: %v", name, i, fixes)
			case name == former:
				if rest, bad := validLines(got); bad > 0 || len(rest) > len(good) {
					t.Errorf("%s: byte %d: the repair made %q of it", name, i, got)
				}
			case !bytes.Equal(got, bad) || fixes[named].Done != "":
				t.Errorf("%s: byte %d: the repair made %q of it and says %q", name, i, got, fixes[named].Done)
			}
		}
		must(os.WriteFile(file, good, 0o600))
	}
	l := refs.Lane{Project: refs.Home, Device: r.Device().ID}
	for _, id := range []pack.ID{a, b} {
		if ok, err := r.Former(l, id); !ok || err != nil {
			t.Errorf("Former(%s) = %v, %v after the repair", id, ok, err)
		}
	}
}

// TestFormerKeepsGoodLines: of a file with a line that cannot be put right, the others stay.
func TestFormerKeepsGoodLines(t *testing.T) {
	t.Parallel()
	a, b := refs.FormerLine(pack.ID{1}.String()), pack.ID{2}.String()
	good, bad := validLines([]byte(a + "\nnonsense\n" + b + "\n"))
	if want := a + "\n" + b + "\n"; string(good) != want || bad != 1 {
		t.Errorf("validLines = %q, %d, want %q, 1", good, bad, want)
	}
}
