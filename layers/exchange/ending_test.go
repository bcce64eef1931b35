package exchange_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
)

// TestEndingBeside holds that the files of another worktree count if no file of the directory of the session was changed.
func TestEndingBeside(t *testing.T) {
	t.Parallel()
	const beside = `{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool","name":"Edit","target":"../shop-worktree/a.go:3","diff":"+x","result":"ok"}
{"n":3,"role":"tool","name":"Write","target":"/tmp/probe.go","diff":"+x","result":"ok"}
`
	for more, want := range map[string]string{
		"": "changed, and no commit seen: ../shop-worktree/a.go (#1)",
		`{"n":4,"role":"tool","name":"Edit","target":"b.go","diff":"+y","result":"ok"}`: "changed, and no commit seen: b.go (#1)",
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(beside+more)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := exchange.LeftAt(xs); !strings.Contains(got, want) {
			t.Errorf("the end is %q, want %q", got, want)
		}
	}
}

// TestEndingRed holds that the end names a check that is still red beside a narrower one that passed after it.
func TestEndingRed(t *testing.T) {
	t.Parallel()
	const begin = `{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool","name":"Edit","target":"a.go:3","diff":"+x","result":"ok"}
`
	const failed = `{"n":3,"role":"tool","name":"Bash","cmd":"%s","exit":1,"result":"FAIL","verdict":"failed"}
`
	const edited = `{"n":4,"role":"tool","name":"Edit","target":"a.go:3","diff":"+y","result":"ok"}
`
	const committed = `{"n":5,"role":"tool","name":"Bash","cmd":"git commit -am one","result":"ok"}
`
	const passed = `{"n":9,"role":"tool","name":"Bash","cmd":"go test ./cmd -run TestPage","result":"ok","verdict":"passed"}`
	for _, c := range []struct {
		cmd, more string
		red       bool
	}{
		{"go test ./... -cover", "", true},
		{"go test ./... -cover", edited, true},
		{"npm run build", "", true},
		{"npm run build", edited, false},
		{"go test ./... -cover", committed, false},
		{"go test ./cmd -run TestPage", "", false},
		{"go test ./cmd -run TestPage/dark", "", false},
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(begin+fmt.Sprintf(failed, c.cmd)+c.more+passed)), nil)
		if err != nil {
			t.Fatal(err)
		}
		want := "; last check: go test ./cmd -run TestPage passed (#1)"
		if c.red {
			want += ", but " + c.cmd + " failed before it (#1) and nothing that covers it passed"
		}
		if got, _ := exchange.LeftAt(xs); !strings.Contains(got+";", want+"; the last") {
			t.Errorf("after %s: the end is %q, want %q", c.cmd, got, want)
		}
	}
}

// TestEndingCommitted holds that a check that failed is said to be before the commit that followed it.
func TestEndingCommitted(t *testing.T) {
	t.Parallel()
	xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool","name":"Edit","target":"a.go:3","diff":"+x","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"go test ./...","exit":1,"result":"FAIL","verdict":"failed"}
{"n":4,"role":"tool","name":"Bash","cmd":"git commit -am one","result":"ok"}`)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := exchange.LeftAt(xs); !strings.Contains(got, "last check: go test ./... exit 1 (#1), before the commit") {
		t.Errorf("the end is %q", got)
	}
}

// TestEnding holds that an ending names only what exit statuses prove.
func TestEnding(t *testing.T) {
	t.Parallel()
	const done = `{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool","name":"Edit","target":"a.go:3","diff":"+x","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"git commit -m \"a: fix it\"","result":"ok"}
`
	const edited = `{"n":4,"role":"tool","name":"Edit","target":"b.go","diff":"+y","result":"ok"}
