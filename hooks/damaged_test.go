package hooks

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDamagedProject loses the newest commit of a project: its notes stay, and sessions of others are captured all the same.
func TestDamagedProject(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "How does the parser work?")
	d.hook("Stop", "aaaa1111", nil)
	bad, good := d.cwd, filepath.Join(d.dir, "v")
	d.cwd = good
	d.write("bbbb2222", "What is this?")
	d.hook("Stop", "bbbb2222", nil)
	packs := func() map[string]bool {
		files, err := filepath.Glob(filepath.Join(d.store(), "memory.git", "objects", "pack", "*"))
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]bool{}
		for _, f := range files {
			out[f] = true
		}
		return out
	}
	d.cwd = bad
	before := packs()
	d.write("aaaa1111", "How does the parser work?", "And the lexer?")
	d.hook("Stop", "aaaa1111", nil)
	lost := 0
	for f := range packs() {
		if !before[f] {
			lost++
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.RemoveAll(filepath.Join(d.store(), "cache")); lost == 0 || err != nil {
		t.Fatal(lost, err)
	}
	d.write("aaaa1111", "How does the parser work?", "And the lexer?", "And the rest?")
	d.hook("Stop", "aaaa1111", nil)
	if n := Spooled(d.store()); n != 1 {
		t.Fatalf("%d notes of the damaged project, want one; %s", n, d.log())
	}
	d.cwd, d.now = good, d.now.Add(time.Second)
	d.write("bbbb2222", "What is this?", "And that?")
	d.hook("Stop", "bbbb2222", nil)
	if n := d.messages("bbbb2222"); n != 4 || Spooled(d.store()) != 1 {
		t.Errorf("%d messages of the other project, want 4; %d notes; %s", n, Spooled(d.store()), d.log())
	}
	d.write("bbbb2222", "What is this?", "And that?", "And those?")
	d.hook("SessionStart", "cccc3333", nil)
	if n := d.messages("bbbb2222"); n != 6 {
		t.Errorf("%d messages after a start there, want 6; %s", n, d.log())
	}
}
