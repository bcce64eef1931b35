package web

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
)

// agentTranscripts are those of a session that thinks and starts a subagent.
func agentTranscripts(thought string) (session string, files map[string]string) {
	const prompt, agent = "Look for the rounding.", "cafe12"
	session = "0b0b0b0b-0000-4000-8000-000000000001"
	head := `"sessionId":"` + session + `","cwd":"/home/user/extra","timestamp":"2026-01-20T10:00:00Z",`
	lines := []string{
		`{"uuid":"u1",` + head + `"type":"user","message":{"role":"user","content":"Why is the sum wrong?"}}`,
		`{"uuid":"u2",` + head + `"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"thinking","thinking":"` + thought + `"}]}}`,
		`{"uuid":"u3",` + head + `"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"I ask an agent."}]}}`,
		`{"uuid":"u4",` + head + `"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"tool_use","id":"t1","name":"Task","input":{"description":"Find it","prompt":"` + prompt + `","subagent_type":"Explore"}}]}}`,
		`{"uuid":"u5",` + head + `"type":"user","toolUseResult":{"agentId":"` + agent + `","status":"completed"},"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"It is in sum.go."}]}}`,
		`{"uuid":"u6",` + head + `"type":"assistant","message":{"id":"m2","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"It is in sum.go."}]}}`,
	}
	sub := `{"uuid":"a1","isSidechain":true,"agentId":"` + agent + `",` + head + `"type":"user","message":{"role":"user","content":"` + prompt + `"}}` + "\n" +
		`{"uuid":"a2","isSidechain":true,"agentId":"` + agent + `",` + head + `"type":"assistant","message":{"id":"m9","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"The rounding is in sum.go."}]}}` + "\n"
	return session, map[string]string{session: strings.Join(lines, "\n") + "\n", session + "/subagents/agent-" + agent: sub}
}

// TestTranscript looks at what a page shows beyond the refined text: thinking when asked for, tokens of messages, and subagents in place.
func TestTranscript(t *testing.T) {
	t.Parallel()
	const thought = "perhaps the rounding is at fault"
	session, extra := agentTranscripts(thought)
	r := newRig(t, nil, extra)
	at := "/s/" + session + "?view=messages"
	body := r.get(at)
	if strings.Contains(body, thought) || !strings.Contains(body, "Show thinking") {
		t.Error("thinking is shown without being asked for")
	}
	if n := len(regexp.MustCompile(`~[0-9.k]+ tokens</span>`).FindAllString(body, -1)); n != 3 {
		t.Errorf("%d messages have tokens, want 3:\n%s", n, between(body, "<article", "</main>"))
	}
	if strings.Contains(body, "failed</span>") {
		t.Error("the answer of the subagent is called a failure")
	}
	if strings.Contains(body, "The rounding is in") {
		t.Error("the page carries the subagent's transcript before it is opened")
	}
	inline := between(body, `<details class="side agent" hx-get="`, `"`)
	if inline == "" {
		t.Fatalf("the call does not show its subagent:\n%s", between(body, "<article", "</main>"))
	}
	part := r.do(http.MethodGet, strings.ReplaceAll(inline, "&amp;", "&"), "", func(q *http.Request) { q.Header.Set("HX-Request", "true") })
	if part.status != 200 || !strings.Contains(part.body, "The rounding is in sum.go.") || strings.Contains(part.body, "<html") || strings.Contains(part.body, ` id="m1"`) {
		t.Errorf("the part of the subagent: %d %s", part.status, part.body)
	}
	body = r.get(at + "&thinking=1")
	if !strings.Contains(body, thought) || strings.Index(body, thought) > strings.Index(body, "I ask an agent") || !strings.Contains(body, "Hide thinking") {
		t.Errorf("with thinking: %s", between(body, "<article", "</main>"))
	}
}

