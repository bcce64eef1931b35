package hooks

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/state"
)

// TestContextFits lets a session start in a project with far more to say than fits, in scripts of every width: the answer stays below the
// limit of the settings in UTF-16 units, and says how much was left out.
func TestContextFits(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{"Look at the parser and its tests ", "가격을 반올림하지 마세요 ", "🙂🙃😀😁 "} {
		d := newDesk(t)
		for i := range 8 {
			d.write(fmt.Sprintf("old-%d", i), fmt.Sprintf("%d %s", i, strings.Repeat(piece, 40)))
		}
		d.hook("SessionStart", "new-0", nil)
		d.memory(func(m *layers.Memory, p state.Project) { d.rulesOf(m, p, piece, 36) })
		out := d.hook("SessionStart", "new-1", nil)
		text := contextOf(t, out)
		if units := brief.Units(text); units > d.settings.ContextSize || units < 1100 || !strings.Contains(text, "Left out, because it did not fit: ") || strings.Count(text, "<mem-context ") != 1 {
			t.Errorf("%q: %d units: %.300s", piece, units, text)
		}
		if n := strings.Count(text, " rules list`"); n != 1 {
			t.Errorf("%q: rules were left out, and the command that lists them is named %d times: ...%s", piece, n, text[max(0, len(text)-600):])
		}
		if again := d.hook("SessionStart", "new-1", map[string]any{"source": "resume"}); again != "" {
			t.Errorf("%q: resumed, it is handed over again: %.300s", piece, again)
		}
		if d.log() != "" {
			t.Error(d.log())
		}
	}
}

// FuzzNote reads notes that nobody left. What is read is written again with the same meaning.
func FuzzNote(f *testing.F) {
	good, err := note{Version: noteVersion, Event: settings.Stop, Session: "aaaa1111", Path: "/p/a.jsonl", Cwd: "/w", Time: time.Unix(1768917600, 0).UTC()}.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"v":1,"event":"Stop","session":"a","path":"/x","cwd":"","time":"2026-01-20T14:00:00Z"}` + "\n"))
	f.Add(bytes.Replace(good, []byte("Stop"), []byte("Stap"), 1))
	f.Add([]byte(sumLead))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := decodeNote(b)
		if err != nil {
			return
		}
		out, err := n.encode()
		if err != nil {
			return // a year that JSON does not write
		}
		if again, err := decodeNote(out); err != nil || again.Session != n.Session || again.Path != n.Path || again.Agent != n.Agent || !again.Time.Equal(n.Time) {
			t.Errorf("%q became %q: %+v, %v", b, out, again, err)
		}
		for i := range out {
			bad := bytes.Clone(out)
			bad[i] ^= 1
			if m, err := decodeNote(bad); err == nil && bytes.Contains(bad, []byte(sumLead)) {
				t.Fatalf("a bit of %q is wrong and %+v is read", bad, m)
			}
			if i > 300 {
				break
			}
		}
	})
}
