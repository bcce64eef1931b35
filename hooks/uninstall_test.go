package hooks

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

// TestUninstallKeepsComments removes a hook next to others on its line, after a comment.
func TestUninstallKeepsComments(t *testing.T) {
	t.Parallel()
	const mine = `{"hooks":[{"type":"command","command":"mem","args":["hook","stop"]}]}`
	const other = `{"hooks":[{"type":"command","command":"beep"}]}`
	for _, end := range []string{"\n", "  \n", "\r\n", "\t\r\n"} {
		for list, want := range map[string]string{
			"// why" + end + " " + mine + ", " + other:  "[" + other + "]",
			other + ", // why" + end + " " + mine + " ": "[" + other + "]",
			"// why" + end + " " + mine + " ":           "",
		} {
			text := "{\"hooks\":{\"Stop\":[" + list + "]}, \"z\": 1}"
			out, err := settings.Uninstall([]byte(text))
			if err != nil {
				t.Errorf("Uninstall(%q): %v", text, err)
				continue
			}
			n, err := settings.ParseText(out)
			if err != nil {
				t.Errorf("Uninstall(%q) = %q: %v", text, out, err)
				continue
			}
			plain := string(n.Plain())
			if !strings.Contains(plain, `"z":1`) || !strings.Contains(plain, `"Stop":`+strings.TrimSuffix(want, "]")) {
				t.Errorf("Uninstall(%q) = %q", text, out)
			}
		}
	}
}
