package forget

import (
	"regexp"
	"slices"
	"testing"
)

// TestMatcher: an expression selects what was said and done, in a transcript and in what was derived from it, and the
// fields of the client only if they are asked for.
func TestMatcher(t *testing.T) {
	t.Parallel()
	const said = `{"type":"user","uuid":"u-zaphod","cwd":"/home/zaphod","message":{"role":"user","content":"go on"}}`
	for _, c := range []struct {
		name, re, text string
		metadata, want bool
	}{
		{"a text", "go on", said, false, true},
		{"a field of the client", "zaphod", said, false, false},
		{"a field of the client, asked for", "zaphod", said, true, true},
		{"a result", "42", `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"it is 42"}]}}`, false, true},
		{"no record", "torn", `{"type":"user","torn`, false, true},
		{"nothing", "nothing", said, true, false},
	} {
		m := matcher{regexp.MustCompile(c.re), c.metadata}
		if got := m.records([]byte(c.text + "\n")); got != c.want {
			t.Errorf("%s: records = %v", c.name, got)
		}
	}
	if (matcher{}).records([]byte(said)) || (matcher{}).derived([]byte(said)) {
		t.Error("no expression selects something")
	}

	for _, c := range []struct {
		name, re, line string
		metadata, want bool
	}{
		{"a line of text", "zaphod", "what zaphod said", false, true},
		{"a value", "zaphod", `{"text":["a",{"b":"zaphod"}]}`, false, true},
		{"the name of a member", "zaphod", `{"zaphod":"a"}`, false, false},
		{"a word that mem chose", "assistant", `{"role":"assistant","text":"a"}`, false, false},
		{"a field of the client", "zaphod", `{"cwd":"/home/zaphod","text":"a"}`, false, false},
		{"the whole line", "zaphod", `{"cwd":"/home/zaphod","text":"a"}`, true, true},
		{"a time", "2026", `{"ts":"2026-01-15T10:00:00Z"}`, false, false},
		{"half a value", "zaphod", `{"text":"zaphod`, false, true},
	} {
		m := matcher{regexp.MustCompile(c.re), c.metadata}
		if got := m.derived([]byte(c.line)); got != c.want {
			t.Errorf("%s: derived = %v", c.name, got)
		}
	}
	m := matcher{re: regexp.MustCompile("zaphod")}
	if m.body([]byte(`{"text":"zaphod"}`), func(s string) bool { return s == "zaphod" }) || !m.body([]byte(`{"text":"zaphod"}`), func(string) bool { return false }) {
		t.Error("a string that does not count is selected, or one that counts is not")
	}
}

// TestIsTime: the time of a record is no text.
func TestIsTime(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"2026-01-15T10:00:00Z": true, "2026-01-15T10:00:00+02:00": true, "2026-01-15": false, "at 2026-01-15T10:00:00Z": false} {
		if isTime(s) != want {
			t.Errorf("isTime(%q) = %v", s, !want)
		}
	}
}

// TestRanges: messages are named as show takes them, each once.
func TestRanges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		all  []int
		want []string
	}{
		{nil, nil},
		{[]int{7}, []string{"7"}},
		{[]int{3, 1, 2, 2}, []string{"1..3"}},
		{[]int{1, 3, 4, 9}, []string{"1", "3..4", "9"}},
	} {
		if got := ranges(c.all); !slices.Equal(got, c.want) {
			t.Errorf("ranges(%v) = %q, want %q", c.all, got, c.want)
		}
	}
}
