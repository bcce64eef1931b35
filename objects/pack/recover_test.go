package pack

import (
	"errors"
	"fmt"
	"maps"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// madePack writes a pack of n objects and returns its name, what is in it, and where each entry lies.
func madePack(t testing.TB, dir string, n int, seed uint64) (string, map[ID]string) {
	t.Helper()
	rng := mrand.New(mrand.NewPCG(seed, 2))
	w, err := Create(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	want := map[ID]string{}
	for i := range n {
		data := make([]byte, rng.IntN(3000))
		for j := range data {
			data[j] = byte(rng.Uint32() >> (i % 30))
		}
		e := Encode([]Kind{Blob, Tree, Commit, Tag}[i%4], data, i%10)
		want[e.ID] = string(data)
		if err := w.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	name, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	return name, want
}

// damages are ways to damage a file.
func damages(rng *mrand.Rand) map[string]func(b []byte) []byte {
	return map[string]func(b []byte) []byte{
		"a bit": func(b []byte) []byte { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8); return b },
		"a page": func(b []byte) []byte {
			at := rng.IntN(len(b))
			clear(b[at:min(at+4096, len(b))])
			b[at]++
			return b
		},
		"cut off":   func(b []byte) []byte { return b[:rng.IntN(len(b))] },
		"longer":    func(b []byte) []byte { return append(b, 'x') },
		"empty":     func(b []byte) []byte { return nil },
		"swapped":   func(b []byte) []byte { i := rng.IntN(len(b) - 40); b[i], b[i+39] = b[i+39]+1, b[i]; return b },
		"one byte":  func(b []byte) []byte { b[rng.IntN(len(b))] += byte(1 + rng.IntN(255)); return b },
		"its start": func(b []byte) []byte { b[rng.IntN(12)] ^= 1 << rng.IntN(8); return b },
		"its end":   func(b []byte) []byte { b[len(b)-1-rng.IntN(20)] ^= 1 << rng.IntN(8); return b },
	}
}

func damageFile(t testing.TB, file string, how func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(file), os.WriteFile(file, how(b), 0o400)); err != nil {
		t.Fatal(err)
	}
}

// contents reads all objects of a directory.
func contents(t testing.TB, dir string) map[ID]string {
	t.Helper()
	d := OpenDir(dir)
	defer d.Close()
	got := map[ID]string{}
	for id, err := range d.All() {
		if err != nil {
			t.Fatal(err)
		}
		_, b, err := d.Get(id)
		if err != nil {
			t.Fatal(err)
		}
		got[id] = string(b)
	}
	return got
}

// TestRecover damages a pack, its index or both in many ways. Every damage is seen, what is good is there afterwards and what is not is
// named, unless the index is damaged with its pack; the damaged files are kept, and a second look finds nothing to do.
func TestRecover(t *testing.T) {
	t.Parallel()
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	rng := mrand.New(mrand.NewPCG(5, 6))
	for round := range rounds {
		for how, f := range damages(rng) {
			for _, part := range [][]string{{".pack"}, {".idx"}, {".pack", ".idx"}} {
				dir, aside := t.TempDir(), filepath.Join(t.TempDir(), "aside")
				name, want := madePack(t, dir, 30, uint64(round))
				for _, ext := range part {
					damageFile(t, filepath.Join(dir, name+ext), f)
				}
				saved(t, fmt.Sprintf("%s of %v, round %d", how, part, round), dir, aside, want, part)
			}
		}
	}
}

func saved(t *testing.T, what, dir, aside string, want map[ID]string, part []string) {
	t.Helper()
	var found []Damage
	if _, err := Verify(dir, func(d Damage) { found = append(found, d) }); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if len(found) != 1 || found[0].Pack == nil && part[0] == ".pack" || found[0].Index == nil && part[len(part)-1] == ".idx" {
		t.Fatalf("%s: found %v", what, found)
	}
	plan, err := Recover(dir, "test", aside, found[0], true)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	r, err := Recover(dir, "test", aside, found[0], false)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if r.Objects != plan.Objects || len(r.Lost) != len(plan.Lost) {
		t.Errorf("%s: %+v, but it would be %+v", what, r, plan)
	}
	got := contents(t, dir)
	missing := 0
	for id, s := range want {
		if g, ok := got[id]; !ok {
			missing++
		} else if g != s {
			t.Errorf("%s: %s is another", what, id)
		}
	}
	if part[0] == ".idx" && missing > 0 || len(part) == 1 && part[0] == ".pack" && missing != len(r.Lost) {
		t.Errorf("%s: %d missing of %d, %+v", what, missing, len(want), r)
	}
	if missing > 0 && len(r.Lost) == 0 && !r.Unknown {
		t.Errorf("%s: %d missing, and nothing is said: %+v", what, missing, r)
	}
	kept := 2 // a good index of a damaged pack says what is lost
	if part[0] == ".idx" {
		kept = 1
	}
	files, err := os.ReadDir(aside)
	if err != nil || len(files) != kept {
		t.Errorf("%s: %d files were kept, %v", what, len(files), err)
	}
	if _, err := Verify(dir, func(d Damage) { t.Errorf("%s: still %v", what, d) }); err != nil {
		t.Error(err)
	}
}

// TestRecoverGit recovers packs of git, which contain deltas.
func TestRecoverGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	src := t.TempDir()
	git := func(stdin string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = src, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+src)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q", "--bare", ".")
	var ids strings.Builder
	want := map[ID]string{}
	text := strings.Repeat("a line that does not change much\n", 100)
	for i := range 50 {
		text = fmt.Sprintf("change %d\n", i) + text
		ids.WriteString(git(text, "hash-object", "-w", "--stdin"))
		want[Name(Blob, []byte(text))] = text
	}
	packs := filepath.Join(src, "objects", "pack")
	name := "pack-" + strings.TrimSpace(git(ids.String(), "pack-objects", "-q", filepath.Join(packs, "pack")))
	// With a damaged or missing index everything is received again, without deltas.
	for _, how := range []func([]byte) []byte{func(b []byte) []byte { b[500] ^= 4; return b }, func([]byte) []byte { return nil }} {
		dir := filepath.Join(t.TempDir(), "pack")
		if err := os.CopyFS(dir, os.DirFS(packs)); err != nil {
			t.Fatal(err)
		}
		damageFile(t, filepath.Join(dir, name+".idx"), how)
		r, err := Recover(dir, "test", t.TempDir(), Damage{Name: name, Index: ErrCorrupt}, false)
		if err != nil || r.Objects != len(want) {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := contents(t, dir); !maps.Equal(got, want) {
			t.Errorf("%d objects, want %d", len(got), len(want))
		}
		if names, err := listPacks(dir); err != nil || len(names) != 1 {
			t.Errorf("packs: %v, %v", names, err)
		}
	}
	// Of a damaged pack the objects that do not rest on the damaged one are whole afterwards.
	damageFile(t, filepath.Join(packs, name+".pack"), func(b []byte) []byte { b[len(b)-60] ^= 1; return b })
	r, err := Recover(packs, "test", t.TempDir(), Damage{Name: name, Pack: ErrCorrupt}, false)
	if err != nil || r.Objects == 0 || len(r.Lost) == 0 || r.Objects+len(r.Lost) != len(want) {
		t.Fatalf("%+v, %v", r, err)
	}
	got := contents(t, packs)
	for id, s := range got {
		if want[id] != s {
			t.Errorf("%s is another", id)
		}
	}
	if len(got) != r.Objects {
		t.Errorf("%d objects, want %d", len(got), r.Objects)
	}
}

// FuzzRecover recovers arbitrary bytes. Every recovered object has its name.
func FuzzRecover(f *testing.F) {
	good := Encode(Blob, []byte("hello"), 6)
	f.Add(rawPack(1, good.raw))
	f.Add(rawPack(2, good.raw, append(append(appendHeader(nil, offsetDelta, 4), byte(len(good.raw))), deflated([]byte{5, 1, 1, 'x'})...)))
	f.Add(rawPack(1, Encode(Blob, []byte("stored"), 0).raw)[3:])
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "pack-x.pack"), b, 0o400); err != nil {
			t.Fatal(err)
		}
		r, err := Recover(dir, "test", t.TempDir(), Damage{Name: "pack-x", Pack: ErrCorrupt, Index: ErrCorrupt}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := contents(t, dir); len(got) > r.Objects {
			t.Errorf("%d objects, %+v", len(got), r)
		}
	})
}
