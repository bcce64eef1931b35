package lane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// chain commits n times and returns the commits, oldest first.
func chain(t testing.TB, g *gitstore.Repo, n int, message func(i int) string) (commits []pack.ID) {
	t.Helper()
	var tip pack.ID
	for i := range n {
		tip = commit(t, g, tip, message(i), files{fmt.Sprintf("f%d", i): text(i)})
		commits = append(commits, tip)
	}
	return commits
}

func plain(int) string { return "" }

func TestCommitsSince(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := chain(t, g, 4, plain)
	other := commit(t, g, pack.ID{}, "restart\n\nMem-Lamport: 9\n", nil)
	for i, x := range []struct {
		tip, have pack.ID
		limit     int
		want      []pack.ID
		follows   bool
		fails     bool
	}{
		{c[3], pack.ID{}, 4, c, true, false},
		{c[3], c[1], 4, c[2:], true, false},
		{c[3], c[3], 4, nil, true, false},
		{c[1], c[3], 4, c[:2], false, false}, // went backwards
		{other, c[3], 4, []pack.ID{other}, false, false},
		{pack.ID{}, c[3], 4, nil, false, false},
		{pack.ID{}, pack.ID{}, 4, nil, true, false},
		{c[3], pack.ID{}, 3, nil, false, true},
		{c[3], c[0], 3, c[1:], true, false}, // the limit is for what is new
	} {
		got, follows, err := CommitsSince(t.Context(), g, x.tip, x.have, x.limit)
		if !slices.Equal(got, x.want) || follows != x.follows || (err != nil) != x.fails {
			t.Errorf("case %d: %v, %v, %v; want %v, %v, fails %v", i, got, follows, err, x.want, x.follows, x.fails)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := CommitsSince(ctx, g, c[3], pack.ID{}, 4); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled walk: %v", err)
	}
	lose(t, g, c[1])
	if got, _, err := CommitsSince(t.Context(), g, c[3], pack.ID{}, 4); !errors.Is(err, pack.ErrNotFound) || got != nil {
		t.Errorf("a walk over a lost commit: %v, %v; want no commits", got, err)
	}
	var seen []pack.ID
	for a, err := range Ancestors(t.Context(), g, c[3]) {
		seen = append(seen, a.ID)
		if (err != nil) != (a.ID == c[1]) {
			t.Errorf("Ancestors at %s: %v", a.ID, err)
		}
	}
	if want := []pack.ID{c[3], c[2], c[1]}; !slices.Equal(seen, want) {
		t.Errorf("Ancestors = %v, want %v: the last is the one that cannot be read", seen, want)
	}
}

// TestAdditions reads what each commit adds: every object of the lane exactly once, and of equal content only the first.
func TestAdditions(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := []pack.ID{commit(t, g, pack.ID{}, "", files{"a/x": "same"})}
	c = append(c, commit(t, g, c[0], "", files{"a/y": "new", "b/x": "same"}))
	c = append(c, commit(t, g, c[1], "nothing\n\nMem-Lamport: 3\n", nil))
	blob := func(s string) pack.ID { return pack.Name(pack.Blob, []byte(s)) }

	all, seen := map[pack.ID]struct{}{}, map[pack.ID]struct{}{}
	var sizes []int
	for a, err := range Additions(t.Context(), g, c, seen) {
		if err != nil {
			t.Fatal(err)
		}
		if a.Commit != c[len(sizes)] || a.Objects[len(a.Objects)-1] != a.Commit {
			t.Errorf("addition %d is of %s and ends in %s", len(sizes), a.Commit, a.Objects[len(a.Objects)-1])
		}
		for _, id := range a.Objects {
			if _, twice := all[id]; twice {
				t.Errorf("%s is added twice", id)
			}
			all[id] = struct{}{}
		}
		sizes = append(sizes, len(a.Objects))
	}
	// commit, root, format, a, "same"; then commit, root, a, "new" (b is what a was); then the commit alone.
	if want := []int{5, 4, 1}; !slices.Equal(sizes, want) {
		t.Errorf("the commits add %v objects, want %v", sizes, want)
	}
	reachable := map[pack.ID]struct{}{}
	if err := AddReachable(t.Context(), g, c[2], reachable); err != nil {
		t.Fatal(err)
	}
	for id := range reachable {
		if _, ok := all[id]; !ok {
			t.Errorf("%s is reachable, and no commit adds it", id)
		}
	}
	if len(all) != len(reachable) {
		t.Errorf("%d objects are added, %d are reachable", len(all), len(reachable))
	}

	// Only the commits after the first: what it has is not added again.
	since := map[pack.ID]struct{}{}
	for _, err := range Additions(t.Context(), g, c[1:], since) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := since[blob(Format)]; ok {
		t.Error("an unchanged file is added")
	}
	if _, ok := since[blob("new")]; !ok {
		t.Error("a new file is not added")
	}
	for a, err := range Additions(t.Context(), g, c[2:], map[pack.ID]struct{}{}) {
		if err != nil || len(a.Objects) != 1 {
			t.Errorf("a commit that changes nothing adds %d objects, %v", len(a.Objects), err)
		}
	}
}

func TestDiffer(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	tree := func(fs files) pack.ID {
		c, err := g.Commit(commit(t, g, pack.ID{}, "", fs))
		if err != nil {
			t.Fatal(err)
		}
		return c.Tree
	}
	old := tree(files{"a/1": "1", "a/2": "2", "b": "b", "d/1": "1"})
	for name, x := range map[string]struct {
		now  pack.ID
		want string
	}{
		"nothing":               {old, ""},
		"a file changes":        {tree(files{"a/1": "other", "a/2": "2", "b": "b", "d/1": "1"}), "tree a, changed a/1"},
		"a file is added":       {tree(files{"a/1": "1", "a/2": "2", "a/3": "3", "b": "b", "d/1": "1"}), "tree a, new a/3"},
		"a file is removed":     {tree(files{"a/1": "1", "b": "b", "d/1": "1"}), "tree a, removed a/2"},
		"a file is a directory": {tree(files{"a/1": "1", "a/2": "2", "b/x": "x", "d/1": "1"}), "tree b, removed b"},
		"a directory is a file": {tree(files{"a/1": "1", "a/2": "2", "b": "b", "d": "d"}), "removed d"},
		"a directory is new":    {tree(files{"a/1": "1", "a/2": "2", "b": "b", "d/1": "1", "e/1": "1"}), "tree e, new e/1"},
	} {
		var got []string
		d := Differ{Git: g,
			Tree: func(path []string, _ pack.ID) (bool, error) {
				got = append(got, "tree "+strings.Join(path, "/"))
				return true, nil
			},
			Blob: func(path []string, _, was pack.ID) error {
				word := "changed "
				if was.IsZero() {
					word = "new "
				}
				got = append(got, word+strings.Join(path, "/"))
				return nil
			},
			Removed: func(path []string) error { got = append(got, "removed "+strings.Join(path, "/")); return nil },
		}
		if err := d.Diff(nil, x.now, old); err != nil || strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %q, %v; want %q", name, strings.Join(got, ", "), err, x.want)
		}
	}
	var fresh []string
	additions := Differ{Git: g, Tree: func([]string, pack.ID) (bool, error) { return true, nil },
		Blob: func(path []string, _, _ pack.ID) error {
			fresh = append(fresh, strings.Join(path, "/"))
			return nil
		}}
	now := tree(files{"a/1": "1", "a/2": "2", "b/x": "x", "d": "d"})
	if err := additions.Diff(nil, now, old); err != nil || !slices.Equal(fresh, []string{"b/x", "d"}) {
		t.Errorf("without Removed the differences are %v, %v", fresh, err)
	}
	skipping := Differ{Git: g, Tree: func([]string, pack.ID) (bool, error) { return false, nil },
		Blob: func(path []string, _, _ pack.ID) error {
			if len(path) > 1 {
				return fmt.Errorf("%v is in a directory that is not entered", path)
			}
			return nil
		}}
	if err := skipping.Diff(nil, old, pack.ID{}); err != nil {
		t.Error(err)
	}
	deep := tree(files{strings.Repeat("a/", MaxPath) + "a": "1"})
	follow := Differ{Git: g, Tree: func([]string, pack.ID) (bool, error) { return true, nil },
		Blob: func([]string, pack.ID, pack.ID) error { return nil }}
	if err := follow.Diff(nil, deep, pack.ID{}); !errors.Is(err, gitstore.ErrTree) {
		t.Errorf("directories deeper than those of a lane: %v, want ErrTree", err)
	}
	if err := follow.Diff(nil, tree(files{strings.Repeat("a/", MaxPath-1) + "a": "1"}), pack.ID{}); err != nil {
		t.Errorf("directories as deep as those of a lane: %v", err)
	}
}

