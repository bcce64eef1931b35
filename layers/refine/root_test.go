package refine

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestRoot gives calls from several working directories: the paths of all of them are relative to the first one, and a
// command has the directory that it runs in.
func TestRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cwd, input, want string // input: a file, or a command after "$ "
	}{
		{"/w/shop", "/w/shop/web/a.ts", "web/a.ts"},
		{"/w/shop/web", "/w/shop/web/a.ts", "web/a.ts"},
		{"/w/shop/web", "/w/shop/api/a.ts", "api/a.ts"},
		{"/w/shop/web", "src/a.ts", "web/src/a.ts"},
		{"/w/shop/.worktrees/b/web", "/w/shop/.worktrees/b/web/a.ts", "web/a.ts"},
		{"/w/other", "/w/other/a.ts", "a.ts"},
		{"/w/shop", "$ npm test", " in "},
		{"/w/shop", "$ cd web && npm test", " in web"},
		{"/w/shop", "$ cd /w/shop/web && npm test", " in web"},
		{"/w/shop/web", "$ npm test", " in web"},
		{"/w/shop/web", "$ cd .. && npm test", " in "},
		{"/w/shop/web", "$ cd $(git rev-parse --show-toplevel) && npm test", " in "},
		{"/w/shop", "$ cd /tmp/x && npm test", " in /tmp/x"},
		{"/w/shop", "$ npm test && cd web", " in "},
		{"/w/shop/.worktrees/b/web", "$ npm test", " in web"},
	} {
		call := fmt.Sprintf(`"name":"Read","input":{"file_path":%q}`, c.input)
		if cmd, ok := strings.CutPrefix(c.input, "$ "); ok {
			call = fmt.Sprintf(`"name":"Bash","input":{"command":%q}`, cmd)
		}
		src := `{"type":"user","uuid":"a","cwd":"/w/shop","message":{"role":"user","content":"go"}}` + "\n" +
			`{"type":"assistant","uuid":"b","parentUuid":"a","cwd":"` + c.cwd + `","message":{"role":"assistant","content":[{"type":"tool_use","id":"t",` + call + `}]}}` + "\n"
		var got []string
		for e, err := range Entries(strings.NewReader(string(l1(t, []byte(src), Full)))) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Role == "tool" {
				if e.Cmd != "" {
					e.Target = " in " + e.Dir
				}
				got = append(got, e.Target)
			}
		}
		if !slices.Equal(got, []string{c.want}) {
			t.Errorf("in %s, %s: %q, want %q", c.cwd, c.input, got, c.want)
		}
	}
}
