package layers

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/originals"
)

// TestForgetHuge forgets in messages that are larger than what is otherwise looked at of one: neither a word at their end nor all of them
// comes back when the file is captured again.
func TestForgetHuge(t *testing.T) {
	skipShort(t)
	t.Parallel()
	const word = "zaphod-beeblebrox-42"
	torn := `{"type":"user","torn ` + strings.Repeat("some words ", originals.HugeValue/11+1) + word + "\n"
	text := userLine(1, "small") + userLine(2, strings.Repeat("many words ", originals.HugeValue/11+1)+word) + torn + userLine(4, "small")
	for name, o := range map[string]forget.ForgetOptions{"value": {Secret: []byte(word)}, "since": {Since: time.Unix(0, 0)}} {
		m := newMemory(t, testOptions())
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		add(t, m, write(t, path, text))
		forgetText(t, m, o)
		if found := stays(t, word, []*Memory{m}); len(found) > 0 {
			t.Fatalf("%s: it stays in %v", name, found)
		}
		if a := add(t, m, write(t, path, text+userLine(5, "later")))[0]; a.Change != "grown" || a.NewValues != 1 {
			t.Errorf("%s: added again: %s, %d new", name, a.Change, a.NewValues)
		}
		if found := stays(t, word, []*Memory{m}); len(found) > 0 {
			t.Errorf("%s: it came back in %v", name, found)
		}
	}
}
