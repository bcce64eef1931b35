package exchange

import "testing"

// TestMade holds that issues and pull requests that calls made are known, and no call that failed or made nothing.
func TestMade(t *testing.T) {
	t.Parallel()
	for call, want := range map[string]string{
		`"name":"mcp__linear__create_issue","target":"{\"title\":\"Read  \\\"a\\\" twice\",\"team\":\"x\"}","result":"ok"`: `issue "Read "a" twice"`,
		`"name":"mcp__github__create_pull_request","target":"{\"title\":\"Queue\"}","result":"ok"`:                         `pull request "Queue"`,
		`"name":"mcp__linear__create_issue","target":"{\"title\":\"Queue\"}","result":"error: no team"`:                    "",
		`"name":"mcp__linear__get_issue","target":"{\"title\":\"Queue\"}","result":"ok"`:                                   "",
		`"name":"Bash","cmd":"git push && gh pr create --draft --title \"Queue: drain\" --body x","result":"ok"`:           `pull request "Queue: drain"`,
		`"name":"Bash","cmd":"gh issue create --title=Queue","result":"ok"`:                                                `issue "Queue"`,
		`"name":"Bash","cmd":"gh issue create -t Queue","exit":1,"result":"no login"`:                                      "",
		`"name":"Bash","cmd":"gh pr view --title Queue","result":"ok"`:                                                     "",
	} {
		xs := of(t, `{"n":1,"role":"tool",`+call+"}\n")
		got := ""
		for _, m := range xs[0].Made() {
			got += m.Text
		}
		if got != want {
			t.Errorf("%s: made %q, want %q", call, got, want)
		}
	}
}

// TestWritten holds that files which a command writes are changed files.
func TestWritten(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		"cat > a.go <<'EOF'\\npackage a\\nEOF":               "a.go",
		"cat <<EOF > web/a.ts\\nx > y.txt\\nEOF\\ncat b.go":  "web/a.ts",
		"echo x >> notes.md && sed -i s/a/b/ c.go":           "notes.md c.go",
		"echo x | tee conf/d.toml":                           "conf/d.toml",
		"go test ./... > out.txt":                            "",
		"cat > /tmp/a.sh <<EOF\\nx\\nEOF":                    "",
		"echo x > $DIR/a.go; echo 1 >&2; echo y > /dev/null": "",
	} {
		got := ""
		for i, e := range of(t, `{"n":1,"role":"tool","name":"Bash","cmd":"`+cmd+`","result":"ok"}`+"\n")[0].Edits {
			if i > 0 {
				got += " "
			}
			got += e.File
		}
		if got != want {
			t.Errorf("%s: wrote %q, want %q", cmd, got, want)
		}
	}
	if xs := of(t, `{"n":1,"role":"tool","name":"Bash","cmd":"echo x > a.go","dir":"web","result":"ok"}`+"\n"); len(xs[0].Edits) != 1 || xs[0].Edits[0].File != "web/a.go" {
		t.Errorf("in a directory: %v", xs[0].Edits)
	}
}
