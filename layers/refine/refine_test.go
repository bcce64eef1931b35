package refine

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// transcripts calls fn with the committed transcripts and, if MEM_TRANSCRIPTS names a directory, with what lies there.
func transcripts(t testing.TB, fn func(path string, b []byte)) {
	t.Helper()
	dirs := []string{"../../testdata/transcripts"}
	if dir := os.Getenv("MEM_TRANSCRIPTS"); dir != "" {
		dirs = append(dirs, dir)
	} else if t, ok := t.(*testing.T); ok {
		t.Run("real", func(t *testing.T) {
			t.Skip("SKIPPED: MEM_TRANSCRIPTS is not set, so only the committed transcripts are read")
		})
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
				return err
			}
			b, err := os.ReadFile(path)
			fn(path, b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func l1(t testing.TB, src []byte, mode Mode) []byte {
	t.Helper()
	var out bytes.Buffer
	stats, err := Stream(bytes.NewReader(src), mode, nil, nil, &out)
	if err != nil {
		t.Fatal(err)
	}
	if stats.In != int64(len(src)) || stats.Out != int64(out.Len()) || stats.Entries != bytes.Count(out.Bytes(), []byte("\n")) {
		t.Fatalf("Stats = %+v for %d -> %d bytes", stats, len(src), out.Len())
	}
	return out.Bytes()
}

// TestReduction measures how much smaller L1 is than the transcripts of MEM_TRANSCRIPTS, and holds the bars
// for files over 100 KB.
func TestReduction(t *testing.T) {
	dir := os.Getenv("MEM_TRANSCRIPTS")
	if dir == "" {
		t.Skip("SKIPPED: MEM_TRANSCRIPTS is not set")
	}
	for _, c := range []struct {
		mode          Mode
		name          string
		median, share float64
	}{{Full, "full", .95, .92}, {Lean, "lean", .965, .98}} {
		var all, large []float64
		in, out, over := 0, 0, 0
		transcripts(t, func(path string, b []byte) {
			if !strings.HasPrefix(path, dir) || len(b) == 0 {
				return
			}
			n := len(l1(t, b, c.mode))
			ratio := 1 - float64(n)/float64(len(b))
			all = append(all, ratio)
			if len(b) >= 100_000 {
				large = append(large, ratio)
				in, out = in+len(b), out+n
				if ratio >= .9 {
					over++
				} else if c.mode == Lean {
					t.Log(path, len(b), ratio)
				}
			}
		})
		slices.Sort(all)
		slices.Sort(large)
		share := float64(over) / float64(len(large))
		median := large[len(large)/2]
		t.Logf("%s: %d files median %.4f; %d of 100 KB and more: median %.4f, p10 %.4f, at least .9 on %.4f of them, weighted %.4f", c.name,
			len(all), all[len(all)/2], len(large), median, large[len(large)/10], share, 1-float64(out)/float64(in))
		if median < c.median || share < c.share {
			t.Errorf("%s: median %.4f, want %.3f; at least .9 on %.4f, want %.2f", c.name, median, c.median, share, c.share)
		}
	}
}

func BenchmarkRefine(b *testing.B) {
	var all []byte
	transcripts(b, func(_ string, t []byte) {
		if len(all) < 100<<20 {
			all = append(append(all, t...), '\n')
		}
	})
	b.SetBytes(int64(len(all)))
	for b.Loop() {
		if _, err := Stream(bytes.NewReader(all), Full, nil, nil, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyParts refines messages of many small parts. Quadratic time would be minutes.
func TestManyParts(t *testing.T) {
	t.Parallel()
	const (
		size      = 4 << 20
		call      = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"AskUserQuestion","input":`
		question  = `{"question":"a"},`
		result    = `{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"x`
		reminders = `<system-reminder></system-reminder>`
	)
	var blocks strings.Builder
	for i := 0; blocks.Len() < size; i++ {
		fmt.Fprintf(&blocks, `{"type":"text","text":"part %d"},`, i)
	}
	for name, src := range map[string]string{
		"questions": call + `{"questions":[` + strings.Repeat(question, size/len(question)) + `{}]}}]}}`,
		"blocks":    `{"type":"user","message":{"content":[` + blocks.String() + `{}]}}`,
		"reminders": result + strings.Repeat(reminders, size/len(reminders)) + `"}]}}`,
	} {
		stats, err := Stream(strings.NewReader(src), Full, nil, nil, io.Discard)
		if err != nil || stats.Entries != 1 || stats.Opaque != 0 {
			t.Errorf("%s: %+v, %v, want one entry", name, stats, err)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":  "",
		"a": "a",
		"a <system-reminder>b</system-reminder>c<system-reminder>d</system-reminder>": "a c",
		"a<system-reminder>b":  "a<system-reminder>b",
		"</system-reminder>ab": "</system-reminder>ab",
		"\x1b[1éa\x1b[":        "éa",
		"<tool_use_error>\x1b[31ma\x1b[0m</tool_use_error>": "a",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestPatch takes the changed lines from the client's copy of a result: only that says what a file had before, how often a
// text was replaced, and what changed at all.
func TestPatch(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`"-a line that was there before",`, 30)
	for _, tt := range []struct{ name, tool, input, result, target, diff string }{
		{"another member after it", "Write", `"content":"first\nsecond\n"`,
			`"structuredPatch":[{"newStart":3,"lines":[" a","-b","+c"]}],"other":{"lines":["+d"]},"list":["+e"]`, "a.go:4", "-b\n+c"},
		{"longer than the text", "Write", `"content":"c\n"`, `"structuredPatch":[{"newStart":1,"lines":[` + long + `"+c"]}]`,
			"a.go:1", strings.Repeat("-a line that was there before\n", 30) + "+c"},
		{"tabs as the file has them", "Write", `"content":"\tc\n"`,
			`"content":"\tc\n","originalFile":"\tb\r\n","structuredPatch":[{"oldStart":1,"newStart":1,"lines":["-  b","+  c"]}]`,
			"a.go:1", "-\tb\n+\tc"},
		{"hunks, blank lines, no newline at the end", "Write", `"content":"x"`,
			`"structuredPatch":[{"newStart":1,"lines":["+","+a"]},{"newStart":9,"lines":["-b","\\ No newline at end of file","+c"," ","-"]}]`,
			"a.go:1", "+\n+a\n@@\n-b\n+c\n@@\n-"},
		{"unchanged lines as removed and added", "Write", `"content":"x"`,
			`"structuredPatch":[{"newStart":1,"lines":["-a","-b","+a","+c"]}]`, "a.go:1", "-b\n+c"},
		{"the same text", "Write", `"content":"a\n"`, `"type":"update","content":"a\n","structuredPatch":[]`, "a.go", ""},
		{"too large to compare", "Write", `"content":"a\nc\n"`,
			`"type":"update","content":"a\nc\n","originalFile":"a\nb\n","structuredPatch":[]`, "a.go", "-b\n+c"},
		{"a new file", "Write", `"content":"a\n"`, `"type":"create","content":"a\n","structuredPatch":[]`, "a.go", "+a"},
		{"every occurrence", "Edit", `"old_string":"b","new_string":"c","replace_all":true`,
			`"originalFile":"\tb\nx\n\tb\n","oldString":"b","newString":"c","replaceAll":true,"structuredPatch":[` +
				`{"oldStart":1,"newStart":1,"lines":["-  b","+  c"," x","-  b","+  c"]}]`, "a.go:1", "-\tb\n+\tc\n@@\n-\tb\n+\tc"},
		{"several edits", "MultiEdit", `"edits":[{"old_string":"a","new_string":"b"}]`,
			`"originalFileContents":"\ta\n","edits":[{"old_string":"a","new_string":"b"}],"structuredPatch":[` +
				`{"oldStart":1,"newStart":1,"lines":["- a","+ b"]}]`, "a.go:1", "-\ta\n+\tb"},
		{"of another file", "Edit", `"old_string":"a","new_string":"b"`,
			`"filePath":"b.go","structuredPatch":[{"newStart":1,"lines":["-x","+y"]}]`, "a.go", "-a\n+b"},
	} {
		src := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"` + tt.tool +
			`","input":{"file_path":"a.go",` + tt.input + `}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"done"}]},"toolUseResult":{` + tt.result + `}}`
		got := gjson.Parse(string(l1(t, []byte(src), Full)))
		if got.Get("target").Str != tt.target || got.Get("diff").Str != tt.diff {
			t.Errorf("%s: %s changed\n%s\nwant %s\n%s", tt.name, got.Get("target").Str, got.Get("diff").Str, tt.target, tt.diff)
		}
	}
}

// TestReport reads the report of a subagent that has the form of a refusal by the user.
func TestReport(t *testing.T) {
	t.Parallel()
	const src = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Task","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"refused by the user: Use tabs."}]}}`
	const want = `{"n":1,"role":"tool","name":"Task","result":"report: refused by the user: Use tabs."}` + "\n"
	if got := string(l1(t, []byte(src), Full)); got != want {
		t.Errorf("L1 = %swant %s", got, want)
	}
}

// TestRefusedOther reads the result of a tool of another program that has the form of a refusal. It can be one, and its
// reason is in its own line: nobody knows whether the user said it.
// TestPlan holds that a proposed plan says what it is, also if a file has the same text, or an earlier form of it was proposed.
func TestPlan(t *testing.T) {
	t.Parallel()
	call := func(id, name, input string) string {
		return `{"type":"assistant","uuid":"` + id + `","message":{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":` + input + "}]}}\n"
	}
	src := call("a", "Write", `{"file_path":"/p/owl.md","content":"# Drain\n\nAt night."}`) +
		call("b", "ExitPlanMode", `{"plan":"# Drain\n\nAt night."}`) + call("c", "ExitPlanMode", `{"plan":"# Drain\n\nAt three."}`)
	got := string(l1(t, []byte(src), Full))
	for _, want := range []string{`"name":"ExitPlanMode","text":"# Drain\n\nAt night."}`, `"name":"ExitPlanMode","text":"# Drain\n\nAt three."}`} {
		if !strings.Contains(got, want) {
			t.Errorf("there is no %s:\n%s", want, got)
		}
	}
}

func TestRefusedOther(t *testing.T) {
	t.Parallel()
	const src = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"mcp__x__close","input":{}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"tool_use_id":"1","content":"` + transcript.Refusal + ` To tell you how to proceed, the user said:\nIs it still open?\nLook."}]}}`
	const want = `{"n":1,"role":"tool","name":"mcp__x__close","errors":["Is it still open? Look."],"result":"refused by the user"}` + "\n"
	if got := string(l1(t, []byte(src), Full)); got != want {
		t.Errorf("L1 = %swant %s", got, want)
	}
}

// TestOverlappingCalls answers each call after the next one is made, so that one is always open.
func TestOverlappingCalls(t *testing.T) {
	t.Parallel()
	var src strings.Builder
	text := strings.Repeat("x", heldLimit/8)
	for i := range 20 {
		fmt.Fprintf(&src, `{"type":"assistant","message":{"content":[`+
			`{"type":"text","text":"%s"},{"type":"tool_use","id":"%d","name":"Bash","input":{"command":"a"}}]}}`, text, i)
		fmt.Fprintf(&src, `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%d","content":"b"}]}}`,
			i-1)
	}
	open := 0
	for e, err := range Entries(bytes.NewReader(l1(t, []byte(src.String()), Full))) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Name == "Bash" && e.Result == "" {
			open++
		}
	}
	if open != 1 {
		t.Errorf("%d calls have no result, want the last one", open)
	}
}

