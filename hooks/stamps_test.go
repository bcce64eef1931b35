package hooks

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStampOfSubagent changes the client's notes about a subagent: its file looks changed.
func TestStampOfSubagent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "session", "subagents")
	file, meta := filepath.Join(dir, "agent-1.jsonl"), filepath.Join(dir, "agent-1.meta.json")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "{}\n")
	write(meta, `{"agentType":"Explore"}`)
	before, ok := stat(file)
	write(meta, `{"agentType":"Explore","finished":true}`)
	if after, also := stat(file); !ok || !also || before == after {
		t.Errorf("stat is %+v, then %+v", before, after)
	}
}