// TestConversation: the page of a session shows what was asked and what came of it, with the files and commands, and a link to
// all of its messages.
func TestConversation(t *testing.T) {
	t.Parallel()
	const session = "0d0d0d0d-0000-4000-8000-000000000001"
	head := `"sessionId":"` + session + `","cwd":"/home/user/extra","timestamp":"2026-01-20T10:00:00Z",`
	call := func(id, input string) string {
		return `{"uuid":"c` + id + `",` + head + `"type":"assistant","message":{"id":"c` + id + `","role":"assistant","content":[{"type":"tool_use","id":"t` + id + `",` + input + `}]}}` + "\n"
	}
	result := func(id, extra, text string) string {
		return `{"uuid":"r` + id + `",` + head + `"type":"user",` + extra + `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t` + id + `","content":"` + text + `"}]}}` + "\n"
	}
	say := func(id, role, text string) string {
		return `{"uuid":"` + id + `",` + head + `"type":"` + role + `","message":{"id":"` + id + `","role":"` + role + `","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	lines := say("p1", "user", "Round up & <tell> me.") + say("a1", "assistant", "I look first.") +
		call("1", `"name":"Write","input":{"file_path":"/home/user/extra/sum.go","content":"package sum\n"}`) + result("1", `"toolUseResult":{"type":"create","filePath":"/home/user/extra/sum.go","content":"package sum\n","structuredPatch":[]},`, "File created successfully") +
		call("2", `"name":"Bash","input":{"command":"go test ./sum"}`) + result("2", "", `ok  \textra/sum\t0.01s`) +
		say("a2", "assistant", "It **rounds** up.")
	for i := range exchangesPerPage {
		lines += say(fmt.Sprint("q", i), "user", fmt.Sprint("And number ", i, "?")) + say(fmt.Sprint("b", i), "assistant", fmt.Sprint("Answer ", i, "."))
	}
	r := newRig(t, nil, map[string]string{session: lines})
	body := r.get("/s/" + session)
	first := between(body, "<article", "</article>")
	for _, want := range []string{"<b>user</b>", "Round up &amp; &lt;tell&gt; me.", "It <strong>rounds</strong> up.", "sum.go</code>", "go test ./sum</code> <span class=\"tag kept\">passed", `href="/s/` + session + `?from=1#m1"`} {
		if !strings.Contains(first, want) {
			t.Errorf("no %s in %s", want, first)
		}
	}
	if strings.Contains(first, "I look first") {
		t.Error("what was said on the way is among the messages only")
	}
	if n := strings.Count(body, "<article"); n != exchangesPerPage || !strings.Contains(body, `rel="next" href="?page=2"`) {
		t.Errorf("%d exchanges on the first page", n)
	}
	if body = r.get("/s/" + session + "?page=2"); strings.Count(body, "<article") != 1 || !strings.Contains(body, "Answer 49.") {
		t.Errorf("the second page: %s", between(body, "<article", "</article>"))
	}
}

// TestRewound: turns that the user withdrew are on the page, marked, and not in the list of prompts.
func TestRewound(t *testing.T) {
	t.Parallel()
	const session = "0c0c0c0c-0000-4000-8000-000000000001"
	record := func(id, parent, role, text string) string {
		return `{"uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"` + session + `","cwd":"/home/user/extra","timestamp":"2026-01-20T10:00:00Z","type":"` + role +
			`","message":{"id":"m` + id + `","role":"` + role + `","content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	r := newRig(t, nil, map[string]string{session: record("1", "null", "user", "Which store?") + record("2", `"1"`, "assistant", "MongoDB or SQLite.") +
		record("3", `"2"`, "user", "take MongoDB") + record("4", `"3"`, "assistant", "MongoDB stands.") +
		record("5", `"2"`, "user", "take SQLite") + record("6", `"5"`, "assistant", "SQLite stands.")})
	body := r.get("/s/" + session + "?view=messages")
	if n := strings.Count(body, ">rewound</span>"); n != 2 || strings.Count(body, ` rewound"`) != 2 {
		t.Errorf("%d turns are marked as rewound, want 2:\n%s", n, between(body, "<article", "</main>"))
	}
	if n := strings.Count(body, "take MongoDB"); n != 1 {
		t.Errorf("the withdrawn prompt is on the page %d times, want 1", n)
	}
}

// TestCleanPage checks that cleaning a text removes no markup after it.
func TestCleanPage(t *testing.T) {
	t.Parallel()
	clean := func(s string) string { // an escape sequence without an end reaches to the end of the line
		lines := strings.Split(s, "\n")
		for i := range lines {
			lines[i], _, _ = strings.Cut(lines[i], "\x1b]")
		}
		return strings.Join(lines, "\n")
	}
	for in, want := range map[string]string{
		"":                          "",
		"plain":                     "plain",
		"<b>a\x1b]b</b> <i>c</i>\n": "<b>a</b> <i>c</i>\n",
		"<a title=\"x\x1b]y\" href=\"/\">z</a>\nq": "<a title=\"x\" href=\"/\">z</a>\nq",
		"a\x1b]b\nc": "a\nc",
	} {
		if got := cleanPage(in, clean); got != want {
			t.Errorf("cleanPage(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		s, want string
	}{
		{"", ""},
		{" a  b\n", "a b"},
		{"123456789", "1234…"},
		{"a" + strings.Repeat(" ", 100) + "b", "a b"},
		{"a" + strings.Repeat(" ", 38) + "결결", "a 결결"}, // the 40th byte is within a character
		{strings.Repeat("😀", 100), "😀😀😀😀…"},
		{"\xff\xff", "\ufffd\ufffd"},
	} {
		if got := tokens.OneLine(tt.s, 5); got != tt.want {
			t.Errorf("OneLine(%.20q, 5) = %q, want %q", tt.s, got, tt.want)
		}
	}
}

// TestPageOf turns the pages of messages that have several entries each.
func TestPageOf(t *testing.T) {
	t.Parallel()
	var all []refine.Entry
	for n := range 10 {
		all = append(all, refine.Entry{N: 3 * n, Role: "user"}, refine.Entry{N: 3 * n, Role: "tool"})
	}
	for _, tt := range []struct{ from, first, entries, previous, next int }{
		{0, 0, 8, 0, 12}, {1, 3, 8, 0, 15}, {12, 12, 8, 0, 24}, {24, 24, 4, 12, 0}, {27, 27, 2, 15, 0}, {28, 0, 0, 18, 0},
	} {
		p := pageOf(all, tt.from, 4)
		first := 0
		if len(p.entries) > 0 {
			first = p.entries[0].N
		}
		if first != tt.first || len(p.entries) != tt.entries || p.previous != tt.previous || p.next != tt.next {
			t.Errorf("from %d: %d entries from %d, previous %d, next %d, want %+v", tt.from, len(p.entries), first, p.previous, p.next, tt)
		}
	}
	if p := pageOf(nil, 1, 4); p.entries != nil || p.previous != 0 || p.next != 0 {
		t.Errorf("no messages: %+v", p)
	}
}

func TestReadStart(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(name, []byte("12345"), 0o600))
	for limit, want := range map[int64]string{0: "", 3: "123", 5: "12345", 9: "12345"} {
		if got, err := readStart(name, limit); err != nil || string(got) != want {
			t.Errorf("readStart(%d) = %q, %v, want %q", limit, got, err, want)
		}
	}
}