// TestHeldResults answers calls with long texts after a call that gets no answer.
func TestHeldResults(t *testing.T) {
	t.Parallel()
	const call = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"%d","name":"AskUserQuestion"}]}}`
	const result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"%d","content":"%s"}]}}`
	text := strings.Repeat("x", 1<<20)
	n := 0
	r := newRefiner(Full, func(*Entry) (int, error) { n++; return 0, nil })
	var src strings.Builder
	fmt.Fprintf(&src, call, 0)
	for i := range 3 * heldLimit / len(text) {
		fmt.Fprintf(&src, call, i+1)
		fmt.Fprintf(&src, result, i+1, text)
	}
	for v := range transcript.Values([]byte(src.String())) {
		if r.value(v); r.held > heldLimit {
			t.Fatalf("%d bytes wait after message %d", r.held, v.N)
		}
	}
	if n == 0 {
		t.Error("no entry was emitted")
	}
}

// endless is a session without an end.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat(`{"type":"summary","summary":"a"}`+"\n", len(b)/33)), nil
}

// TestWriteError stops at the first error.
func TestWriteError(t *testing.T) {
	t.Parallel()
	n := 0
	_, err := Each(endless{}, Full, nil, nil, func(*Entry) (int, error) { n++; return 0, errFull })
	if err == nil || err.Error() != "write L1: disk full" || n != 1 {
		t.Errorf("Each: %v after %d entries, want an error after one", err, n)
	}
}

