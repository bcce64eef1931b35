package refine

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

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
		stats, err := Stream(strings.NewReader(src), Full, io.Discard)
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
		if got := clean(in); got != want {
			t.Errorf("clean(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestPatch writes a file whose result has another member after the patch.
func TestPatch(t *testing.T) {
	t.Parallel()
	const src = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Write",` +
		`"input":{"file_path":"a.go","content":"first\nsecond\n"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"done"}]},"toolUseResult":` +
		`{"structuredPatch":[{"newStart":3,"lines":[" a","-b","+c"]}],"other":{"lines":["+d"]},"list":["+e"]}}`
	const want = `{"n":1,"role":"tool","name":"Write","target":"a.go:4","diff":"-b\n+c","result":"ok"}` + "\n"
	if got := string(l1(t, []byte(src), Full)); got != want {
		t.Errorf("L1 = %swant %s", got, want)
	}
}