func TestTrailers(t *testing.T) {
	t.Parallel()
	for message, want := range map[string][]string{
		"subject\n":                                {},
		"subject\n\nMem-Op: add\n":                 {"Mem-Op: add"},
		"subject\n\nbody\n\nMem-Op: add\nMem-A: b": {"Mem-Op: add", "Mem-A: b"},
		"subject\n\nMem-Op: add\n\n\n":             {"Mem-Op: add"},
		"":                                         {},
		"a\n\nMem-Op: forged\n\nMem-Op: true\n":    {"Mem-Op: true"}, // only the last paragraph counts
	} {
		if got := Trailers(message); !slices.Equal(got, want) {
			t.Errorf("Trailers(%q) = %q, want %q", message, got, want)
		}
	}
}

func TestLamportAndEpoch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message        string
		lamport, epoch uint64
		noTime, bad    bool
	}{
		{"a\n\nMem-Lamport: 7\n", 7, 0, false, false},
		{"a\n\nMem-Epoch: 3\nMem-Lamport: 7\n", 7, 3, false, false},
		{"a\n\nMem-Lamport: 7\nMem-Lamport: 9\n", 7, 0, false, false},
		{"a\n\nMem-Lamport: 7x\n", 0, 0, true, false},
		{"a\n\nMem-Lamport: -1\n", 0, 0, true, false},
		{"a\n\nMem-Epoch: 9223372036854775808\nMem-Lamport: 1\n", 1, 0, false, true}, // 1 << 63
		{"a\n\nMem-Epoch: \nMem-Lamport: 1\n", 1, 0, false, true},
		{"Mem-Lamport: 7\n", 0, 0, true, false},
	} {
		g := gitstore.Commit{Message: c.message}
		if n, err := LamportOf(g); (err != nil) != c.noTime || err == nil && n != c.lamport {
			t.Errorf("LamportOf(%q) = %d, %v; want %d", c.message, n, err, c.lamport)
		}
		if n, err := EpochOf(g); (err != nil) != c.bad || err == nil && n != c.epoch {
			t.Errorf("EpochOf(%q) = %d, %v; want %d", c.message, n, err, c.epoch)
		}
	}
}

