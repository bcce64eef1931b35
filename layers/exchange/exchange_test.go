package exchange

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
)

func of(t *testing.T, l1 string, echo ...int) []Exchange {
	t.Helper()
	xs, err := Of(refine.Entries(strings.NewReader(strings.TrimLeft(l1, "\n"))), func(n int) bool { return slices.Contains(echo, n) })
	if err != nil {
		t.Fatal(err)
	}
	return xs
}

func TestOf(t *testing.T) {
	t.Parallel()
	xs := of(t, `
{"n":1,"role":"note","name":"title","text":"Login"}
{"n":2,"ts":"2026-02-11T15:39:00Z","role":"user","text":"fix the login"}
{"n":3,"role":"assistant","text":"I look."}
{"n":4,"role":"tool","name":"Bash","cmd":"go test ./login","exit":1,"result":"--- FAIL: TestLogin","errors":["FAIL\tlogin"]}
{"n":6,"role":"tool","name":"Edit","target":"login.go:12","diff":"-a\n+b\n+c","result":"ok"}
{"n":8,"role":"user","name":"answer","text":"the first","dialog":[{"question":"Which?","answer":"the first"}]}
{"n":9,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}
{"n":9,"role":"user","name":"refusal","text":"not yet","target":"Bash git push"}
{"n":9,"role":"assistant","text":"Withdrawn.","rewound":true}
{"n":10,"role":"assistant","side":true,"text":"an agent speaks"}
{"n":11,"ts":"2026-02-11T15:45:00Z","role":"tool","name":"Task","target":"look around","result":"All is well."}
{"n":12,"role":"assistant","text":"Fixed."}
{"n":13,"role":"user","text":"and again"}
{"n":14,"role":"tool","name":"Bash","cmd":"cd x && go test ./... 2>&1 | tail -3","result":"ok"}
{"n":15,"role":"summary","name":"boundary"}
{"n":16,"role":"summary","text":"It was about the login."}
`)
	if len(xs) != 3 {
		t.Fatalf("%d exchanges, want 3", len(xs))
	}
	if xs[0].By != Nobody || len(xs[0].Notes) != 1 {
		t.Errorf("what precedes the first prompt = %+v", xs[0])
	}
	x := xs[1]
	if x.From != 2 || x.To != 12 || x.Request.Text != "fix the login" || x.Outcome() != (Said{12, "Fixed."}) || len(x.Texts) != 2 {
		t.Errorf("exchange = %+v", x)
	}
	if x.Start != "2026-02-11T15:39:00Z" || x.End != "2026-02-11T15:45:00Z" {
		t.Errorf("times = %s to %s", x.Start, x.End)
	}
	if f := x.Files(); len(f) != 1 || f[0] != (File{"login.go", 2, 1, 6, 6, false}) {
		t.Errorf("files = %+v", f)
	}
	if len(x.Dialogs) != 1 || len(x.Refusals) != 1 || x.Refusals[0] != (Refusal{N: 9, Of: "git push", Call: 9, Reason: "not yet"}) || len(x.Reports) != 1 {
		t.Errorf("dialogs, refusals, reports = %+v %+v %+v", x.Dialogs, x.Refusals, x.Reports)
	}
	if len(x.Failures) != 1 || x.Failures[0].Fixed != 14 || len(x.Failures[0].Lines) != 2 || len(x.Open()) != 0 {
		t.Errorf("failures = %+v", x.Failures)
	}
	if s := xs[2].Summaries; len(s) != 1 || s[0].Covers != 15 {
		t.Errorf("summaries = %+v", s)
	}
}

func TestOfCopy(t *testing.T) {
	t.Parallel()
	xs := of(t, `
{"n":1,"role":"user","text":"a copy"}
{"n":2,"role":"user","text":"mine"}
`, 1)
	if len(xs) != 2 || xs[0].By != Copy || xs[1].By != User {
		t.Errorf("exchanges = %+v", xs)
	}
}

func TestOfAgent(t *testing.T) {
	t.Parallel()
	xs := of(t, `
{"n":1,"role":"user","side":true,"text":"look around"}
{"n":2,"role":"assistant","text":"All is well."}
`)
	if len(xs) != 1 || xs[0].By != Agent || xs[0].Outcome().Text != "All is well." {
		t.Errorf("exchanges = %+v", xs)
	}
}

// TestOfSummary holds that what the client wrote around the summary of a compaction is no part of it.
func TestOfSummary(t *testing.T) {
	t.Parallel()
	const begin = `This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n`
	for text, want := range map[string]string{
		begin + `The user wants cents.\nPlease continue the conversation from where we left it off without asking the user any further questions.`:                                                                 "The user wants cents.",
		`The user wants cents.\n\nIf you need specific details from before compaction (like code), read the full transcript at: /x.jsonl\nPlease continue the conversation from where we left off without asking.`: "The user wants cents.",
		`The user said: Please continue the conversation from where we left off.\nThen cents.`:                                                                                                                     "The user said: Please continue the conversation from where we left off.\nThen cents.",
		`The user wants cents.`: "The user wants cents.",
	} {
		xs := of(t, `{"n":5,"role":"summary","text":"`+text+`"}`+"\n")
		if len(xs) != 1 || len(xs[0].Summaries) != 1 || xs[0].Summaries[0].Text != want {
			t.Errorf("%s: %+v, want %q", text, xs, want)
		}
	}
}

