package compress

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

// countOf returns how many entries a list under a label stands for in a version, or 0 if there is none.
func countOf(text, label string) int {
	m := regexp.MustCompile(`(?m)^\[` + label + `\] (.*)$`).FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n := 0
	for e := range strings.SplitSeq(m[1], "; ") {
		n += max(1, unnamed(e))
	}
	return n
}

// TestListsCount holds that the lists of files and of commands say how many of their entries are left out, at every
// budget and in a version of a version.
func TestListsCount(t *testing.T) {
	t.Parallel()
	l1 := `{"n":1,"role":"user","text":"Move the queue to its own package, please."}` + "\n"
	n := 2
	line := func(s string) {
		l1 += fmt.Sprintf(`{"n":%d,%s}`+"\n", n, s)
		n++
	}
	for i := range 6 {
		line(fmt.Sprintf(`"role":"tool","name":"Edit","target":"internal/queue/part_%d_of_queue.go:3","diff":"+a\n+b\n+c","result":"ok"`, i))
		line(fmt.Sprintf(`"role":"tool","name":"Edit","target":"/src/x/internal/queue/part_%d_of_queue.go:9","diff":"+d","result":"ok"`, i)) // the same file
		line(fmt.Sprintf(`"role":"tool","name":"Bash","cmd":"go test ./internal/queue/part%d; go vet ./internal/queue","exit":1,"result":"--- FAIL: TestPart%d"`, i, i))
		line(fmt.Sprintf(`"role":"tool","name":"Bash","cmd":"go test ./internal/queue/part%d; go vet ./internal/queue","verdict":"passed","result":"ok"`, i))
	}
	line(`"role":"assistant","text":"The queue has its own package now, and all of its tests pass."`)
	whole, part, again := false, false, false
	for budget := 30; budget < 700; budget += 10 {
		items, err := Items(refine.Entries(strings.NewReader(l1)), nil)
		if err != nil {
			t.Fatal(err)
		}
		run := func(items []version.Item, budget int) Result {
			r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
				Tiers: []planning.Part{{From: 1, To: n, Budget: budget, Level: 1}}}, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := run(items, budget)
		smaller := run(Recall(r.Segments), budget*3/4)
		for k, text := range []string{version.Text(r.Segments), version.Text(smaller.Segments)} {
			for _, label := range []string{"files", "commands"} {
				got := countOf(text, label)
				if got != 0 && got != 6 {
					t.Errorf("%d tokens, version %d: [%s] stands for %d of 6:\n%s", budget, k+1, label, got, text)
				}
				more := regexp.MustCompile(`\[` + label + `\].*; [1-5] more`).MatchString(text)
				whole, part, again = whole || got == 6 && !more, part || more && k == 0, again || more && k == 1
			}
			if strings.Contains(text, "→ exit 1") && !strings.Contains(text, "→ exit 1, then passed") {
				t.Errorf("%d tokens, version %d: one run of two:\n%s", budget, k+1, text)
			}
		}
	}
	if !whole || !part || !again {
		t.Errorf("seen whole: %v, in part: %v, in part again: %v", whole, part, again)
	}
}

