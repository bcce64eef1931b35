package capture

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputs holds that a session has the output of its own commands in the background, and of no other file that a text
// names.
func TestOutputs(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(tmp, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	flat, nested := write("claude-501/-w-shop/tasks/b1.output"), write("claude-501/-w-shop/aaaa1111/tasks/b2.output")
	long := write("claude-501/-w-shop/aaaa1111/tasks/b6.output")
	if err := os.Truncate(long, 1<<30); err != nil {
		t.Fatal(err)
	}
	others := write("claude-501/-w-other/aaaa1111/tasks/b3.output")
	private, fake := write("home/id_rsa"), write("claude-501/-w-shop/aaaa1111/b4.output")
	link := filepath.Join(tmp, "claude-501", "-w-shop", "tasks", "b5.output")
	if err := os.Symlink(private, link); err != nil {
		t.Skip(err)
	}
	text := func(path string) string {
		return `<task-notification>\n<task-id>b1</task-id>\n<output-file>` + path + `</output-file>\n<summary>done</summary>\n</task-notification>`
	}
	user := func(text string) string { return `{"type":"user","message":{"role":"user","content":"` + text + `"}}` }
	for _, c := range []struct{ line, want string }{
		{user(text(flat)), flat},
		{user(text(nested)), nested},
		{user(text(long)), long},
		{`{"type":"queue-operation","operation":"enqueue","content":"` + text(nested) + `"}`, nested},
		{`{"type":"attachment","attachment":{"type":"queued_command","prompt":"` + text(nested) + `"}}`, nested},
		{user(text(others)), ""},
		{user(text(private)), ""},
		{user(text(fake)), ""},
		{user(text(link)), ""},
		{user(text(flat + "/../b1.output")), ""},
		{user(text(filepath.Join(tmp, "claude-501", "-w-shop", "tasks", "gone.output"))), ""},
		{user("see " + text(flat)), ""},
		{`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + text(flat) + `"}]}}`, ""},
		{`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text(flat) + `"}]}}`, ""},
	} {
		file := filepath.Join(tmp, "-w-shop", "s.jsonl")
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		whole := strings.Repeat(`{"type":"user","message":{"role":"user","content":"more"}}`+"\n", 9000) + c.line + "\n"
		if err := os.WriteFile(file, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
		f, size, err := OpenSource(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Capture{src: Source{Path: file}, File: f, size: size}).outputs(0, size)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s\n names %q, %v; want %q", c.line, got, err, c.want)
		}
		f.Close()
	}
}
