//go:build e2e

package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
)

// insideNotes lets the client write notes of its own: the hooks capture each of its changes with the session that made
// it, and what a user changed by hand. A worktree has the memory of its repository. What is restored is what the client
// reads.
func insideNotes(t *testing.T) {
	d := newDesk(t)
	d.git("init", "-q", "-b", "main", d.work)
	if err := errors.Join(os.MkdirAll(filepath.Join(d.Home, ".claude"), 0o700),
		os.Symlink(".claude", filepath.Join(d.Home, "claude"))); err != nil { // where mem looks outside of a hook
		t.Fatal(err)
	}
	memory := filepath.Join(d.Home, ".claude", "projects", capture.ClientDir(d.work), "memory")
	file, topic := filepath.Join(memory, "MEMORY.md"), filepath.Join(memory, "prices.md")

	write := func(path, text string) []block {
		return []block{{tool: "Write", in: map[string]any{"file_path": path, "content": text}}}
	}
	d.api.script(write(topic, "Prices are int64 cents.\n"), write(file, "- prices.md: heron cents\n"), []block{{text: "Saved."}})
	first := d.print("remember that prices are cents")
	d.wants("by the session that wrote it", []string{"notes", "log", "MEMORY.md"}, "memory/MEMORY.md@{0}", first.SessionID[:8])
	d.wants("its other note", []string{"notes", "show", "prices.md"}, "Prices are int64 cents.")

	d.api.script([]block{{tool: "Read", in: map[string]any{"file_path": file}}},
		[]block{{tool: "Edit", in: map[string]any{"file_path": file, "old_string": "heron cents", "new_string": "walrus cents"}}},
		[]block{{text: "Changed."}})
	second := d.print("it is the walrus")
	d.wants("the edit", []string{"notes", "diff", "MEMORY.md"}, "-- prices.md: heron cents", "+- prices.md: walrus cents", second.SessionID[:8])

	if err := os.WriteFile(file, []byte("- prices.md: by the user\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.wants("what is not captured", []string{"status"}, "memory/MEMORY.md (+1 -1 lines)")
	before := len(d.api.asked())
	d.print("hello")
	d.wants("a change by hand", []string{"notes", "log", "MEMORY.md"}, "by hand")
	d.reached(before, "by the user")

	d.ok("-C", d.work, "notes", "restore", "MEMORY.md@{1}")
	before = len(d.api.asked())
	d.print("and now?")
	d.reached(before, "walrus cents")

	// In a worktree the client reads the memory of the repository.
	tree := filepath.Join(d.Home, "tree")
	d.git("-C", d.work, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "one")
	d.git("-C", d.work, "worktree", "add", "-q", tree)
	before, d.work = len(d.api.asked()), tree
	d.print("in the tree")
	d.reached(before, "walrus cents")
	d.wants("the notes in a worktree", []string{"notes", "show", "MEMORY.md"}, "walrus cents")
	if err := os.WriteFile(file, []byte("- prices.md: of the tree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.print("again in the tree")
	d.wants("a change seen from a worktree", []string{"notes", "show", "MEMORY.md"}, "of the tree")

	// Auto memory off: nothing is captured.
	settings := filepath.Join(d.Home, ".claude", "settings.json")
	if err := os.WriteFile(settings, []byte(`{"autoMemoryEnabled": false}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("- private\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.print("without memory")
	if out := d.ok("-C", d.work, "notes", "show", "MEMORY.md"); strings.Contains(out, "private") {
		t.Errorf("auto memory is off, and mem has captured\n%s", out)
	}
	d.fsck("after the notes")
}

// wants checks that mem prints some texts in the directory of the work.
func (d *desk) wants(what string, args []string, texts ...string) {
	d.t.Helper()
	out, err := exec.Command("sleep", "1").CombinedOutput() // the worker of SessionEnd
	if err != nil {
		d.t.Fatal(err, out)
	}
	printed := d.ok(append([]string{"-C", d.work}, args...)...)
	for _, text := range texts {
		if !strings.Contains(printed, text) {
			d.t.Errorf("%s: mem %s lacks %q:\n%s", what, strings.Join(args, " "), text, printed)
		}
	}
}

// reached checks that a text reached the API since a request.
func (d *desk) reached(since int, text string) {
	d.t.Helper()
	for _, req := range d.api.asked()[since:] {
		for _, m := range req.Messages {
			if strings.Contains(m.text(), text) {
				return
			}
		}
		if strings.Contains(req.body, text) {
			return
		}
	}
	d.t.Errorf("the client did not read %q", text)
}