// TestFellBack holds that a line of output proves no failure of a line whose other command answered.
func TestFellBack(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]int{
		"lint --enable=all ./... || lint ./...":           0,
		"lint --enable=all ./... || true":                 1,
		"lint --enable=all ./... || echo \"that failed\"": 1,
		"lint --enable=all ./... | cat":                   1,
	} {
		xs := of(t, fmt.Sprintf(`{"n":1,"role":"user","text":"lint it"}
{"n":2,"role":"tool","name":"Bash","cmd":%q,"result":"ok","errors":["Error: unknown linters: all"]}
`, cmd))
		if got := len(xs[0].Failures); got != want {
			t.Errorf("%s: %d failures, want %d", cmd, got, want)
		}
	}
}

// TestFixed: a later success counts for a failure if it ran at least the same: not other files, and not a part of the tests.
func TestFixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failed, passed string
		want           bool
	}{
		{"go test ./queue", "go test ./queue", true},
		{"go test ./queue", "cd x && go test ./queue -v 2>&1 | tail -5", true},
		{"go test ./queue", "CGO_ENABLED=0 go test ./queue", true},
		{"go test ./queue -run TestA", "go test ./queue", true},
		{"go test ./queue -run TestA", "go test ./...", true},
		{"go test ./queue", "go test ./queue -run TestA", false},
		{"go test ./queue -run TestQueueDrains", "go test ./queue -run TestQueue", true},
		{"go test ./queue -run TestQueue", "go test ./queue -run TestQueueDrains", false},
		{"go test ./queue", "go test ./store", false},
		{`bun run test 2>&1 | grep -E "fail|FAIL|error:" | head -30`, "bun run test 2>&1 | tail -10", true},
		{"cd api && ls | head -5\nnpm test", "ls", false},
		{"git log --oneline | head -3\ngo test ./queue", "git log --stat", false},
		{"git diff --name-only | grep _test.go | xargs go test", "git diff", false},
		{`go test ./queue 2>&1 | grep -E 'a|b' | tail -3`, "go test ./queue", true},
		{"go vet ./...", "go vet ./... 2>&1 | wc -l", false},
		{"mix test", "mix test test/a_test.exs", false},
		{"mix test test/a_test.exs", "mix test", true},
		{"nix fmt -- flake.nix overlays", "nix fmt -- overlays", true},
		{"nix fmt -- flake.nix", "nix fmt -- home.nix", false},
		{`git commit -m "one"`, `git commit -m "two words"`, true},
		{"npx biome check a.js", "npx biome check a.js", true},
	} {
		xs := of(t, fmt.Sprintf(`{"n":1,"role":"user","text":"mend it"}
{"n":2,"role":"tool","name":"Bash","cmd":%q,"exit":1,"result":"no"}
{"n":4,"role":"tool","name":"Bash","cmd":%q,"result":"ok"}
`, c.failed, c.passed))
		if f := xs[0].Failures; len(f) != 1 || (f[0].Fixed == 4) != c.want {
			t.Errorf("%q, then %q: %+v", c.failed, c.passed, f)
		}
	}
}

// TestOfSide: what an agent does within the session is work of the exchange; what it says is not said by the assistant.
func TestOfSide(t *testing.T) {
	t.Parallel()
	xs := of(t, `
{"n":1,"role":"user","text":"make the app"}
{"n":2,"role":"user","side":true,"text":"write the page"}
{"n":3,"role":"assistant","side":true,"text":"I write it."}
{"n":4,"role":"tool","side":true,"name":"Write","target":"page.tsx:1","diff":"+a","result":"ok"}
{"n":5,"role":"tool","side":true,"name":"Bash","cmd":"npm run build","verdict":"failed","result":"> Build error occurred"}
{"n":6,"role":"assistant","text":"The app is ready."}
`)
	if len(xs) != 1 || len(xs[0].Texts) != 1 || len(xs[0].Files()) != 1 || len(xs[0].Open()) != 1 {
		t.Errorf("exchanges = %+v", xs)
	}
}

func TestProgram(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"go test ./x":                          "go test",
		"cd y && go test ./... 2>&1 | tail -3": "go test",
		"CGO_ENABLED=0 go build -o x":          "go build",
		"mise run test:ci":                     "mise run test:ci",
		"npm run lint; npm test":               "npm run lint npm test",
	} {
		if got := Program(line); got != want {
			t.Errorf("Program(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestOfForgotten has the answer to a request that was forgotten: it is not the outcome of the request before.
func TestOfForgotten(t *testing.T) {
	t.Parallel()
	all := of(t, `{"n":1,"role":"user","text":"Push to main."}
{"n":2,"role":"assistant","text":"Pushed."}
{"n":3,"role":"note","name":"forgotten"}
{"n":4,"role":"assistant","text":"Renamed."}
{"n":5,"role":"user","text":"Thanks."}
`)
	if len(all) != 3 || all[0].Outcome().Text != "Pushed." || all[1].By != Nobody || all[1].Request.N != 0 ||
		all[1].Outcome().Text != "Renamed." || all[2].Request.Text != "Thanks." {
		t.Errorf("the exchanges are %+v", all)
	}
}

// TestTells holds that a change of spaces tells little, and one with names that were said more than another one.
func TestTells(t *testing.T) {
	t.Parallel()
	said := Names(nil, "The label comes from `getRoleLabel` now.")
	space := Tells("@@\n-	label(old)\n+    label( old )", said)
	other := Tells("@@\n-	sum := total(old)\n+	sum := total(fresh)", said)
	named := Tells("@@\n-	label(old)\n+	label(getRoleLabel(entry))", said)
	if space >= other || other >= named {
		t.Errorf("spaces %v, other %v, named %v", space, other, named)
	}
}
