package handover

import (
	"testing"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// TestOptionOfAnother checks that an option is only missed in the program that misses it.
func TestOptionOfAnother(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cmd, message string
		is           bool
	}{
		{"cat -A x.go", "cat: illegal option -- A", true},
		{"/bin/cat -A x.go", "cat: illegal option -- A", true},
		{"python3 tools/gen.py --fast", "gen.py: error: unrecognized arguments: --fast", true},
		{"go test -fast ./...", "flag provided but not defined: -fast", true},
		{"bun test --fast", "error: unknown option '--fast'", true},
		{"rg -n tax -g '*.go' .", "grep: invalid option -- g", false},
	} {
		e := refine.Entry{N: 1, Role: "tool", Name: "Bash", Cmd: c.cmd, Exit: 1, Result: c.message}
		if f, ok := formOf(e, shell.Parse(c.cmd)); ok != c.is {
			t.Errorf("%s: %s: %+v, %v", c.cmd, c.message, f, ok)
		}
	}
}

// TestForms checks which reason is found for a command that failed, and which command after it mends it.
func TestForms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cmd, message, why, then, fix string }{
		{"poetry run task lint", "Command not found: task", "there is no program task", "poetry run ruff check .", ""},
		{"sed -i 's/a/b/' f.txt", `sed: 1: "f.txt": invalid command code f`, "this is not a form of sed", "sed -i '' 's/a/b/' f.txt", ""},
		{"gh pr edit 5 --add-labels x", "unknown flag: --add-labels", "there is no option --add-labels", "gh pr edit 5 --add-label x", "gh pr edit 5 --add-label x"},
		{"mix credoo", `** (Mix) The task "credoo" could not be found. Did you mean "credo"?`, "there is no task credoo", "mix credo", "mix credo"},
		{"timeout 60 npm start", "bash: line 1: timeout: command not found", "there is no program timeout", "npm start", "npm start"},
		{"bundle exec rake spec:unit", "Don't know how to build task 'spec:unit' (See the list of available tasks)", "there is no task spec:unit", "bundle exec rake spec", "bundle exec rake spec"},
		{"deno task buld", "error: Task not found: buld", "there is no task buld", "deno task build", "deno task build"},
		{"./gradlew tset", "Task 'tset' not found in root project 'x'.", "there is no task tset", "./gradlew test", "./gradlew test"},
		{"yarn typecheck", `error Command "typecheck" not found.`, "there is no script typecheck", "yarn tsc", "yarn tsc"},
		{"yarn typecheck", `error Command "typecheck" not found.`, "there is no script typecheck", "yarn deploy", ""},
		{"python -m pytest tests/", "/usr/bin/python: No module named pytest", "there is no module pytest", "uv run pytest tests/", "uv run pytest tests/"},
		{"npm test", "Tests: 1 failed, 3 total", "", "npm run build", ""},
		{"cat notes.txt", "cat: notes.txt: No such file or directory", "", "", ""},
		{"curl http://localhost:3000/task", "{\"error\":\"task not found\"}", "", "", ""},
	} {
		f := forms{worked: map[int]bool{}}
		f.ran(refine.Entry{N: 1, Role: "tool", Name: "Bash", Cmd: c.cmd, Exit: 1, Result: c.message})
		f.ran(refine.Entry{N: 2, Role: "tool", Name: "Bash", Cmd: c.then, Result: "ok"})
		var got Form
		if len(f.broken) > 0 {
			got = f.broken[0]
		}
		if got.Why != c.why || got.Fix != c.fix {
			t.Errorf("%s: %s: %q, mended by %q; want %q, %q", c.cmd, c.message, got.Why, got.Fix, c.why, c.fix)
		}
	}
}
