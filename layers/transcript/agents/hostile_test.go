package agents

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParentID: what a file names as the parent is an id that a record can contain.
func TestParentID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"": "", "ses_1": "ses_1", "0199aaaa-0000-7000-8000-000000000001": "0199aaaa-0000-7000-8000-000000000001",
		"../x": "_.._x", "-rf": "_-rf", "a:b\n": "a_b_", strings.Repeat("a", 300): strings.Repeat("a", 200),
	} {
		if got := parentID(id); got != want {
			t.Errorf("parentID(%q) = %q, want %q", id, got, want)
		}
	}
}

// TestOpenCodeFiles: the id in a file is no path, and a field of another type does not stop the session.
func TestOpenCodeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"storage/session/p/ses_1.json":  `{"id":"../../../private","directory":"/w"}`,
		"storage/session/p/ses_2.json":  `{"id":"ses_2","directory":"/w","version":2,"parentID":"../x"}`,
		"storage/message/ses_2/m1.json": `{"id":"m1","role":"user","time":{"created":1}}`,
		"storage/message/keep":          "",
		"private/key.json":              `{"secret":1}`,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	list, err := OpenCode{}.Sessions(dir)
	var file *FileError
	if !errors.As(err, &file) || filepath.Base(file.Path) != "ses_1.json" || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if list[0].ID != "ses_2" || list[0].Parent != "_.._x" || slices.ContainsFunc(list[0].Files, func(path string) bool {
		return strings.Contains(path, "private")
	}) {
		t.Errorf("%v", list[0])
	}
	for _, err := range (OpenCode{}).Values(list[0]) {
		if err != nil {
			t.Error(err)
		}
	}
}
