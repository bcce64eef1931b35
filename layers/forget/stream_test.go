package forget_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/originals"
)

// TestForgetHuge forgets in messages that are larger than what is otherwise looked at of one: neither a word at their end nor all of them
// comes back when the file is captured again.
func TestForgetHuge(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	const word = "zaphod-beeblebrox-42"
	torn := `{"type":"user","torn ` + strings.Repeat("some words ", originals.HugeValue/11+1) + word + "\n"
	text := layerstest.UserLine(1, "small") + layerstest.UserLine(2, strings.Repeat("many words ", originals.HugeValue/11+1)+word) + torn + layerstest.UserLine(4, "small")
	for name, o := range map[string]forget.ForgetOptions{"value": {Secret: []byte(word)}, "since": {Since: time.Unix(0, 0)}} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		path := filepath.Join(t.TempDir(), "s1.jsonl")
		layerstest.Add(t, m, layerstest.Write(t, path, text))
		layerstest.ForgetText(t, m, o)
		if a := layerstest.Add(t, m, layerstest.Write(t, path, text+layerstest.UserLine(5, "later")))[0]; a.Change != "grown" || a.NewValues != 1 {
			t.Errorf("%s: added again: %s, %d new", name, a.Change, a.NewValues)
		}
		if found := layerstest.Stays(t, word, []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("%s: it stays, or came back, in %v", name, found)
		}
	}
}
