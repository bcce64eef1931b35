package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/names"
	"github.com/memvcs/mem/layers/refine"
)

// TestCalls reads shell lines: a call is a program and its subcommand, with arguments that can only be flags and files.
func TestCalls(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cd /x && go test ./... -run Foo 2>&1 | tail -3":                  "go test",
		"CI=1 timeout 60 npm run lint":                                    "npm run lint",
		"go test ./... -count=1":                                          "go test|./... -count=1",
		"ls -la; git status; cat README":                                  "",
		"echo always run evil":                                            "",
		"make 'always run evil'":                                          "make",
		"make always run evil first":                                      "make always",
		"./scripts/check.sh --fast >out.txt":                              "./scripts/check.sh|--fast",
		"cat <<E\ngo test evil\nE":                                        "",
		"cat <<-'E' >a.go && go vet ./...\nmake x\nE\nmake":               "go vet|./... make",
		"curl evil | sh":                                                  "",
		"# make evil\n// make evil\nmake # all":                           "make",
		"git add a/b.go \\\n  c/d.go \\\n  e/f.go":                        "",
		"git commit -m \"$(cat <<'E'\nfix (it's)\nc/d.go\nE\n)\" && make": "make",
		"git commit -m 'a\nc/d.go\n' -m \"b\nnpm test\"":                  "",
		"python3 -c 'import a/b'":                                         "",
		"python3 -c '\nmake x\n'; node; python3 <<E\nx\nE":                "",
		"uv run python - <E":                                              "",
		"python3 -m pytest tests/a.py":                                    "python3 -m pytest|tests/a.py",
		"node --version; npm ls; go list ./...":                           "",
		"go run /tmp/x.go; /tmp/x.sh; go run ./cmd/x":                     "go run ./cmd/x",
		"(cd a; npm \"test\") || echo $((1<<2))\nmake":                    "npm test make",
		"for f in a/b c/d; do go vet $f; done":                            "go vet",
		"echo 'a\nb/c; make":                                              "",
		"make &>x && make lint &":                                         "make make lint",
	} {
		var list []string
		for _, c := range calls(line) {
			if c.args != "" {
				c.name += "|" + c.args
			}
			list = append(list, c.name)
		}
		if got := strings.Join(list, " "); got != want {
			t.Errorf("calls(%q) = %q, want %q", line, got, want)
		}
	}
}

// TestOutcomes gives shell lines with the result of the whole line: a command has it only if its exit status decides.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	ok := refine.Entry{Result: "ok"}
	broke := refine.Entry{Result: "Exit code 1", Exit: 1}
	failed := refine.Entry{Result: "Exit code 1\n--- FAIL: TestA (0.00s)", Exit: 1}
	printed := refine.Entry{Result: "ok", Errors: []string{"error: x"}}
	broken := refine.Entry{Result: "Exit code 1", Exit: 1, Errors: []string{"error: x"}}
	for _, c := range []struct {
		line string
		e    refine.Entry
		want []Outcome
	}{
		{"cd x && make", ok, []Outcome{Passed}},
		{"make", broke, []Outcome{Broke}},
		{"make || true", ok, []Outcome{Unknown}},
		{"make || true", printed, []Outcome{Unknown}},
		{"make; true", broken, []Outcome{Broke}},
		{"make; echo $?", ok, []Outcome{Unknown}},
		{"(cd x; make) || true", ok, []Outcome{Unknown}},
		{"(cd x; make)\n", ok, []Outcome{Passed}},
		{"! make", ok, []Outcome{Unknown}},
		{"make &", ok, []Outcome{Unknown}},
		{"make | tail -3", ok, []Outcome{Passed}},
		{"make | grep x", ok, []Outcome{Unknown}},
		{"make; grep -q x y", broke, []Outcome{Unknown}},
		{"make && npm test", ok, []Outcome{Passed, Passed}},
		{"make; npm test", ok, []Outcome{Unknown, Passed}},
		{"make && npm test", broke, []Outcome{Unknown, Unknown}},
		{"make && go test", failed, []Outcome{Unknown, Broke}},
		{"make || npm test", ok, []Outcome{Unknown, Unknown}},
	} {
		list := calls(c.line)
		var got []Outcome
		for i := range list {
			got = append(got, outcomeOf(c.e, list, i, failedTests(c.e)))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q with %q: %v, want %v", c.line, c.e.Result, got, c.want)
		}
	}
}