// TestTodos changes a list: what is left out is told once, unless it was completed.
func TestTodos(t *testing.T) {
	t.Parallel()
	r := newRefiner(Full, func(*Entry) (int, error) { return 0, nil })
	for _, step := range [][2]string{
		{`[{"content":"a","status":"pending"},{"content":"b","status":"in_progress"},{"content":"c","status":"pending"}]`, "pending: a\nin_progress: b\npending: c"},
		{`[{"content":"a","status":"pending"},{"content":"b","status":"completed"},{"content":"d","status":"pending"}]`, "completed: b\npending: d\ndropped: c"},
		{`[{"content":"d","status":"pending"}]`, "dropped: a"},
		{`[{"content":"a","status":"pending"},{"content":"d","status":"pending"}]`, "pending: a"},
		{`"a string"`, ""},
		{`[]`, "dropped: a\ndropped: d"},
	} {
		if got := r.todos(gjson.Parse(step[0])); got != step[1] {
			t.Errorf("%s: %q, want %q", step[0], got, step[1])
		}
	}
	if len(r.todo) != 0 {
		t.Errorf("kept: %v", r.todo)
	}
}

// TestManyTodos makes lists of ever new items.
func TestManyTodos(t *testing.T) {
	t.Parallel()
	r := newRefiner(Full, func(*Entry) (int, error) { return 0, nil })
	text := strings.Repeat("x", 1<<20)
	for i := range 3 * heldLimit / len(text) {
		r.todos(gjson.Parse(fmt.Sprintf(`[{"content":"%d%s","status":"pending"}]`, i, text)))
	}
	size := 0
	for item := range r.todo {
		size += len(item)
	}
	if size > 2*heldLimit {
		t.Errorf("%d bytes of items are kept", size)
	}
}
