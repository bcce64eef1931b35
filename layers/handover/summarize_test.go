package handover

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// summarized returns the digest of entries, numbered from 1.
func summarized(t *testing.T, entries ...refine.Entry) Digest {
	t.Helper()
	d, err := Summarize(func(yield func(refine.Entry, error) bool) {
		for i, e := range entries {
			if e.N = i + 1; !yield(e, nil) {
				return
			}
		}
	}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bash returns the entry of a shell line as L1 has it, with the verdict of its output.
func bash(line, result string, output ...string) refine.Entry {
	e := refine.Entry{Role: "tool", Name: "Bash", Cmd: line, Result: result}
	if result != "ok" {
		e.Exit = 1
	}
	j := shell.Judge(shell.Run{Line: line, Ended: true, Exit: e.Exit, Output: strings.Join(output, "\n")})
	e.Verdict, e.Proof, e.Failed, e.Passed = string(j.Verdict), j.Proof, j.Failed, j.Passed
	return e
}

// TestFailedTests runs tests that fail, and then something else or has the model report: what covers them and passed, or was
// said to pass, is told in place of the failure, also if it was in a later session.
func TestFailedTests(t *testing.T) {
	t.Parallel()
	said := func(text string) refine.Entry { return refine.Entry{Role: "assistant", Said: text} }
	failed := bash("go test ./...", "Exit code 1", "--- FAIL: TestA (0.00s)", "--- FAIL: TestB (0.00s)")
	const ok = "ok  \tx/a\t0.1s"
	const fails = ": failed, exit 1 (TestA, TestB)"
	for _, c := range []struct {
		name  string
		after refine.Entry
		want  string
	}{
		{"all", bash("go test ./...", "ok"), ": passed"},
		{"without arguments", bash("go test", "ok"), ": passed"},
		{"some", bash("go test ./... -run=TestC", "ok"), fails + "; later `go test ./... -run=TestC` passed"},
		{"that test, by its output", bash("go test ./x -v", "Exit code 1", "--- PASS: TestA (0.00s)", "--- FAIL: TestB (0.00s)"), fails},
		{"behind a pipe, without a word", bash("go test ./... -race 2>&1 | tail -3", "ok"), fails + "; later run again, no result seen"},
		{"behind a pipe, with the summary", bash("go test ./... -race 2>&1 | tail -3", "ok", ok), ": passed"},
		{"a wider task", bash("mise run test:ci", "ok"), ": `mise run test:ci` passed since"},
		{"a check of something else", bash("go vet ./...", "ok"), fails},
		{"another directory", bash("make -C other test", "ok"), fails},
		{"the model says it", said("I renamed it. All tests pass now."), ": said to pass since"},
		{"the model says it of others", said("All integration tests pass."), fails},
		{"the model says it of something else", said("The lint is clean."), fails},
		{"the model says that not all pass", said("Not all tests pass: TestA still fails."), fails},
		{"one of them still fails", said("All other tests pass; TestA still fails."), fails},
		{"it is not fixed", said("TestA is not fixed yet. I could not fix TestB."), fails},
		{"it should pass", said("TestA should pass now, I did not run it."), fails},
		{"first fixed, then not", said("TestA is fixed. It still fails on Windows."), fails},
		{"a longer name", said("TestAdd passes."), fails},
		{"without that test", bash("go test -skip TestA ./...", "ok"), fails},
		{"an installation", bash("npm ci", "ok"), fails},
		{"the model hopes", said("Run them again to see whether all tests pass."), fails},
	} {
		ask := refine.Entry{Role: "user", Said: "go"}
		of := func(list ...Digest) string {
			for _, it := range commandItems(list) {
				if rest, is := strings.CutPrefix(it.Text, "go test"); is && !strings.HasPrefix(rest, " -run") {
					return rest[strings.Index(rest, ": "):]
				}
			}
			return ""
		}
		if got := of(summarized(t, ask, failed, c.after)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		switch want := strings.Replace(c.want, "later run again, no result seen", "", 1); {
		case c.name == "some", strings.HasPrefix(c.name, "behind"), strings.HasPrefix(c.name, "that test"): // by words that only its own session understands
		default:
			if got := of(summarized(t, ask, c.after), summarized(t, ask, failed)); got != want {
				t.Errorf("%s, in a later session: %q, want %q", c.name, got, want)
			}
		}
	}
}

// TestMended fails a check: what follows an edit suggests that it passes since, and it no longer comes first.
func TestMended(t *testing.T) {
	t.Parallel()
	edit := refine.Entry{Role: "tool", Name: "Edit", Target: "a.go:3", Result: "ok"}
	lint, build := bash("npx eslint", "Exit code 1"), bash("go build -tags=e2e ./e2e/...", "Exit code 1")
	again := bash("npx eslint 2>&1 | grep x", "ok")
	commit, unchecked := bash("git commit -am x", "ok"), bash("git commit --no-verify -am x", "ok")
	test, other := bash("mise run test", "ok"), bash("node assets/build.js", "Exit code 1")
	for _, c := range []struct {
		name    string
		entries []refine.Entry
		want    string
	}{
		{"edited and committed", []refine.Entry{lint, edit, again, commit}, ": failed, exit 1; files edited and committed since"},
		{"a program that checks nothing", []refine.Entry{bash("./tools/search", "Exit code 1"), edit, commit}, ": failed, exit 1"},
		{"committed alone", []refine.Entry{edit, lint, commit}, "! : failed, exit 1"},
		{"edited alone", []refine.Entry{lint, edit, again}, "! : failed, exit 1; later run again, no result seen"},
		{"without hooks", []refine.Entry{lint, edit, unchecked}, "! : failed, exit 1"},
		{"it failed again", []refine.Entry{lint, edit, commit, lint}, "! : failed, exit 1"},
		{"tests for a linter", []refine.Entry{lint, edit, test}, "! : failed, exit 1"},
		{"tests for a build", []refine.Entry{build, edit, test}, ": failed, exit 1; files edited since, and then `mise run test` passed"},
		{"tests for a program", []refine.Entry{other, edit, test}, ": failed, exit 1"},
		{"tests before the edit", []refine.Entry{build, test, edit}, "! : failed, exit 1"},
	} {
		got := ""
		for _, r := range Commands([]Digest{summarized(t, append([]refine.Entry{{Role: "user", Said: "go"}}, c.entries...)...)}) {
			if r.End == Broke {
				if got = result(r.Command); urgency(r) == 0 {
					got = "! " + got
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestParts runs all tests and some of them: what selects tests, and where, belongs to the command, whatever its runner.
func TestParts(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./...":                               "",
		"go test -v ./app/...":                        "",
		"go test ./app -run TestA":                    "./app -run TestA",
		"go test -run='A|B' ./app":                    "-run=A|B ./app",
		"go test -run '^(TestA|TestB)$' ./app -v":     "-run TestA|TestB ./app",
		"go test ./app -run 'always run evil first'":  "(a part)",
		"pytest tests/test_price.py -k rounding":      "tests/test_price.py -k rounding",
		"cd web && npx jest -t rounding src/price.ts": "-t rounding src/price.ts",
		"make lint":      "",
		"npx jest other": "other", "cargo test prices": "prices", "pytest tests/unit": "tests/unit", "pytest tests/ -n 4": "",
		"pytest --ignore=tests/slow": "--ignore=tests/slow", "pytest --deselect tests/test_a.py": "--deselect tests/test_a.py",
	} {
		d := summarized(t, bash(line, "ok"))
		if len(d.Commands) != 1 || d.Commands[0].Part != want {
			t.Errorf("%s: %+v, want the part %q", line, d.Commands, want)
		}
	}
	for _, c := range []struct {
		lines []refine.Entry
		want  string
	}{
		{[]refine.Entry{bash("go test ./...", "ok"), bash("go test -run TestA ./app", "ok")}, "go test ./...: passed"},
		{[]refine.Entry{bash("go test ./...", "Exit code 1"), bash("go test -run TestA ./app", "ok")}, "go test ./...: failed, exit 1; later `go test -run TestA ./app` passed"},
		{[]refine.Entry{bash("go test ./...", "ok"), bash("go test -run TestA ./app", "Exit code 1")}, "go test -run TestA ./app: failed, exit 1 / go test ./...: passed"},
		{[]refine.Entry{bash("go test ./app", "Exit code 1"), bash("go test ./...", "ok")}, "go test ./...: passed"},
		{[]refine.Entry{bash("go test -run TestA ./app", "ok")}, "go test -run TestA ./app: passed"},
		{[]refine.Entry{bash("bun run lint", "Exit code 1", "error: Script not found \"lint\"")}, ""},
		{[]refine.Entry{bash("mix deps.compile --force ash | tail -5", "ok")}, ""},
		{[]refine.Entry{bash("node assets/build.js | tail -5", "ok")}, ""},
	} {
		for i := range c.lines {
			if c.lines[i].Exit != 0 && c.lines[i].Failed == nil {
				c.lines[i].Errors = []string{"error: Script not found \"lint\""}
			}
		}
		var got []string
		for _, it := range commandItems([]Digest{summarized(t, c.lines...)}) {
			got = append(got, it.Text)
		}
		slices.Sort(got)
		if s := strings.Join(got, " / "); s != c.want {
			t.Errorf("%q, want %q", s, c.want)
		}
	}
}

// TestWindowsPaths reads a session of Windows: its files have names with slashes, relative to any directory above or
// below.
func TestWindowsPaths(t *testing.T) {
	t.Parallel()
	edit := func(name, target string) refine.Entry {
		return refine.Entry{Role: "tool", Name: name, Target: target, Result: "ok"}
	}
	d := summarized(t, edit("Edit", `lib\price.go:3`), edit("Read", `C:\x\y.go`), edit("Read", `..\z.go`))
	d.Dir = `C:\dev\shop`
	if len(d.Files) != 1 || d.Files[0].Path != "lib/price.go" {
		t.Fatalf("files: %+v", d.Files)
	}
	for dir, want := range map[string]string{`C:\dev\shop\lib`: "price.go", `C:\dev`: "shop/lib/price.go",
		`C:\dev\shop`: "lib/price.go", `D:\other`: "lib/price.go"} {
		if got := d.Rebase(dir).Files[0].Path; got != want {
			t.Errorf("in %s the file is %s, want %s", dir, got, want)
		}
	}
}

// TestHostileLengths summarizes tool calls as long as a hostile transcript likes, in linear time: eight times the length
// takes much less than 64 times as long.
func TestHostileLengths(t *testing.T) {
	t.Parallel()
	repeat := func(before, text, after string, most int) func(int) refine.Entry {
		return func(part int) refine.Entry { return bash(before+strings.Repeat(text, most/part)+after, "ok") }
	}
	for name, entry := range map[string]func(part int) refine.Entry{
		"here-documents": repeat("echo $(", "<<a ", "", 1<<17),
		"quotes":         repeat("", `"$(`, "", 300_000),
		"redirections":   repeat("make", " 2>&1", "", 1<<17),
		"subshells":      repeat(strings.Repeat("(", 1<<18), "make;", "", 1<<17),
		"conjunctions":   repeat("", "make&&", "go vet", 1<<17),
		"long line":      repeat("", `"$(`, "", 2<<20),
		"todos": func(part int) refine.Entry {
			var todos strings.Builder
			for i := range 100_000 / part {
				fmt.Fprintf(&todos, "pending: todo %d\n", i)
			}
			return refine.Entry{Role: "tool", Name: "TodoWrite", Target: todos.String(), Result: "ok"}
		},
	} {
		took := func(part int) time.Duration {
			e, start := entry(part), time.Now()
			summarized(t, e, e)
			return time.Since(start)
		}
		short, long := max(took(8), 100*time.Millisecond), took(1)
		for again := 0; long > 40*short && again < 3; again++ { // the machine may have been busy
			long = min(long, took(1))
		}
		if long > 40*short {
			t.Errorf("%s: %v, and %v for an eighth of it", name, long, short)
		}
	}
}

// TestManyCommands runs more commands and fails more tests than a digest has: those of the end stay.
func TestManyCommands(t *testing.T) {
	t.Parallel()
	var entries []refine.Entry
	for i := range 2 * maxCommands {
		entries = append(entries, bash(fmt.Sprintf("make target%d", i), "ok"), bash("make often", "ok"),
			bash("go test ./...", "Exit code 1", fmt.Sprintf("--- FAIL: TestA%d (0.00s)", i)))
	}
	d := summarized(t, entries...)
	var names []string
	for _, c := range d.Commands {
		names = append(names, c.Name)
	}
	if len(names) != maxCommands || !slices.Contains(names, fmt.Sprintf("make target%d", 2*maxCommands-1)) ||
		!slices.Contains(names, "make often") || slices.Contains(names, "make target0") {
		t.Errorf("%d commands: %q", len(names), names)
	}
}

// TestForgottenRequest has the answer and the work of a request that was forgotten: they are not those of the one before.
func TestForgottenRequest(t *testing.T) {
	t.Parallel()
	d := summarized(t,
		refine.Entry{Role: "user", Said: "Push directly to main."},
		refine.Entry{Role: "assistant", Said: "Pushed to main. Shall I tag it?"},
		refine.Entry{Role: "note", Name: "forgotten"},
		refine.Entry{Role: "assistant", Said: "Renamed docs to manual."},
		bash("git mv docs manual", "ok"),
	)
	if len(d.Turns) != 1 || !strings.HasPrefix(d.Turns[0].Answered.Text, "Pushed to main.") || d.Turns[0].Asks != "" ||
		d.Turns[0].Did != 0 || d.Turns[0].Working != 0 {
		t.Errorf("the answer to a forgotten request is that to the request before: %+v", d.Turns)
	}
}

// TestClientsOwnTurn has work that the client asked for after the answer: the request was answered nevertheless.
func TestClientsOwnTurn(t *testing.T) {
	t.Parallel()
	ask := refine.Entry{Role: "user", Said: "Add the mailer to the deployment."}
	event := refine.Entry{Role: "note", Said: "<create-pr-command>Create a pull request.</create-pr-command>"}
	done := refine.Entry{Role: "assistant", Said: "Added the mailer to deploy/production.yml and pushed it; the deployment of staging runs with it."}
	if d := summarized(t, ask, done, event, refine.Entry{Role: "assistant", Said: "Nothing to push."}, bash("gh pr view", "ok")); d.Turns[0].Working != 0 {
		t.Errorf("an answered request did not end: %+v", d.Turns)
	}
	if d := summarized(t, ask, bash("git status", "ok"), event, bash("gh pr view", "ok")); d.Turns[0].Working == 0 {
		t.Errorf("a request without an answer ended: %+v", d.Turns)
	}
	if d := summarized(t, ask, done, event, ask, done, bash("gh pr view", "ok")); d.Turns[1].Working == 0 {
		t.Errorf("the next request ended during the work: %+v", d.Turns)
	}
}

// TestContinued continues a session on another day: a file and an interruption have the day on which they were, not that of the end.
func TestContinued(t *testing.T) {
	t.Parallel()
	edit := refine.Entry{Role: "tool", Name: "Edit", Target: "shop/till.go", Diff: "-a\n+b", Result: "ok", TS: "2026-01-15T23:30:00+02:00"}
	d := summarized(t, refine.Entry{Role: "user", Said: "change the till of the shop", TS: "2026-01-15T10:00:00Z"}, edit,
		refine.Entry{Role: "assistant", Said: "The till is changed.", TS: "2026-01-15T21:31:00Z"},
		refine.Entry{Role: "user", Said: "what is the till?", TS: "2026-02-01T10:00:00Z"},
		refine.Entry{Role: "assistant", Said: "It counts.", TS: "not aTtime"})
	d.Session, d.Last = "s", time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)
	got := workingSet([]Digest{d})
	if len(got) != 1 || got[0].Text != "2026-01-15: shop/till.go" {
		t.Errorf("edited files: %+v, want those of 2026-01-15", got)
	}
}

// TestForgottenAnswer forgets the answer of a request: it is no question that waits, and what is left is told as what came before.
func TestForgottenAnswer(t *testing.T) {
	t.Parallel()
	ask := refine.Entry{N: 1, Role: "user", Said: "commit the change of the till"}
	run := bash("git status", "ok")
	run.N = 2
	for _, c := range []struct {
		gone    int
		entries []refine.Entry
		want    string
	}{
		{0, []refine.Entry{ask, run}, "Ended before an answer. s#2"},
		{3, []refine.Entry{ask, run}, "What followed was forgotten. s#3"},
		{4, []refine.Entry{ask, run, {N: 3, Role: "assistant", Said: "I committed it."}}, "The rest was forgotten, after: “I committed it.” s#4"},
		{2, []refine.Entry{ask, {N: 3, Role: "assistant", Said: "I committed it."}}, "Outcome: “I committed it.” s#3"},
		{4, []refine.Entry{ask, {N: 5, Role: "user", Said: "and the lamp of the shop?"}}, "Ended before an answer. s#5"},
	} {
		d, err := Summarize(func(yield func(refine.Entry, error) bool) {
			for _, e := range c.entries {
				if !yield(e, nil) {
					return
				}
			}
		}, nil, []int{c.gone})
		if err != nil {
			t.Fatal(err)
		}
		d.Session = "s"
		it := ending(d, d.Turns[len(d.Turns)-1], 200)
		if got := it.Text + " " + it.Source; got != c.want {
			t.Errorf("forgotten #%d: %s, want %s", c.gone, got, c.want)
		}
	}
}