// TestSteps holds that an aggressive version says the causes that were found and stand, without the announcements of steps, the
// remarks and the causes that turned out to be others around them.
func TestSteps(t *testing.T) {
	t.Parallel()
	l1 := `{"n":1,"role":"user","text":"Please mend the queue of the night."}
{"n":2,"role":"assistant","text":"I see the issue now. The queue has two writers, and both of them drain it. Let me look at the second one."}
{"n":3,"role":"assistant","text":"Good questions. Let me check."}
{"n":4,"role":"assistant","text":"The issue is that jobs.go drains the queue in both writers."}
{"n":5,"role":"assistant","text":"Expected — the table is empty until the first night. Let me fill it now."}
{"n":6,"role":"assistant","text":"The problem is the queue that jobs.go opens twice, once for each writer."}
{"n":7,"role":"tool","name":"Bash","cmd":"go test ./...","result":"ok","verdict":"passed"}
{"n":8,"role":"assistant","text":"Now the log. The issue is that jobs.go names the writer of the queue before it."}
{"n":9,"role":"assistant","text":"Now commit and push:"}
{"n":10,"role":"assistant","text":"The queue is mended."}`
	items, err := Items(refine.Entries(strings.NewReader(l1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: 400,
		Tiers: []planning.Part{{From: 1, To: 10, Budget: 400, Level: keepit.Aggressive}}}, Extract{})
	if err != nil {
		t.Fatal(err)
	}
	want := "## #1\n\n> Please mend the queue of the night.\n\nThe problem is the queue that jobs.go opens twice, once for each writer.\n\n" +
		"The issue is that jobs.go names the writer of the queue before it.\n\nThe queue is mended.\n\n[commands] go test ./... → passed\n"
	if got, _, _ := strings.Cut(version.Text(r.Segments), "\n[at the end"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestNotMisleading holds that a version does not say what the session does not: each case is a text that readers took
// for something else.
func TestNotMisleading(t *testing.T) {
	t.Parallel()
	sentences := func(what string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s number %d needs a lock_%d. ", what, i, i)
		}
		return b.String()
	}
	code := "```go\\n" + strings.Repeat("lock(a)\\nclose(b)\\n", 90) + "```"
	user := `{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Please mend the queue of the night."}` + "\n"
	for name, c := range map[string]struct {
		l1       string
		budget   int
		has, not []string
	}{
		"a question of the assistant that nobody answered": {user + `{"n":2,"role":"assistant","text":"The queue has two writers. Want me to remove the second one?"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-go write()","result":"ok"}
{"n":4,"role":"assistant","text":"Perfect! The second writer is gone."}`, 300,
			[]string{"Want me to remove the second one?\n\n[no answer: it went on]\n\nPerfect!"}, nil},
		"what another agent asked": {`{"n":1,"side":true,"role":"user","text":"Find the two writers of the queue."}` + "\n" + `{"n":2,"side":true,"role":"assistant","text":"They are in queue.go."}`, 300,
			[]string{"[asked by another agent] Find the two writers"}, nil},
		"an answered question": {user + `{"n":2,"role":"assistant","text":"The queue has two writers. Want me to remove the second one?"}
{"n":3,"role":"user","name":"answer","text":"yes","dialog":[{"question":"Which?","answer":"the second"}]}
{"n":4,"role":"assistant","text":"Perfect! The second writer is gone."}`, 300, nil, []string{"no answer"}},
		"hunks in the order of the work": {user + `{"n":2,"role":"tool","name":"Edit","target":"queue.go:368","diff":"+a()\n+b()\n+c()","result":"ok"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:10","diff":"+d()\n+e()\n+f()","result":"ok"}
{"n":4,"role":"assistant","text":"` + sentences("The queue", 12) + `"}`, 700, []string{"@@ 10 @@\n+d()\n+e()\n+f()\n@@ 368 @@\n+a()"}, nil},
		"a command that failed, and passed later": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./queue","exit":1,"result":"--- FAIL: TestDrain"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-go write()","result":"ok"}
{"n":4,"role":"tool","name":"Bash","cmd":"go test ./queue","verdict":"passed","result":"ok"}
{"n":5,"role":"assistant","text":"The queue is mended."}`, 300, []string{"[failed go test ./queue, then passed]", "[commands] go test ./queue → exit 1, then passed"}, nil},
		"a heading over words that lead in": {user + `{"n":2,"role":"assistant","text":"## The worker\n\n` + code + `\n\nSteps of the worker:\n\n` +
			strings.Repeat("1. **Read the job**: it reads, and it waits for the writer of the table, and it goes on when that is done\\n", 12) + `"}
{"n":3,"role":"user","text":"thanks, that is all"}`, 400, []string{"**The worker**\n[...]\n\nSteps of the worker:\n"}, nil},
		"a refused edit that was made later": {user + `{"n":2,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-go write()","result":"refused by the user"}
{"n":3,"role":"user","name":"refusal","text":"does that lose jobs?","target":"Edit queue.go"}
{"n":4,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-go write()","result":"ok"}
{"n":5,"role":"assistant","text":"It loses none, and the second writer is gone."}`, 300, []string{"[refused by the user: Edit queue.go:3 (+0 −1); done later]"}, nil},
		"a refused command": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}
{"n":3,"role":"user","name":"refusal","text":"not yet","target":"Bash git push"}
{"n":4,"role":"tool","name":"Bash","cmd":"git status","result":"ok"}
{"n":5,"role":"assistant","text":"Not pushed."}`, 300, []string{"[refused by the user: git push]"}, []string{"later"}},
		"a wrong path": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git add lock.go","exit":128,"result":"fatal: pathspec did not match"}
{"n":3,"role":"tool","name":"Bash","cmd":"git add lock.go","result":"ok"}
{"n":4,"role":"assistant","text":"It is added."}`, 300, nil, []string{"failed"}},
		"a check long before the end, and numbers without a heading": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go vet ./...","verdict":"passed","result":"ok"}
{"n":3,"role":"assistant","text":"Vetted."}
{"n":4,"role":"user","text":"now the writer of the table"}
{"n":7,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-go write()","result":"ok"}
{"n":8,"role":"assistant","text":"Done."}`, 300, []string{"[at the end: changed, and no commit seen: queue.go (#4)]"}, nil},
		"the user spoke before there was an outcome": {user + `{"n":2,"role":"assistant","text":"` + sentences("The lock", 20) + `"}
{"n":3,"role":"user","text":"find the first commit"}
{"n":4,"role":"assistant","text":"The table names Victor, and the queue names Stefan. Let me look at the index:"}
{"n":5,"role":"tool","name":"Bash","cmd":"go vet ./...","result":"ok"}
{"n":6,"role":"assistant","text":"Let me trace the writer:"}
{"n":7,"role":"user","text":"I suspect the lock of the table"}
{"n":8,"role":"assistant","text":"The lock is fine."}`, 160, []string{"The table names Victor, and the queue names Stefan."}, nil},
		"an interruption, and a call that was not run": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go vet ./...","result":"Sibling tool call errored"}
{"n":3,"role":"assistant","text":"The queue has two writers."}
{"n":4,"role":"note","name":"","text":"[Request interrupted by user]"}
{"n":5,"role":"assistant","text":"The second writer is gone."}`, 300, []string{"[interrupted: by the user]"}, []string{"[Request", "failed"}},
		"a paste behind words of the user": {`{"n":1,"role":"user","text":"any ideas: The function ` + "`drain`" + ` discards the error of the last write. A job that could not be written is lost in silence. A return value would help, so that callers in queue.go can write it once more when there is room."}
{"n":2,"role":"assistant","text":"It returns the error now."}`, 300, []string{"[reads like pasted text]\n> any ideas: The function"}, nil},
		"a plan as a row of headings": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"note","name":"plan","text":"# Drain the queue\n\n## Context\n\nThe queue loses jobs when the server stops.\n\n## 1. Backend: move the lock\n\n**File: ` + "`src/lock.go`" + `**\n\n` +
			code + `\n\n## 2. Backend: close the table\n\n**File: ` + "`src/table.go`" + `** (twice)\n\n` + code + `\n\n## Files to modify\n\n| File | Change |\n|---|---|\n| ` + "`src/lock.go`" + ` | ` + strings.Repeat("moved ", 40) + `|\n| ` + "`src/table.go`" + ` | ` + strings.Repeat("closed ", 40) + `|\n"}
{"n":2,"role":"assistant","text":"The queue keeps its jobs now."}`, 160,
			[]string{"[plan, accepted by the user, in part] **Context**\n\nThe queue loses jobs when the server stops.\n\n[3 more: 1. Backend: move the lock; 2. Backend: close the table; Files to modify]"}, []string{"**File", "Drain the queue"}},
		"lines that a later edit replaced": {user + `{"n":2,"role":"tool","name":"Edit","target":"queue.go:3","diff":"+first := one(table)\n+second := two(table)\n+third := three(table)\n+fourth := four(table)\n+fifth := five(table)","result":"ok"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:4","diff":"-second := two(table)\n+second := two(paths.table)","result":"ok"}
{"n":4,"role":"assistant","text":"` + sentences("The queue", 8) + `"}`, 330,
			[]string{"[changes queue.go, in part]"}, []string{"+second := two(table)"}},
		"runs of a command that failed in different ways": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./queue","exit":1,"result":"undefined: drain\\nat queue.go"}
{"n":3,"role":"tool","name":"Bash","cmd":"go test ./queue","exit":1,"result":"--- FAIL: TestDrain"}
{"n":4,"role":"tool","name":"Bash","cmd":"go test ./queue","verdict":"passed","result":"ok"}
{"n":5,"role":"assistant","text":"The queue is mended."}`, 300, []string{"[failed go test ./queue, then passed] undefined: drain … --- FAIL: TestDrain\n"}, []string{`\n`}},
		"what was pushed behind a long message": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git add queue.go && git commit -m \"$(cat <<'EOF'\nqueue: keep the jobs of the night\n\n` + sentences("The queue", 9) + `\nEOF\n)\" && git push","result":"ok"}
{"n":3,"role":"assistant","text":"It is done."}`, 300,
			[]string{`[commands] git commit -m "queue: keep the jobs of the night…" && git push`, `[at the end: last commit "queue: keep the jobs of the night" (#1), pushed (#1)]`}, nil},
		"a push of which nothing is known": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git commit -m x && echo done","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"git push 2>&1 | tail -3","result":"ok"}
{"n":4,"role":"assistant","text":"It is done."}`, 300, nil, []string{"push seen", "pushed"}},
		"a refusal whose reason is the next message": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}
{"n":3,"role":"note","name":"","text":"[Request interrupted by user for tool use]"}
{"n":4,"role":"user","text":"wait for the night"}
{"n":5,"role":"tool","name":"Bash","cmd":"git push --force","result":"refused by the user"}`, 300,
			[]string{"[refused by the user: git push]\n\n## #4", "[refused by the user: git push --force; no reason given]"}, []string{"interrupted: by"}},
		"an issue that nobody names": {user + `{"n":2,"role":"tool","name":"mcp__linear__create_issue","target":"{\"title\":\"Drain the queue\",\"team\":\"x\"}","result":"ok"}`, 300,
			[]string{"[created: issue \"Drain the queue\"]", "[at the end: created: issue \"Drain the queue\" (#1)]"}, []string{"team"}},
		"steps one after the other": {user + `{"n":2,"role":"assistant","text":"Let me look at the queue."}
{"n":3,"role":"assistant","text":"**Step 2: Add the lock**"}
{"n":4,"role":"assistant","text":"Good, ` + "`lock`" + ` is already imported."}
{"n":5,"role":"assistant","text":"All 12 tests pass. Now add the log:"}
{"n":6,"role":"assistant","text":"The queue has two writers."}`, 300,
			[]string{"[steps] Let me look at the queue. … **Step 2: Add the lock** … Good, `lock` is already imported. … All 12 tests pass. Now add the log:\n\nThe queue has"}, nil},
		"a log with its error far below": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"why does it fail?\n\n` + "```" + `\n$ make release` + strings.Repeat(`\nfetch the next part of the release`, 40) + `\nupload the parts\nerror: the table is locked\nstop` + strings.Repeat(`\nclean the next part up`, 40) + "\\n```" + `"}
{"n":2,"role":"assistant","text":"The second writer."}`, 140, []string{"> $ make release\n> …\n> upload the parts\n> error: the table is locked\n> stop\n"}, nil},
		"two of three options, far apart": {user + `{"n":2,"role":"assistant","text":"**1. Keep the queue**\n\nIt stays as it is.\n\n**2. Drop the table**\n\n` + sentences("The table", 6) + `\n\n**3. Split the writers**\n\nOne for the night.\n\n` + sentences("The rest", 6) + `"}
{"n":3,"role":"user","text":"do 1 and 3"}`, 120, []string{"**1. Keep the queue**\n\nIt stays", "**3. Split the writers**\n\nOne for"}, []string{"**2."}},
		"a letter whose options are in an earlier text": {user + `{"n":2,"role":"assistant","text":"Do you want to:\n\n**A) Keep the queue** - as it is?\n\n**B) Split the writers** - one for the night?"}
{"n":3,"role":"user","text":"are two writers really needed"}
{"n":4,"role":"assistant","text":"You are right, one is enough.\n\nDoes this match?"}
{"n":5,"role":"user","text":"A "}`, 140, []string{"**A) Keep the queue**", "**B) Split the writers**"}, nil},
		"what the user lists": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Can you address the following items:\n\n1. The queue is drained twice in the night\n2. The table has no lock for its writers\n3. The log names the wrong writer"}
{"n":2,"role":"assistant","text":"The three are done."}`, 100, []string{"1. The queue is", "3. The log"}, []string{"left out"}},
		"more that the user said": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Please mend the queue of the night.\n\n` + sentences("The writer", 12) + `"}
{"n":2,"role":"assistant","text":"The three are done."}`, 120, []string{"words, left out]\n"}, nil},
		"what is left out of an answer": {user + `{"n":2,"role":"assistant","text":"The queue is mended now.\n\n` + sentences("The writer", 6) + `"}`, 64, []string{"mended now.\n[...]"}, nil},
		"a filter of a command": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./... 2>&1 | grep FAIL","result":"ok","verdict":"failed"}
{"n":3,"role":"tool","name":"Bash","cmd":"go test ./...","result":"ok","verdict":"passed"}
{"n":4,"role":"assistant","text":"The three are done."}`, 140, []string{"[commands] go test ./... → failed, then passed"}, []string{"grep"}},
		"a filter that found nothing": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./... 2>&1 | grep FAIL","result":"exit 1","exit":1,"errors":["Exit code 1"]}
{"n":3,"role":"tool","name":"Bash","cmd":"mix credo | grep warning","result":"ok"}
{"n":4,"role":"assistant","text":"The three are done."}`, 160, []string{"go test ./... 2>&1 | grep FAIL → exit 1"}, []string{"[failed go test ./...]", "[commands] go test ./... →", "mix credo;", "mix credo\n"}},
		"lines that a terminal ended": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"like so:\rcommit 1\r\rcommit 2"}
{"n":2,"role":"assistant","text":"The second writer."}`, 140, []string{"> like so:\n> commit 1\n> \n> commit 2"}, nil},
		"a file named from two directories": {user + `{"n":2,"role":"tool","name":"Edit","target":"../api/queue.go:3","diff":"-a","result":"ok"}
{"n":3,"role":"tool","name":"Edit","target":"/src/api/queue.go:4","diff":"-a","result":"ok"}
{"n":4,"role":"assistant","text":"Both are gone."}`, 140, []string{"[files] ../api/queue.go (+0 −2)"}, nil},
		"a plan that was refused without a word": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","target":"**Plan**\n\nDrain the queue at night.","result":"refused by the user"}
{"n":3,"role":"note","name":"","text":"[Request interrupted by user for tool use]"}`, 300, []string{"[refused by the user: the plan"}, []string{"not accepted"}},
		"a plan that is the last answer": {user + `{"n":2,"role":"tool","name":"Write","target":"/home/a/.claude/plans/owl.md","diff":"+# Plan: Drain at night\n+\n+The queue waits for the cron job.","result":"ok"}
{"n":3,"role":"tool","name":"ExitPlanMode","text":"# Plan: Drain at night\n\nThe queue waits for the cron job.","result":"refused by the user"}
{"n":4,"role":"note","name":"","text":"[Request interrupted by user for tool use]"}`, 300, []string{
			"[plan \"Drain at night\", refused by the user] The queue waits for the cron job.", "the last answer is a plan that the user refused (#1)"}, []string{"owl.md", "no answer", "the plan \""}},
		"a plan that comes again": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Plan: Drain at night\n\nThe queue waits.","result":"refused by the user"}
{"n":3,"role":"user","text":"name the cron job, and say when"}
{"n":4,"role":"tool","name":"ExitPlanMode","text":"# Plan: Drain at night\n\nThe queue waits for drain.timer at 03:00.","result":"ok"}
{"n":5,"role":"assistant","text":"The timer is installed."}`, 300, []string{
			"[plan \"Drain at night\", accepted by the user] The queue waits for drain.timer"}, []string{"The queue waits.\n"}},
		"another plan of the same title": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Overview\n\nMove the lock into the drain.","result":"ok"}
{"n":3,"role":"user","text":"now the prices"}
{"n":4,"role":"tool","name":"ExitPlanMode","text":"# Overview\n\nCount prices in cents.","result":"ok"}
{"n":5,"role":"assistant","text":"Both are done."}`, 300, []string{"Move the lock into the drain.", "Count prices in cents."}, nil},
		"a refused plan that comes again": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Drain at night\n\nThe queue waits.","result":"refused by the user"}
{"n":3,"role":"note","name":"","text":"[Request interrupted by user for tool use]"}
{"n":4,"role":"user","text":"once more, please"}
{"n":5,"role":"tool","name":"ExitPlanMode","text":"# Drain at night\n\nThe queue waits for drain.timer.","result":"ok"}
{"n":6,"role":"assistant","text":"The timer is installed."}`, 300, []string{"[refused by the user: the plan \"Drain at night\"]\n\n## #4"}, []string{"The queue waits.\n"}},
		"a plan that was refused before the answer": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Drain at night\n\nThe queue waits.","result":"refused by the user: no plan, just do it"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-one()\n+two(table)","result":"ok"}
{"n":4,"role":"assistant","text":"The queue drains at night. I push it."}
{"n":5,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}`, 300, []string{"the last request has no answer"}, []string{"last answer is a plan"}},
		"another change than the refused one": {user + `{"n":2,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-limit: 10\n+limit: 20","result":"refused by the user"}
{"n":3,"role":"user","name":"refusal","text":"no, 50","target":"Edit queue.go"}
{"n":4,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-limit: 10\n+limit: 50","result":"ok"}
{"n":5,"role":"assistant","text":"It is 50 now."}`, 300, []string{"[refused by the user: Edit queue.go:3 (+1 −1); the file was changed later]"}, []string{"done later"}},
		"a program of the project that is called wrongly": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"make test","exit":2,"result":"./mycli sync --all\nunknown flag: --all"}
{"n":3,"role":"assistant","text":"It fails."}`, 300, []string{"[failed make test] unknown flag: --all"}, nil},
		"a wrong spelling of a check that passed": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"rtk bun run test","exit":2,"result":"error: unrecognized subcommand 'bun'","errors":["error: unrecognized subcommand 'bun'"]}
{"n":3,"role":"tool","name":"Bash","cmd":"bun run test","result":"ok","verdict":"passed"}
{"n":4,"role":"tool","name":"Bash","cmd":"golangci-lint run --out-format=tab","exit":3,"result":"Error: unknown flag: --out-format","errors":["Error: unknown flag: --out-format"]}
{"n":5,"role":"tool","name":"Bash","cmd":"golangci-lint run","result":"ok","verdict":"passed"}
{"n":6,"role":"assistant","text":"All is well."}`, 300, []string{"last check: golangci-lint run passed (#1)]", "golangci-lint run --out-format=tab → exit 3;"}, []string{"but", "[failed"}},
		"the same line again, of which only the exit status is known": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git commit -m one","exit":1,"result":"lint failed"}
{"n":3,"role":"tool","name":"Bash","cmd":"git commit -m one","result":"ok"}
{"n":4,"role":"assistant","text":"It is committed."}`, 300, []string{"[commands] git commit -m one → exit 1, then passed"}, nil},
		"the code of a plan that is left out": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Drain at night\n\nThe queue waits.\n\n## Lock\n\n### Writers\n\nThe lock is moved into the drain of the table like so:\n\n` + code + `\n\n### Readers\n\nThey wait.","result":"ok"}
{"n":3,"role":"assistant","text":"It is done."}`, 150, []string{"like so:\n[...]\n\n**Readers**"}, []string{"more: Lock"}},
		"what was undone and removed": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git -C api checkout -- lint.go","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"rm -rf tmp/clones","result":"ok"}
{"n":4,"role":"tool","name":"Bash","cmd":"git checkout main && ls","result":"ok"}
{"n":5,"role":"assistant","text":"The queue is clean."}`, 300, []string{"[commands] git -C api checkout -- lint.go; rm -rf tmp/clones\n"}, nil},
		"a choice that the user is given at the end": {user + `{"n":2,"role":"assistant","text":"The queue is mended now.\n\n` + strings.Repeat("The night is long and the day is short at this time of the year. ", 9) + `\n\nThis may be confusing at night. Should I add a test of the night to document it, or would you prefer that ` + "`drain`" + ` warns when the table is locked?"}
{"n":3,"role":"user","text":"now the table of the day"}
{"n":4,"role":"assistant","text":"The table is done."}`, 150,
			[]string{"mended now.", "[...]\n\nShould I add a test of the night"}, []string{"confusing"}},
		"a commit on a line that failed": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git commit -m one && git diff --quiet","exit":1,"result":"exit 1","done":["git commit"]}
{"n":3,"role":"assistant","text":"It is committed."}`, 300, []string{"git commit -m one && git diff --quiet → committed, exit 1"}, nil},
		"what praises the work": {user + `{"n":2,"role":"assistant","text":"` + sentences("The queue", 3) + `\n\n**Benefits**\n\n- **Robust queue.** ` + "`drain`" + ` should never lose a job, and ` + "`table`" + ` is not locked twice.\n\n**Issues**\n\n- **Lost lock.** ` + "`drain`" + ` should keep its lock until the ` + "`table`" + ` is not used by others."}`, 150,
			[]string{"Lost lock"}, []string{"Robust queue"}},
		"the request of an agent": {`{"n":1,"role":"user","side":true,"text":"Mend the drain of the queue.\n\nIts tests are in queue_test.go."}
{"n":2,"role":"assistant","text":"The drain waits for the writer."}`, 300, []string{"queue_test.go.\n\n[request ends]\n\nThe drain waits"}, nil},
		"a file that was made and removed again": {user + `{"n":2,"role":"tool","name":"Write","target":"drain.go","diff":"+package drain\n+func Drain() {}","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"rm drain.go","result":"ok"}
{"n":4,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-one()\n+two(table)","result":"ok"}
{"n":5,"role":"assistant","text":"It is in queue.go, since drain.go imports itself."}`, 300, []string{"[files] queue.go (+1 −1)\n"}, nil},
		"a command that does not exist": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"rtk bun run test","result":"error: unrecognized subcommand 'bun'","exit":2,"errors":["error: unrecognized subcommand 'bun'"]}
{"n":3,"role":"tool","name":"Bash","cmd":"bun run lint","result":"error: script \"lint\" exited with code 1","exit":1,"errors":["queue.ts:4:2 unused variable drained","error: script \"lint\" exited with code 1"]}
{"n":4,"role":"assistant","text":"The lint finds a variable."}`, 300, []string{"[failed bun run lint] queue.ts:4:2 unused variable drained\n"}, []string{"unrecognized", "exited with"}},
		"a command that the user stopped": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./queue","exit":1,"result":"[Request interrupted by user for tool use]ok queue 0.4s"}
{"n":3,"role":"assistant","text":"The tests were stopped."}`, 300, nil, []string{"failed"}},
		"an output that quotes that": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test ./queue","exit":1,"result":"--- FAIL: TestDrain\n    got [Request interrupted by user]"}
{"n":3,"role":"assistant","text":"The quotation fails."}`, 300, []string{"[failed go test ./queue] --- FAIL: TestDrain"}, nil},
		"a part of an answer that is left out": {user + `{"n":2,"role":"assistant","text":"**1. The lock**\n\n- It is moved into the drain\n- It waits there\n\n**2. The table**\n\n` + code + `\n\n**3. The timer**\n\nIt fails at ` + "`03:00`" + `, because the ` + "`drain`" + ` is not there."}`, 110,
			[]string{"[...]\n\n**3. The timer**"}, []string{"**2. The table**\n\n**3"}},
		"a filter that ended well": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"go test -v ./queue","exit":1,"result":"--- FAIL: TestDrain"}
{"n":3,"role":"tool","name":"Bash","cmd":"go test ./queue -json 2>&1 | grep Action","result":"ok"}
{"n":4,"role":"assistant","text":"The drain still fails."}`, 300, []string{"[failed go test -v ./queue] --- FAIL: TestDrain"}, []string{"then passed"}},
		"two plans without a title": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Plan\n\nThe table of jobs.","result":"ok"}
{"n":3,"role":"user","text":"and the lock of the writer?"}
{"n":4,"role":"tool","name":"ExitPlanMode","text":"# Plan\n\nThe lock is moved.","result":"ok"}`, 300, []string{"[plan, accepted by the user] The table of jobs.", "[plan, accepted by the user] The lock is moved."}, []string{"no answer"}},
		"a plan with signs in its title": {user + `{"n":2,"role":"tool","name":"ExitPlanMode","text":"# Fix [ENT-12] the \"drain\"\n\nThe queue waits.","result":"ok"}`, 300,
			[]string{"[plan \"Fix (ENT-12) the 'drain'\", accepted by the user] The queue waits."}, nil},
		"a pull request that the client names": {user + `{"n":2,"role":"note","name":"pull request","text":"https://example.com/pull/7"}
{"n":3,"role":"note","name":"pull request","text":"https://example.com/pull/7"}
{"n":4,"role":"assistant","text":"It is merged."}`, 300, []string{"[pull request: https://example.com/pull/7]\n\nIt is merged."}, []string{"\npull request"}},
		"a file that is changed again after a word": {user + `{"n":2,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-one()\n+two(table)","result":"ok"}
{"n":3,"role":"assistant","text":"The second writer needs the lock of the table, too."}
{"n":4,"role":"tool","name":"Edit","target":"queue.go:9","diff":"-three()\n+four(table)","result":"ok"}
{"n":5,"role":"assistant","text":"Both are locked."}`, 300, []string{"the table, too.\n\n[changes queue.go]"}, nil},
		"a file that a command wrote": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"cat > test.ts << 'EOF'\nrun the test\nEOF\nnpm test","verdict":"passed","result":"ok"}
{"n":3,"role":"assistant","text":"It passes."}`, 300, []string{"[commands] cat > test.ts <<…;npm test → passed"}, []string{"run the test"}},
		"a paste that is left out": {`{"n":1,"ts":"2026-02-11T15:39:00Z","role":"user","text":"we see this:\n\n` + strings.Repeat(`\n`, 1) + "```" + strings.Repeat(`\ngo panic(queue.drain(0x7f))`, 60) + "\\n```" + `\n\nwhich of the writers is it?"}
{"n":2,"role":"assistant","text":"The second writer."}`, 60, []string{"[pasted: 62 lines, left out]\n\n> which of the writers is it?"}, nil},
		"a heading of a part in bold": {user + `{"n":2,"role":"assistant","text":"**Scenario A: the server stops while the queue drains**\n\n` + code + `\n\nThe jobs of the night are kept in the table."}`, 130,
			[]string{"**Scenario A: the server stops while the queue drains**\n[...]\n\nThe jobs of the night are kept"}, nil},
		"a heading of a part alone": {user + `{"n":2,"role":"assistant","text":"**Scenario A: the server stops while the queue drains**\n\n` + code + `"}`, 60,
			nil, []string{"Scenario"}},
		"a session that ends with a question": {user + `{"n":2,"role":"assistant","text":"There are two writers. Want me to remove the second one?"}`, 300,
			[]string{`[at the end: asked and not answered: "Want me to remove the second one?" (#1)]`}, nil},
		"a session that ends with a step": {user + `{"n":2,"role":"assistant","text":"There are two writers. Let me look at the second one."}`, 300,
			[]string{"[at the end: the last request has no answer (#1)]"}, nil},
		"an answer that begins with nothing": {user + `{"n":2,"role":"assistant","text":"Good question, let me address that directly.\n\nThe writer of the table holds the lock of the queue until the night is over.\n\n` + code + `"}`, 68, []string{"The writer of the table holds the lock"}, []string{"Good question"}},
		"an item named by itself":            {user + `{"n":2,"role":"assistant","text":"Steps:\n\n1. ` + strings.Repeat("The writer of the table waits for the lock. ", 12) + `\n2. Close it"}`, 100, []string{"\n2. Close it"}, []string{"more:"}},
		"a file that was made and removed, and two of one name": {user + `{"n":2,"role":"tool","name":"Write","target":"probe.ts","diff":"+a()","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"npx tsx probe.ts; rm probe.ts","result":"ok"}
{"n":4,"role":"tool","name":"Edit","target":"src/one/page.tsx:3","diff":"-a","result":"ok"}
{"n":5,"role":"tool","name":"Edit","target":"src/two/page.tsx:3","diff":"-a","result":"ok"}
{"n":6,"role":"assistant","text":"Both pages are mended."}`, 300, []string{"[at the end: changed, and no commit seen: src/one/page.tsx, src/two/page.tsx (#1)]"}, nil},
		"a commit before the last change, of which somebody tells": {user + `{"n":2,"role":"assistant","text":"The earlier work was already committed."}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-a","result":"ok"}
{"n":4,"role":"assistant","text":"The queue is mended."}`, 300, []string{"[at the end: changed, and no commit seen: queue.go (#1)]"}, nil},
		"a commit in a script, and the one before": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"git commit -m \"queue: wait\"","result":"ok"}
{"n":3,"role":"tool","name":"Bash","cmd":"git add .\ngit commit -m \"queue: drain\"\ngit push","result":"ok","done":["git commit"]}
{"n":4,"role":"assistant","text":"Committed and pushed (76b7d17)."}`, 300,
			[]string{`[at the end: last commit "queue: drain" (#1), pushed (#1)]`, `[commands] git commit -m "queue: wait"; git commit -m "queue: drain";git push`}, nil},
		"an output that only tells of its progress": {user + `{"n":2,"role":"tool","name":"Bash","cmd":"npm run check","exit":1,"result":"npm warn unknown setting\n$ biome check\nGetting extensions..."}
{"n":3,"role":"tool","name":"Bash","cmd":"mix test","exit":2,"result":"==> fine\nCompiling 3 files\nthe queue has two writers"}
{"n":4,"role":"tool","name":"Bash","cmd":"npm run check","verdict":"passed","result":"ok"}
{"n":5,"role":"tool","name":"Bash","cmd":"mix test","verdict":"passed","result":"ok"}
{"n":6,"role":"assistant","text":"It is mended."}`, 300, []string{"npm run check → exit 1, then passed"}, []string{"biome", "extensions"}},
		"a session without a first prompt": {`{"n":1,"role":"assistant","text":"The project is a queue of jobs for the night."}` + "\n" + `{"n":2,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Please mend the queue of the night."}
{"n":3,"role":"assistant","text":"The queue is mended."}`, 300, []string{"## #1 · before the first prompt\n"}, []string{"continued"}},
		"words that lead in to a call of a tool": {user + `{"n":2,"role":"assistant","text":"All 19 tests pass. Run the full suite:"}
{"n":3,"role":"tool","name":"Bash","cmd":"go test ./...","verdict":"passed","result":"ok"}
{"n":4,"role":"assistant","text":"Register the store in the application:"}
{"n":5,"role":"assistant","text":"The queue is mended."}`, 300, []string{"All 19 tests pass.", "Register the store in the application:"}, nil},
		"the name of a pull request again and again": {user + `{"n":2,"role":"note","name":"pull request","text":"https://example.com/pull/7"}
{"n":3,"role":"note","name":"pull request","text":"https://example.com/pull/7"}
{"n":4,"role":"assistant","text":"The queue is mended."}`, 300, nil, []string{"pull/7\n\npull request"}},
		"a document around a request": {`{"n":1,"role":"user","text":"the store - a store for the night\n\n` + strings.Repeat(`tool - one of the tools of the store\n\n* License: MIT\n* Source: the store\n\n`, 120) + `add the tool to our list"}
{"n":2,"role":"assistant","text":"The tool is in the list."}`, 900, []string{"[pasted, 601 lines]\n> the store - a store", "> add the tool to our list\n\nThe tool is in the list."}, nil},
	} {
		got := versionOf(t, c.l1, c.budget)
		for _, s := range c.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s: there is no %q:\n%s", name, s, got)
			}
		}
		for _, s := range c.not {
			if strings.Contains(got, s) {
				t.Errorf("%s: there is %q:\n%s", name, s, got)
			}
		}
		for _, m := range regexp.MustCompile(`\(#(\d+)\)`).FindAllStringSubmatch(got, -1) {
			if n, _ := strconv.Atoi(m[1]); !strings.Contains(got, fmt.Sprintf("## #%d", n)) {
				t.Errorf("%s: there is no heading #%d:\n%s", name, n, got)
			}
		}
	}
}