`
	for name, c := range map[string]struct {
		more            string
		commits, pushed int
		subject         string
		changed         int
	}{
		"committed": {"", 1, 0, "a: fix it", 0},
		"edited after": {`{"n":4,"role":"tool","name":"Edit","target":"b.go","diff":"+y","result":"ok"}`, 1, 0,
			"a: fix it", 1},
		"pushed":       {`{"n":4,"role":"tool","name":"Bash","cmd":"git push","result":"ok"}`, 1, 4, "a: fix it", 0},
		"push failed":  {`{"n":4,"role":"tool","name":"Bash","cmd":"git push","exit":1,"result":"rejected"}`, 1, 0, "a: fix it", 0},
		"push in pipe": {`{"n":4,"role":"tool","name":"Bash","cmd":"git push 2>&1 | tail -3","result":"ok"}`, 1, 0, "a: fix it", 0},
		"push refused": {`{"n":4,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}`, 1, 0, "a: fix it", 0},
		"no result":    {`{"n":4,"role":"tool","name":"Bash","cmd":"git push"}`, 1, 0, "a: fix it", 0},
		"piped, by its output": {edited + `{"n":5,"role":"tool","name":"Bash","cmd":"git commit -m 'b: go on' | tail -5","result":"ok","done":["git commit"]}`,
			2, 0, "b: go on", 0},
		"failed all the same": {edited + `{"n":5,"role":"tool","name":"Bash","cmd":"rtk git commit -m x","result":"ok","verdict":"failed"}`,
			1, 0, "a: fix it", 1},
		"made and removed": {`{"n":4,"role":"tool","name":"Write","target":"probe.ts","diff":"+y","result":"ok"}
{"n":5,"role":"tool","name":"Bash","cmd":"npx tsx probe.ts; rm -f ./probe.ts","result":"ok"}`, 1, 0, "a: fix it", 0},
		"removed, and made again": {`{"n":4,"role":"tool","name":"Bash","cmd":"rm b.go","result":"ok"}
{"n":5,"role":"tool","name":"Write","target":"b.go","diff":"+y","result":"ok"}`, 1, 0, "a: fix it", 1},
		"an old file changed and removed": {`{"n":4,"role":"tool","name":"Edit","target":"b.go:7","diff":"+y","result":"ok"}
{"n":5,"role":"tool","name":"Bash","cmd":"git rm -f b.go","result":"ok"}`, 1, 0, "a: fix it", 1},
		"restored": {`{"n":4,"role":"tool","name":"Edit","target":"x/b.go:7","diff":"+y","result":"ok"}
{"n":5,"role":"tool","name":"Bash","cmd":"git checkout -- x/","result":"ok"}`, 1, 0, "a: fix it", 0},
		"a removal that failed": {`{"n":4,"role":"tool","name":"Write","target":"b.go","diff":"+y","result":"ok"}
{"n":5,"role":"tool","name":"Bash","cmd":"rm b.go","exit":1,"result":"rm: denied"}`, 1, 0, "a: fix it", 1},
		"only rehearsed": {`{"n":4,"role":"tool","name":"Bash","cmd":"git push --dry-run","result":"ok"}`, 1, 0, "a: fix it", 0},
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(done+c.more)), nil)
		if err != nil {
			t.Fatal(err)
		}
		e := exchange.EndingOf(xs)
		if e.Commits != c.commits || e.Push.N != c.pushed || e.Commit.Subject() != c.subject || len(e.Changed) != c.changed {
			t.Errorf("%s: %d commits, pushed in %d, subject %q, %d files changed; want %+v", name, e.Commits, e.Push.N,
				e.Commit.Subject(), len(e.Changed), c)
		}
	}
}

// TestGone holds what an exchange undid: only what a command surely removed or restored.
func TestGone(t *testing.T) {
	t.Parallel()
	const (
		made   = `{"n":2,"role":"tool","name":"Write","target":"src/drain.go","diff":"+x","result":"ok"}` + "\n"
		edited = `{"n":3,"role":"tool","name":"Edit","target":"src/queue.go:7","diff":"-a\n+b","result":"ok"}` + "\n"
	)
	for cmd, want := range map[string]string{
		"rm src/drain.go":                   "src/drain.go",
		"rm -rf src":                        "src/drain.go",
		"git checkout -- src/queue.go":      "src/queue.go",
		"git checkout -- .":                 "src/queue.go", // what git does not know stays
		"git restore --staged src/queue.go": "",
		"git rm --cached src/drain.go":      "",
		"cd /tmp/try && rm -rf src && ls":   "",
		"rm -f /tmp/try/src/drain.go":       "",
		"git checkout -- queue.go":          "",
		"git restore -S src/queue.go":       "",
		"git restore -S -W src/queue.go":    "src/queue.go",
	} {
		for _, stopped := range []bool{false, true} {
			result, want := "ok", want
			if stopped {
				result, want = "[Request interrupted by user for tool use]", ""
			}
			xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"user","text":"Fix it."}`+"\n"+made+edited+
				fmt.Sprintf(`{"n":4,"role":"tool","name":"Bash","cmd":%q,"result":%q}`, cmd, result))), nil)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for file, gone := range xs[0].Gone() {
				if gone {
					got += file
				}
			}
			if got != want {
				t.Errorf("%s, %s: gone is %q, want %q", cmd, result, got, want)
			}
		}
	}
}