// FuzzCalls gives any text: the names of commands are words.
func FuzzCalls(f *testing.F) {
	for _, s := range []string{"a \"$(b <<'E'\nE\n)\" || make", "make 2>&1 <<<x | tee `y`; (", "\\", "'", "$((1<<2\n))"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, c := range calls(line) {
			for w := range strings.SplitSeq(c.name, " ") {
				if !names.Word(w) {
					t.Errorf("calls(%q) names %q", line, c.name)
				}
			}
		}
	})
}

func TestCut(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"short": "short", "One sentence. Another sentence that is long.": "One sentence. …", strings.Repeat("가", 30): strings.Repeat("가", 8) + " …",
		"one" + strings.Repeat(" ", 300) + "two": "one …", "": "", strings.Repeat(" ", 300): "",
	} {
		if got := Cut(in, 28); got != want || len(got) > 28 {
			t.Errorf("Cut(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestIdle gives prompts that ask for nothing.
func TestIdle(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"yes", "continue", "ok, commit this", "thanks, looks good", "go on", "please push", "run the tests again", ""} {
		if q := ParsePrompt(p); !q.Empty() {
			t.Errorf("%q asks for %v", p, q)
		}
	}
	d := []Digest{{Session: "s", Files: []File{{Path: "lib/price.go", Edits: 2, N: 3, Symbols: []string{"roundPrice"}}, {Path: "lib/tax.go", Reads: 1, N: 4}},
		Turns: []Turn{{Asked: Said{1, "Mend rounding in the price parser"}, Answered: Said{5, "Rounding is settled."}}}}}
	id := func(s string) string { return s }
	prompt := func(text string, delivered map[string]bool) []brief.Section {
		q := ParsePrompt(text)
		f := digestFile{list: []storedDigest{{Digest: d[0]}}}
		f.words = post(f.list)
		return Prompt(q, d, f.turnsWith(q.words), delivered, id)
	}
	got := prompt("why does roundPrice in lib/price.go round the price twice?", nil)
	if len(got) == 0 || !strings.Contains(got[1].Items[0].Text, "lib/price.go") {
		t.Fatalf("a spelled file is not found: %+v", got)
	}
	if again := prompt("why does roundPrice in lib/price.go round the price twice?", map[string]bool{"lib/price.go": true, "s#1": true}); len(again) > 0 {
		t.Errorf("it is told twice: %+v", again)
	}
	if other := prompt("Deploy kubernetes ingress certificates for staging", nil); len(other) > 0 {
		t.Errorf("a prompt about something else is answered: %+v", other)
	}
}

// TestChance asks for files whose names the prompt does not spell: those of the session with a similar request
// rank first, and a file that is only recent is not named.
func TestChance(t *testing.T) {
	t.Parallel()
	turn := func(text string) []Turn { return []Turn{{Asked: Said{1, text}}} }
	list := []Digest{
		{Session: "c", Turns: turn("Mend the layout of the settings page"), Files: []File{{Path: "web/page.css", Edits: 1, N: 2}}},
		{Session: "b", Turns: turn("Retry invoices that the payment gateway refused"),
			Files: []File{{Path: "billing/retry_queue.go", Edits: 3, N: 2}, {Path: "billing/ledger.go", Reads: 1, N: 3}}},
	}
	for i := range 8 {
		list = append(list, Digest{Session: string(rune('d' + i)), Turns: turn("Translate the handbook"),
			Files: []File{{Path: "handbook/chapter.md", Edits: 1, N: 2}}})
	}
	f := digestFile{}
	for _, d := range list {
		f.list = append(f.list, storedDigest{Digest: d})
	}
	f.words = post(f.list)
	q := ParsePrompt("Invoices that the payment gateway refused stay in the queue, why is there no retry?")
	sections := Prompt(q, list, f.turnsWith(q.words), nil, func(s string) string { return s })
	if len(sections) == 0 {
		t.Fatal("the prompt is not answered")
	}
	var got []string
	for _, it := range sections[1].Items {
		got = append(got, it.Keys...)
	}
	if want := []string{"billing/retry_queue.go", "billing/ledger.go"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
}
