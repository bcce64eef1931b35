package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStranded: a note that the spool does not take is left in the temporary directory and folded in by the next hook for which the
// spool is right again. A directory there that others may write is not used, nor are notes in it read.
func TestStranded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("open-1", "Hello")
	d.hook("Stop", "open-1", nil)
	spool, temp := filepath.Join(d.store(), "spool"), filepath.Join(d.dir, "tmp")
	block := func() {
		t.Helper()
		if err := os.RemoveAll(spool); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(spool, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	block()
	for _, e := range []string{"Stop", "SessionEnd", "PreCompact"} {
		d.write("lost-"+strings.ToLower(e), "Where does this go?")
		d.hook(e, "lost-"+strings.ToLower(e), nil)
	}
	if dir, n := FallbackNotes(d.store(), temp); n != 3 || !strings.Contains(d.log(), "left in "+dir) {
		t.Errorf("%d notes in %s; %s", n, dir, d.log())
	}
	if err := os.Remove(spool); err != nil {
		t.Fatal(err)
	}
	d.write("open-1", "Hello", "again")
	d.hook("Stop", "open-1", nil)
	if dir, n := FallbackNotes(d.store(), temp); n != 0 || d.stored() != 4 {
		t.Errorf("%d notes left in %s, %d sessions; %s", n, dir, d.stored(), d.log())
	}

	dir := fallbackDirOf(d.store(), temp)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	block()
	d.write("lost-2", "Where does this go?")
	d.hook("Stop", "lost-2", nil)
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("%d notes in a directory of everybody, %v", len(files), err)
	}
}
