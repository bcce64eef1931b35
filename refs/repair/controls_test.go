package repair

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/disk"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/refstest"
)

// TestControlFilesDamaged flips a bit of each byte of each control file: fsck finds it. A repair
// reports it and changes nothing: what a byte was is not guessed. config.json and the
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
	_, err := r.AddFormer(ctx, refs.Home, []pack.ID{{1}, {2}})
	must(err)
	problems := func() (n int) {
		_, err := Check(ctx, r, false, func(Problem) { n++ })
		must(err)
		return n
	}
	if n := problems(); n != 0 {
		t.Fatalf("%d problems in a good store", n)
	}
	for _, name := range []string{lane.DeviceFile, "remotes.json", "keys/0123456789abcdef.json", "forgotten.json", refs.FormerFile} {
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
			case !bytes.Equal(got, bad) || fixes[named].Done != "":
				t.Errorf("%s: byte %d: the repair made %q of it and says %q", name, i, got, fixes[named].Done)
			}
		}
		must(os.WriteFile(file, good, 0o600))
	}
}

// TestFixFormer restarts a lane and damages, empties or removes the list of its former commits: a repair lists what the
// remotes were seen to have, or something, so that the next check finds nothing.
func TestFixFormer(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string]func(file string) error{
		"removed": os.Remove,
		"emptied": func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"no lanes": func(file string) error {
			return os.WriteFile(file, disk.WithSum([]byte("{\n  \"lanes\": {}\n}\n")), 0o600)
		},
		"cut": func(file string) error { return os.Truncate(file, 30) },
	} {
		for _, seen := range []bool{false, true} {
			r := refstest.New(t)
			refstest.Populate(t, r)
			l := refstest.OwnLane(t, r)
			if seen {
				if err := r.EditRemotes(t.Context(), func(all []refs.Remote) ([]refs.Remote, error) {
					return append(all, refs.Remote{Name: "origin", URL: "/r", Marks: map[string]refs.Mark{l.Ref(): {Tip: l.Tip.String()}}}), nil
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Rewrite(t.Context(), refstest.Project, "restart", func(old, tx *refs.Tx) error {
				_, err := tx.Add("set", map[string]string{"target": "y"})
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if former, err := r.Former(l, l.Tip); !former || err != nil {
				t.Fatalf("%s: Former before the damage = %v, %v", what, former, err)
			}
			if err := damage(filepath.Join(r.Dir(), refs.FormerFile)); err != nil {
				t.Fatal(err)
			}
			problems := 0
			if _, err := Check(t.Context(), r, false, func(Problem) { problems++ }); err != nil || problems == 0 {
				t.Errorf("%s: %d problems, %v", what, problems, err)
			}
			fixes, err := FixFiles(r.Dir(), false)
			if err != nil {
				t.Fatal(err)
			}
			if planned, err := FixFormer(t.Context(), r, slices.Clone(fixes), true); err != nil || len(planned) != 1 || planned[0].Done == "" {
				t.Errorf("%s: a dry run plans %+v, %v", what, planned, err)
			}
			fixes, err = FixFormer(t.Context(), r, fixes, false)
			damaged := what == "cut" || what == "emptied"
			if err != nil || len(fixes) != 1 || fixes[0].Done == "" || (fixes[0].Kept != "") != damaged {
				t.Errorf("%s: the repair is %+v, %v; want one, with the damaged file if there is one", what, fixes, err)
			}
			if former, err := r.Former(l, l.Tip); err != nil || former != seen {
				t.Errorf("%s: after the repair Former = %v, %v; want what the remote was seen to have, %v", what, former, err, seen)
			}
			if _, err := Check(t.Context(), r, false, func(p Problem) { t.Errorf("%s: after the repair: %+v", what, p) }); err != nil {
				t.Error(err)
			}
		}
	}
}
