package refs

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
)

// TestNewerFormat takes the place of a newer mem, which writes another format into a lane: this one then
// neither reads nor writes it.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("SKIPPED: there is no git")
	}
	ctx := context.Background()
	r := newRepo(t)
	add := func(tx *Tx) error { _, err := tx.Add("set", map[string]string{"a": "b"}); return err }
	if err := r.Update(ctx, testProject, "one", add); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(r.dir, "memory.git")
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@x"}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ref := run("", "for-each-ref", "--format=%(refname)", "refs/heads/p/"+string(testProject))
	blob := run("mem 2\n", "hash-object", "-w", "--stdin")
	var tree []string
	for line := range strings.Lines(run("", "ls-tree", ref)) {
		meta, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name == "format" {
			meta = "100644 blob " + blob
		}
		tree = append(tree, meta+"\t"+name+"\n")
	}
	commit := run("", "commit-tree", "-p", ref, "-m", "newer", run(strings.Join(tree, ""), "mktree"))
	run("", "update-ref", ref, commit)

	newer, err := Open(r.dir, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	for name, read := range map[string]func(*Tx) error{
		"Records":   func(tx *Tx) error { _, err := tx.Records(ctx, nil); return err },
		"RecordIDs": func(tx *Tx) error { _, err := tx.RecordIDs(); return err },
		"Get":       func(tx *Tx) error { _, err := tx.Get(ctx, objects.Sum(nil)); return err },
		"Find":      func(tx *Tx) error { _, err := tx.Find("abcd"); return err },
		"Segments":  func(tx *Tx) error { _, err := tx.Segments(objects.Sum(nil)); return err },
	} {
		if err := newer.View(ctx, testProject, read); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
	if err := newer.Update(ctx, testProject, "two", add); !errors.Is(err, ErrFormat) {
		t.Errorf("Update: %v, want ErrFormat", err)
	}
	if got := run("", "rev-parse", ref); got != commit {
		t.Errorf("the lane went to %s", got)
	}
}
