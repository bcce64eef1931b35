package refine

import (
	"fmt"
	"strings"
	"testing"
)

// TestUntoldStatus: old clients wrote no exit status; an error of a command is its failure there, unless it did not run. Of new ones
// an error without a status proves nothing.
func TestUntoldStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ version, output, want string }{
		{"1.0.98", "> Build error occurred", "failed"},
		{"2.0.5", "Error", "failed"},
		{"1.0.98", "<tool_use_error>no such tool</tool_use_error>", ""},
		{"1.0.98", "[Request interrupted by user for tool use]", ""},
		{"1.0.98", "Command timed out after 2m 0.0s", ""},
		{"2.1.39", "BLOCKED by a hook", ""},
		{"2.0.76", "Permission for this action was denied", ""},
		{"2.1.39", "Exit code 1\\nno", "failed"},
		{"", "no", ""},
	} {
		src := `{"type":"assistant","uuid":"b","version":"` + c.version + `","cwd":"/w","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"npm run build"}}]}}
` + fmt.Sprintf(`{"type":"user","uuid":"c","parentUuid":"b","version":%q,"cwd":"/w","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"%s"}]}}`, c.version, c.output) + "\n"
		for e, err := range Entries(strings.NewReader(string(l1(t, []byte(src), Full)))) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Role == "tool" && e.Verdict != c.want {
				t.Errorf("%s, %q: %q, want %q", c.version, c.output, e.Verdict, c.want)
			}
		}
	}
}
