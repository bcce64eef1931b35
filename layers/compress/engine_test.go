package compress

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
)

// TestEngineGone holds that a plan of an engine that this program does not have is not carried out by another.
func TestEngineGone(t *testing.T) {
	t.Parallel()
	items, st, _ := session(5, 20)
	p, _, err := Resolve(Settings{Ratio: 3, Keepit: Ignore, Counter: tokens.For("")}, st, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"extract/1", "extract/4", "extract/99"} {
		p.Engine = id
		if _, err := Run(context.Background(), Input{Items: items}, p, Extract{}); !errors.Is(err, ErrEngineGone) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", id, err)
		}
		if !IsExtract(id) {
			t.Errorf("%s is no engine without a model", id)
		}
	}
	if IsExtract("claude/1") {
		t.Error("claude is an engine without a model")
	}
}

// TestShortCommand holds what is taken off the ends of commands, and that nothing is taken out of their middle.
func TestShortCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"$ cd /home/dev/shop && go test ./... 2>&1 | tail -20": "$ go test ./...",
		"$ go vet ./cart/price/sum.go | head -3 -> exit 1":     "$ go vet ./cart/price/sum.go -> exit 1",
		"$ cat a.txt | tail -5 | sort":                         "$ cat a.txt | tail -5 | sort",
		"$ rm -f x || true":                                    "$ rm -f x",
		"$ make 2>&1 | tee log":                                "$ make 2>&1 | tee log",
		"$ a || true && b":                                     "$ a || true && b",
		"$ cd a; cd b && ls":                                   "$ cd a; cd b && ls",
		`$ echo "a | head b"`:                                  `$ echo "a | head b"`,
		"":                                                     "",
	} {
		if got := anchors.ShortCommand(in); got != want {
			t.Errorf("ShortCommand(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSaidAsSaid holds that each line of a version is an unbroken piece of a line of the messages that its segment names, or such
// pieces in their order with " … " between them, or a list or a block behind its label.
func TestSaidAsSaid(t *testing.T) {
	notShort(t)
	t.Parallel()
	seen := map[string]int{}
	for seed := range int64(3) {
		items, st, _ := session(seed, 200)
		items = withDiffs(items)
		for i := range items {
			if items[i].Kind == User && items[i].N%4 == 0 {
				items[i].Text += " It must not round twice unless the tax office asks for it. Only then may you add a second step to it. Please tell me first."
			}
		}
		source := map[int]string{}
		for _, it := range items {
			source[it.N] += it.Text + "\n" + withoutTags(it.Text) + "\n" + it.Diff + "\n"
		}
		for _, s := range []Settings{{Ratio: 3}, {Ratio: 10}, {Ratio: 20}, {Ratio: 50}, {Tokens: 60}, {Tokens: 25}, {Preset: "standard"}} {
			s.Keepit, s.Counter = Ignore, tokens.For("")
			p, _, err := Resolve(s, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			for _, seg := range r.Segments {
				if seg.Role == "heading" || seg.Label == "files" || seg.Label == "commands" || seg.Code == "diff" {
					seen[seg.Role+seg.Label]++
					continue
				}
				for line := range strings.SplitSeq(seg.Text, "\n") {
					kind := saidAs(line, source[seg.Src[0][0]])
					if seen[kind]++; kind == "" || kind != "verbatim" && seg.Role == "user" && !seg.Partial {
						t.Errorf("seed %d, %+v: %q of %s is %q of %q", seed, s, line, seg.Role, kind, source[seg.Src[0][0]])
					}
				}
			}
		}
	}
	for _, kind := range []string{"verbatim", "heading", "toolfiles", "toolcommands"} {
		if seen[kind] == 0 {
			t.Errorf("there is no %s: %v", kind, seen)
		}
	}
}

// TestMonotone holds that a version with a larger budget has everything that one with a smaller budget has.
func TestMonotone(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(3) {
		items, st, _ := session(seed, 150)
		before := map[string]int{}
		for n := 100; n < 6000; n = n*5/4 + 1 {
			p, _, err := Resolve(Settings{Tokens: n, Level: new(Level), Keepit: Ignore, Counter: tokens.For("")}, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: items}, p, Extract{})
			if err != nil {
				t.Fatal(err)
			}
			said := map[string]int{}
			for _, s := range r.Segments {
				if s.Label == "files" || s.Label == "commands" {
					continue // one line of many entries
				}
				if s.Role == "heading" { // the date is in the first of a day
					s.Text, _, _ = strings.Cut(s.Text, " · ")
				}
				for line := range strings.SplitSeq(s.Text, "\n") {
					for piece := range strings.SplitSeq(line, anchors.Gap) {
						said[piece]++
					}
				}
			}
			all := Text(r.Segments)
			for piece := range before {
				if !strings.Contains(all, piece) {
					t.Errorf("seed %d: %d tokens lack %q", seed, n, piece)
				}
			}
			before = said
		}
	}
}

func versionOf(t *testing.T, l1 string, budget int) string {
	t.Helper()
	items, err := Items(refine.Entries(strings.NewReader(strings.TrimLeft(l1, "\n"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := items[len(items)-1].N
	r, err := Run(context.Background(), Input{Items: items}, Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(),
		Budget: budget, Tiers: []Part{{From: 1, To: last, Budget: budget, Level: 1}}}, Extract{})
	if err != nil {
		t.Fatal(err)
	}
	return Text(r.Segments)
}

const loginL1 = `
{"n":2,"ts":"2026-02-11T15:39:00Z","role":"user","text":"Why does the login fail?\n\nIt worked yesterday."}
{"n":3,"role":"assistant","text":"Let me look."}
{"n":4,"role":"tool","name":"Bash","cmd":"cd /src && go test ./login 2>&1 | tail","exit":1,"result":"--- FAIL: TestLogin\n    login_test.go:9: got 401"}
{"n":6,"role":"tool","name":"Edit","target":"login.go:12","diff":"-\treturn old\n+\treturn fresh\n+\t// tokens expire","symbols":["Token"],"result":"ok"}
{"n":7,"role":"tool","name":"Bash","cmd":"git push","result":"refused by the user"}
{"n":8,"role":"user","name":"refusal","text":"not yet","target":"Bash git push"}
{"n":9,"role":"tool","name":"Bash","cmd":"go test ./...","result":"ok"}
{"n":10,"ts":"2026-02-11T15:45:00Z","role":"assistant","text":"The token had expired.\n\n# Fix\n\nIt is read again:\n\n- in ` + "`login.go`" + `\n\n` + "```go\\nreturn fresh\\n```" + `"}
{"n":12,"ts":"2026-02-12T09:00:00Z","role":"user","text":"thanks"}
{"n":13,"role":"summary","name":"boundary"}
{"n":14,"role":"summary","text":"The login was fixed."}
{"n":15,"role":"assistant","text":"You are welcome."}
`

// TestDigest holds the form of a version.
func TestDigest(t *testing.T) {
	t.Parallel()
	want := `## #2 · Feb 11 15:39

> Why does the login fail?
> 
> It worked yesterday.

Let me look.

[failed go test ./login, then passed] --- FAIL: TestLogin

[answer] the user refused: git push

> not yet

The token had expired.

**Fix**

It is read again:

- in ` + "`login.go`" + `

` + "```go\nreturn fresh\n```" + `

[changes login.go]

` + "```diff\n@@ 12 @@\n-\treturn old\n+\treturn fresh\n+\t// tokens expire\n```" + `

[files] login.go (+2 −1): Token

[commands] go test ./login → exit 1; go test ./...

## #12 · Feb 12 09:00

> thanks

[summary of #1..13] The login was fixed.

[summary ends]

You are welcome.
`
	if got := versionOf(t, loginL1, 4000); got != want {
		t.Errorf("the digest is\n%s\nwant\n%s", got, want)
	}
	small := versionOf(t, loginL1, 110)
	for _, s := range []string{"> Why does the login fail?", "The token had expired.", "> thanks", "You are welcome."} {
		if !strings.Contains(small, s) {
			t.Errorf("110 tokens lack %q:\n%s", s, small)
		}
	}
}

// TestAsked holds that no answer is shown without what it answers, whatever the budget.
func TestAsked(t *testing.T) {
	t.Parallel()
	l1 := `
{"n":1,"role":"user","text":"Which store do we take for the queue?"}
{"n":2,"role":"assistant","text":"` + strings.Repeat("The queue is read from many places in the code. ", 12) + `\n\nShould I write the table first?"}
{"n":3,"role":"user","text":"yes please"}
{"n":4,"role":"user","name":"answer","text":"SQLite\nthe next release","dialog":[{"question":"Which store holds the jobs? It must be one that survives a restart.","answer":"SQLite"},{"question":"When does it ship?","answer":"the next release"}]}
{"n":5,"role":"tool","name":"ExitPlanMode","text":"# Plan\n\nWrite the table.","result":"refused by the user"}
{"n":6,"role":"tool","name":"Edit","target":"jobs.go","diff":"+func Drain() {}","result":"refused by the user"}
{"n":7,"role":"user","name":"refusal","text":"call it Flush","target":"Edit jobs.go"}
{"n":8,"role":"assistant","text":"The table is written."}
{"n":9,"role":"user","text":"thanks, that is all for today"}
`
	for budget := 20; budget < 600; budget += 5 {
		got := versionOf(t, l1, budget)
		for answer, question := range map[string]string{
			"> yes please":       "Should I write the table first?",
			"> SQLite":           "[asked] Which store holds the jobs? It must be one that survives a restart.",
			"> the next release": "[asked] When does it ship?",
			"> call it Flush":    "[answer] the user refused: Edit jobs.go",
		} {
			if strings.Contains(got, answer) && !strings.Contains(got, question) {
				t.Errorf("%d tokens: %q without %q:\n%s", budget, answer, question, got)
			}
		}
	}
	got := versionOf(t, l1, 600)
	for _, want := range []string{"[plan, refused by the user] **Plan**", "[no answer] nothing followed"} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %q:\n%s", want, got)
		}
	}
}

// TestLists holds that a short list is shown whole or not at all, and that the end of what is shown of a long one is marked.
func TestLists(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 40 {
		fmt.Fprintf(&long, "- The handler %d of queue_%d.go retries when the lock is lost\\n", i, i)
	}
	l1 := `
{"n":1,"role":"user","text":"What are the options for the queue?"}
{"n":2,"role":"assistant","text":"There are three ways to do it.\n\n**Options:**\n\n1. SQLite, which we have\n2. Redis, which is faster\n3. A file, which is simplest\n\nThe handlers are these:\n\n` + long.String() + `\nI would take the first one."}
`
	whole, part := 0, 0
	for budget := 20; budget < 900; budget += 5 {
		got := versionOf(t, l1, budget)
		switch n := strings.Count(got, "SQLite, which") + strings.Count(got, "Redis, which") + strings.Count(got, "A file, which"); n {
		case 0:
			if strings.Contains(got, "Options") {
				t.Errorf("%d tokens: a heading without its list:\n%s", budget, got)
			}
		case 3:
			whole++
		default:
			t.Errorf("%d tokens: %d of 3 options:\n%s", budget, n, got)
		}
		n := strings.Count(got, "- The handler")
		mark := fmt.Sprintf(" … (%d more)\n", 40-n)
		if n > 0 && n < 40 {
			part++
			if !strings.Contains(got, mark) || !strings.Contains(got, "- The handler 0 ") {
				t.Errorf("%d tokens: %d of 40 items without their first or %q:\n%s", budget, n, mark, got)
			}
		}
	}
	if whole == 0 || part == 0 {
		t.Log(versionOf(t, l1, 800))
		t.Errorf("%d versions with the short list, %d with a part of the long one", whole, part)
	}
}

// TestLeadIn holds that no text ends on words that only announce what is left out, and that an item of a list brings them with it.
func TestLeadIn(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("## Changes\\n\\nHere is what I did, in the order of the files:\\n")
	for i := range 30 {
		fmt.Fprintf(&b, "\\n- The handler number%dOf the `queue%d.go` retries because the lock of store_%d was lost.", i, i, i)
	}
	l1 := `{"n":1,"role":"user","text":"go on"}` + "\n" + `{"n":2,"role":"assistant","text":"` + b.String() + `"}` + "\n"
	for budget := 12; budget < 400; budget += 7 {
		got := versionOf(t, l1, budget)
		lines := strings.Split(strings.TrimSpace(got), "\n")
		if leadsIn(lines[len(lines)-1]) || strings.Contains(got, "- ") && !strings.Contains(got, "Here is what I did") {
			t.Errorf("%d tokens: %s", budget, got)
		}
	}
}

// TestMonotonousOutput: what a command printed, what starts agents and what the client writes never displaces a decision.
func TestMonotonousOutput(t *testing.T) {
	t.Parallel()
	var numbers strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&numbers, "%d\\n", i)
	}
	l1 := `{"n":1,"role":"user","text":"Which store do we take?\n\n` + "```\\n" + numbers.String() + "```" + `"}
{"n":2,"role":"tool","name":"Task","target":"` + strings.Repeat("Look at file_%d.go and list names. ", 40) + `","result":"ok"}
{"n":3,"role":"note","text":"Base directory for this skill: /x"}
{"n":4,"role":"assistant","text":"We take SQLite, because it needs no server."}
`
	got := versionOf(t, l1, 60)
	if !strings.Contains(got, "Which store") || !strings.Contains(got, "because it needs no server.") || strings.Contains(got, "Base directory") {
		t.Errorf("%s", got)
	}
}

// TestFencesBalanced holds that every block of code in a version ends in it, whatever was cut.
func TestFencesBalanced(t *testing.T) {
	t.Parallel()
	text := "Look:\\n\\n```go\\nfunc A() {}\\n```\\n\\nand\\n\\n````md\\n```\\nx\\n```\\n````\\n\\nthen the open one\\n\\n```\\nnever closed"
	l1 := `{"n":1,"role":"user","text":"` + text + `"}` + "\n" + `{"n":2,"role":"assistant","text":"` + text + `"}` + "\n"
	for budget := 10; budget < 200; budget++ {
		open := ""
		for line := range strings.SplitSeq(versionOf(t, l1, budget), "\n") {
			line = strings.TrimPrefix(line, "> ")
			switch {
			case open != "" && closes(line, open):
				open = ""
			case open == "" && strings.HasPrefix(line, "```"):
				open = fenceOf(line)
			}
		}
		if open != "" {
			t.Errorf("%d tokens: a block of code is open:\n%s", budget, versionOf(t, l1, budget))
		}
	}
}

// saidAs tells how a line repeats a source: verbatim, cut, or "" if it does not.
func saidAs(line, source string) string {
	line = strings.TrimLeft(strings.TrimPrefix(singleSpaced(line), "$ "), "+-")
	source = singleSpaced(source)
	if strings.Contains(source, strings.TrimSpace(line)) {
		return "verbatim"
	}
	if !strings.Contains(line, "…") {
		return ""
	}
	for piece := range strings.SplitSeq(line, "…") {
		_, rest, ok := strings.Cut(source, strings.TrimSpace(piece))
		if !ok {
			return ""
		}
		source = rest
	}
	return "cut"
}
