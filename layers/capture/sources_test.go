package capture

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSubagentsOfFile finds no subagents where a file has the name of the session's directory.
func TestSubagentsOfFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"abc", "abc.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Subagents(filepath.Join(dir, "abc.jsonl")); len(got) > 0 || err != nil {
		t.Errorf("Subagents = %v, %v, want none", got, err)
	}
	if src := SourceOf(filepath.Join(dir, "abc.jsonl")); len(src.Files) > 0 || src.filesErr != nil {
		t.Errorf("SourceOf = %v, %v, want no files", src.Files, src.filesErr)
	}
}
