package refine

import (
	"fmt"
	"strings"
	"testing"
)

// TestBackground gives commands that run in the background, and how the client tells that they ended.
func TestBackground(t *testing.T) {
	t.Parallel()
	notice := func(id, summary string) string {
		return `{"type":"user","uuid":"d","message":{"role":"user","content":"<task-notification>\n<task-id>` + id +
			`</task-id>\n<status>completed</status>\n<summary>Background command \"x\" ` + summary + `</summary>\n</task-notification>"}}`
	}
	fetch := func(id, result string) string {
		return `{"type":"assistant","uuid":"d","message":{"role":"assistant","content":[{"type":"tool_use","id":"u","name":"TaskOutput","input":{"task_id":"` + id + `"}}]}}` + "\n" +
			`{"type":"user","uuid":"e","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"u","content":"` + result + `"}]}}`
	}
	for _, c := range []struct{ name, line, then, want string }{
		{"a notice", "npm test", notice("b1", "completed (exit code 0)"), "npm test 0 passed"},
		{"a notice of a failure", "npm test", notice("b1", "failed with exit code 1"), "npm test 1 failed"},
		{"the status is that of a pipe", "npm test | tail -3", notice("b1", "completed (exit code 0)"), "npm test | tail -3 0 "},
		{"the output is not known", "go build ./... | tail -3", notice("b1", "completed (exit code 0)"), "go build ./... | tail -3 0 "},
		{"it was stopped", "npm test", notice("b1", "was stopped"), ""},
		{"another one", "npm test", notice("b2", "completed (exit code 0)"), ""},
		{"its output", "npm test | tail -9", fetch("b1", `<retrieval_status>success</retrieval_status>\n<status>completed</status>\n<exit_code>0</exit_code>\n<output>\nTest Suites: 1 failed, 1 total\n</output>`), "npm test | tail -9 0 failed"},
		{"it still runs", "npm test", fetch("b1", `<status>running</status>\n<output>\nTest Suites: 1 failed, 1 total\n</output>`), ""},
	} {
		src := `{"type":"user","uuid":"a","message":{"role":"user","content":"go"}}` + "\n" +
			`{"type":"assistant","uuid":"b","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"` + c.line + `","run_in_background":true}}]}}` + "\n" +
			`{"type":"user","uuid":"c","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"Command running in background with ID: b1. Output is being written to: /tmp/b1.output"}]}}` + "\n" +
			c.then + "\n"
		got := ""
		for e, err := range Entries(strings.NewReader(string(l1(t, []byte(src), Full)))) {
			if err != nil {
				t.Fatal(err)
			}
			if e.N > 2 && e.Cmd != "" {
				got = fmt.Sprintf("%s %d %s", e.Cmd, e.Exit, e.Verdict)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