// TestEpochAt reads the epoch from the first commit of a lane: what later commits claim does not count.
func TestEpochAt(t *testing.T) {
	t.Parallel()
	g := newGit(t)
	c := chain(t, g, 3, func(i int) string { return fmt.Sprintf("a\n\nMem-Epoch: %d\nMem-Lamport: 1\n", 5+i) })
	for _, tip := range c {
		if n, err := EpochAt(t.Context(), g, tip); n != 5 || err != nil {
			t.Errorf("EpochAt(%s) = %d, %v; want 5", tip, n, err)
		}
	}
	if n, err := EpochAt(t.Context(), g, pack.ID{}); n != 0 || err != nil {
		t.Errorf("EpochAt of no lane = %d, %v", n, err)
	}
	lose(t, g, c[0])
	if _, err := EpochAt(t.Context(), g, c[2]); !errors.Is(err, pack.ErrNotFound) {
		t.Errorf("EpochAt of a lane without its first commit = %v", err)
	}
}

func TestCommitRef(t *testing.T) {
	t.Parallel()
	device, project := strings.Repeat("a", 32), strings.Repeat("b", 16)
	good := gitstore.Commit{Email: device + "@mem.invalid", Message: "a\n\nMem-Project: " + project + "\nMem-Lamport: 1\n"}
	if ref, ok := CommitRef(good); !ok || ref != Ref(Project(project), device) {
		t.Errorf("CommitRef = %s, %v", ref, ok)
	}
	for what, change := range map[string]func(*gitstore.Commit){
		"an address of a person": func(c *gitstore.Commit) { c.Email = "a@example.org" },
		"no device":              func(c *gitstore.Commit) { c.Email = "short@mem.invalid" },
		"no project":             func(c *gitstore.Commit) { c.Message = "a\n\nMem-Lamport: 1\n" },
		"a project with a path":  func(c *gitstore.Commit) { c.Message = "a\n\nMem-Project: ../../heads/main\n" },
	} {
		c := good
		change(&c)
		if ref, ok := CommitRef(c); ok {
			t.Errorf("%s: CommitRef = %s", what, ref)
		}
	}
}

func TestEntry(t *testing.T) {
	t.Parallel()
	c := gitstore.Commit{Name: "desk", Time: time.Unix(1e9, 0), Parent: pack.ID{2},
		Message: "add abc\n\nmore\n\nMem-Op: add\nMem-Lamport: 7\n"}
	e, err := NewEntry("p", pack.ID{1}, "d", c)
	if err != nil || e.Subject != "add abc" || e.Lamport != 7 || e.Parent != c.Parent.String() || e.Commit != (pack.ID{1}).String() {
		t.Errorf("NewEntry = %+v, %v", e, err)
	}
	if op, none := e.Trailer("Op"), e.Trailer("O"); op != "add" || none != "" {
		t.Errorf("trailers %q and %q", op, none)
	}
	c.Parent = pack.ID{}
	if e, err := NewEntry("p", pack.ID{1}, "d", c); err != nil || e.Parent != "" {
		t.Errorf("the first commit of an epoch has the parent %q, %v", e.Parent, err)
	}
	c.Message = "by hand\n"
	if _, err := NewEntry("p", pack.ID{1}, "d", c); err == nil || !strings.Contains(err.Error(), (pack.ID{1}).String()) {
		t.Errorf("a commit without trailers: %v, want an error with its id", err)
	}
}