// TestStopped holds that a call that the user stopped, or that did not run, changed nothing.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, result := range []string{"[Request interrupted by user for tool use]", "Cancelled: parallel tool call Bash(x) errored", "Sibling tool call errored"} {
		for _, call := range []string{`"name":"Edit","target":"queue.go:3","diff":"+x"`, `"name":"Bash","cmd":"sed -i s/a/b/ queue.go"`} {
			xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool",`+call+`,"result":"`+result+`"}`)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if x := xs[0]; len(x.Edits)+len(x.Commands)+len(x.Failures) > 0 {
				t.Errorf("%s, %s: %+v", call, result, x)
			}
		}
	}
}

// TestUncommitted holds that a change is called uncommitted only if no command after it may have committed it.
func TestUncommitted(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`"cmd":"git status","result":"ok"`:                                      false,
		`"cmd":"git commit -m x | tail","result":"ok"`:                          true,
		`"cmd":"git -C /x commit --amend --no-edit | tail","result":"ok"`:       true,
		`"cmd":"git add a.go\ngit commit -m x\ngit push","result":"ok"`:         true,
		`"cmd":"bash <<EOF\nnix develop -c git commit -m x\nEOF","result":"ok"`: true,
		`"cmd":"git commit --dry-run","result":"ok"`:                            false,
		`"cmd":"git commit -m x | tail","exit":1,"result":"nothing to commit"`:  false,
		`"cmd":"rtk git commit -m x","verdict":"failed","result":"ok"`:          false,
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"user","text":"Fix it."}
{"n":2,"role":"tool","name":"Edit","target":"a.go:3","diff":"+x","result":"ok"}
{"n":3,"role":"tool","name":"Bash",`+line+"}\n")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(exchange.EndingOf(xs).Uncommitted()) == 0; got != want {
			t.Errorf("%s: may be committed %t, want %t", line, got, want)
		}
	}
}

// TestChangedAfter holds that files which changed after somebody told of a commit, a push or a merge are not committed, and that
// files elsewhere do not count.
func TestChangedAfter(t *testing.T) {
	t.Parallel()
	edit := func(n int, file string) exchange.Edit { return exchange.Edit{N: n, File: file} }
	for text, want := range map[string]string{
		"The changes were already committed in a previous session.": "b.go",
		"Merged and pushed.":               "b.go",
		"The PR is now merged to main.":    "b.go",
		"It will be merged next week.":     "a.go b.go",
		"The two parsers became one file.": "a.go b.go",
	} {
		e := exchange.EndingOf([]exchange.Exchange{{From: 1, To: 9, Texts: []exchange.Said{{N: 3, Text: text}},
			Edits: []exchange.Edit{edit(2, "a.go"), edit(4, "b.go"), edit(5, "~/.claude/plans/x.md"), edit(6, "../other/y.go"), edit(7, `C:\x\z.go`)}}})
		var got []string
		for _, f := range e.Uncommitted() {
			got = append(got, f.Path)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: not committed %q, want %q", text, s, want)
		}
	}
}

// TestCommittedInLog holds that a log which the user pasted says nothing of the changes of the session.
func TestCommittedInLog(t *testing.T) {
	t.Parallel()
	log := "--- FAIL: TestA (0.1s)\n    hooks.go:209: output: Copied a.go\n        Created branch x and committed changes\n    a_test.go:3: got 1\nFAIL"
	for request, want := range map[string]int{log: 1, "I committed it, and it was pushed.": 0} {
		e := exchange.EndingOf([]exchange.Exchange{{From: 1, To: 2, Edits: []exchange.Edit{{N: 2, File: "a.go"}}},
			{From: 3, To: 4, Request: exchange.Said{N: 3, Text: request}}})
		if got := len(e.Uncommitted()); got != want {
			t.Errorf("after %q %d files are not committed, want %d", request, got, want)
		}
	}
}

// TestEndingCheck holds that the last check is a command that tests, lints or builds.
func TestEndingCheck(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		"go test ./...":                       "go test ./...",
		"mise run lint":                       "mise run lint",
		"cd x && go vet ./... 2>&1 | tail -3": "go vet ./... 2>&1 | tail -3",
		"cat > /tmp/x_test.go << 'EOF'\npackage main\nimport \"testing\"\nEOF":    "",
		"cat > /tmp/x_test.go << 'EOF'\npackage main\nEOF\ngo vet /tmp/x_test.go": "go vet /tmp/x_test.go",
		"cd x; go test -run \"TestX|TestY\" .":                                    "go test -run \"TestX|TestY\" .",
		"golangci-lint --version":                                                 "",
		"grep -rn test . | head":                                                  "",
		"git commit -m 'fix the build and test'":                                  "",
		"bd create --title=\"detection is lost\" --description=\"Files:\n- lib/x.ex\n\nDone:\n- mix test passes\n\"": "",
	} {
		line, err := json.Marshal(map[string]any{"n": 1, "role": "tool", "name": "Bash", "cmd": cmd, "result": "ok", "verdict": "passed"})
		if err != nil {
			t.Fatal(err)
		}
		xs, err := exchange.Of(refine.Entries(bytes.NewReader(line)), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := exchange.EndingOf(xs).Check.Cmd; got != want {
			t.Errorf("%q: last check %q, want %q", cmd, got, want)
		}
	}
}

// TestEndingTold holds that an ending does not contradict what somebody says of commits after the last one.
func TestEndingTold(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{
		"The earlier changes were already committed in a previous session.": {true, false},
		"Committed as `b5cf65b`.":                         {true, false},
		"b5cf65b was already pushed.":                     {false, true},
		"I've committed and pushed it.":                   {true, true},
		"The commit succeeded, the hook only rewrote it.": {true, false},
		"The commit did not land, it never succeeded.":    {false, false},
		"The changes are not yet committed.":              {false, false},
		"Nothing was committed.":                          {false, false},
		"Once it is committed, the hook runs.":            {false, false},
		"If the change was committed, condense it.":       {false, false},
		"Should I commit this?":                           {false, false},
		"There are uncommitted changes.":                  {false, false},
		"I see it is fine. The work was committed today.": {true, false},
	} {
		e := exchange.EndingOf([]exchange.Exchange{{From: 1, To: 2, Texts: []exchange.Said{{N: 2, Text: text}}}})
		if got := [2]bool{e.Committed, e.Pushed}; got != want {
			t.Errorf("%q: committed, pushed %v, want %v", text, got, want)
		}
	}
}

// TestErrorLines holds that lines that look like errors make no failure of a command that succeeded.
func TestErrorLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]int{
		`"cmd":"git diff","result":"ok","errors":["+ return Error{}"]`:                                    0,
		`"cmd":"git commit -m x","result":"ok","errors":["error: Item 3 failed"]`:                         0,
		`"cmd":"git show x:y | head -5","result":"ok","errors":["fatal: path 'y' does not exist in 'x'"]`: 1,
		`"cmd":"gh run view 7 --log | head","result":"ok","errors":["lint Run failed"]`:                   0,
		`"cmd":"go test ./... | tail","verdict":"failed","result":"ok","errors":["--- FAIL: TestX"]`:      1,
		`"cmd":"make","exit":2,"result":"no rule"`:                                                        1,
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"tool","name":"Bash",`+line+"}\n")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(xs[0].Failures); got != want {
			t.Errorf("%s: %d failures, want %d", line, got, want)
		}
	}
}

// TestCauses has outputs of tests with the errors that passing tests provoke: they are not why the run failed.
func TestCauses(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`"cmd":"bun test","verdict":"failed","proof":"3 fail","result":"ok","errors":["error: Item 3 failed"]`:                                    "3 fail",
		`"cmd":"bun test","verdict":"failed","failed":["queue > retries"],"result":"ok","errors":["error: Item 3 failed"]`:                        "failed: queue > retries",
		`"cmd":"go test","verdict":"failed","failed":["TestX"],"result":"ok","errors":["--- FAIL: TestX","x_test.go:12: got 3","ERROR provoked"]`: "--- FAIL: TestX|x_test.go:12: got 3",
		`"cmd":"go test","verdict":"failed","proof":"FAIL x [build failed]","result":"ok","errors":["x.go:3:2: undefined: y"]`:                    "x.go:3:2: undefined: y",
		`"cmd":"cargo build","verdict":"failed","proof":"error: could not compile","result":"ok","errors":["error: no such crate"]`:               "error: no such crate",
	} {
		xs, err := exchange.Of(refine.Entries(strings.NewReader(`{"n":1,"role":"tool","name":"Bash",`+line+"}\n")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(xs[0].Failures[0].Lines, "|"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
