package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memvcs/mem/testdata/gen/story"
)

// kinds are the records that Claude Code was seen to write from 1.0 to 2.1.329, as seenIn names them.
const kinds = `user assistant
system/stop_hook_summary system/turn_duration system/compact_boundary system/microcompact_boundary system/api_error
system/local_command system/model_refusal_fallback
progress/agent_progress progress/bash_progress progress/hook_progress progress/mcp_progress
attachment/skill_listing attachment/agent_listing_delta attachment/edited_text_file attachment/hook_success
attachment/hook_additional_context attachment/hook_blocking_error attachment/hook_cancelled
attachment/hook_non_blocking_error attachment/hook_system_message attachment/task_reminder
attachment/deferred_tools_delta attachment/nested_memory attachment/queued_command attachment/file
attachment/compact_file_reference attachment/prompt_snapshot attachment/environment attachment/model attachment/date
file-history-snapshot queue-operation last-prompt custom-title mode permission-mode summary pr-link frame-link
api-request api-request-shape api-request-blob cost-state tools-used atis-latch`

// traps are what makes transcripts hard to read, found in real ones, each with the session that holds it for the tests. Lines of
// many MB are not committed: TestScannerLongLines makes them.
var traps = []struct {
	what string
	in   string
	has  func(file) bool
}{
	{"two records on one line", story.Mail, func(f file) bool { return f.glued > 0 }},
	{"a record behind a torn one on its line", story.Torn, func(f file) bool {
		return bytes.Contains(f.raw, []byte(`"con{"type":"file-history-snapshot"`))
	}},
	{"no newline at the end", story.Basket, func(f file) bool { return !bytes.HasSuffix(f.raw, []byte("\n")) }},
	{"an end that is torn", story.Torn, func(f file) bool { return f.tail }},
	{"blank lines", story.Torn, func(f file) bool { return bytes.Contains(f.raw, []byte("\n   \n\t\r\n")) }},
	{"NUL bytes", story.Torn, func(f file) bool { return bytes.Contains(f.raw, []byte("\x00\x00")) }},
	{"bytes that are no UTF-8", story.Torn, func(f file) bool { return !utf8.Valid(f.raw) }},
	{"a byte order mark and a CR", story.Torn, func(f file) bool {
		return bytes.Contains(f.raw, []byte("\n\xef\xbb\xbf{")) && bytes.Contains(f.raw, []byte("}\r\n"))
	}},
	{"half a surrogate pair", story.Torn, func(f file) bool { return bytes.Contains(f.raw, []byte(`"\ud800 `)) }},
	{"values that are no objects", story.Torn, func(f file) bool { return f.bare >= 4 }},
	{"deep nesting", story.Torn, func(f file) bool { return bytes.Contains(f.raw, bytes.Repeat([]byte("["), 600)) }},
	{"an unknown type", story.Torn, func(f file) bool { return f.kinds["from-the-future"] }},
	{"a message with several answers", story.Mail, func(f file) bool {
		return slices.ContainsFunc(slices.Collect(maps.Values(f.children)), func(n int) bool { return n > 1 })
	}},
	{"more than one beginning", story.Cents, func(f file) bool { return f.roots > 1 }},
	{"a parent that is not there", story.Torn, func(f file) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(f.children)), func(id string) bool { return !f.ids[id] })
	}},
	{"times that go back", story.Mail, func(f file) bool { return f.back }},
	{"a call without a result", story.Cents, func(f file) bool { return len(missing(f.calls, f.results)) > 0 }},
	{"a result without a call", story.Basket, func(f file) bool { return len(missing(f.results, f.calls)) > 0 }},
	{"several directories", story.Cents, func(f file) bool { return len(f.cwds) > 1 }},
	{"several branches", story.Cents, func(f file) bool { return len(f.branches) > 1 }},
	{"a record of another session", story.Torn, func(f file) bool { return len(f.sessions) > 1 }},
	{"a session that another version of the client took up", story.Stock, func(f file) bool { return len(f.versions) > 1 }},
	{"usage that each block of an answer repeats", story.Cents, func(f file) bool { return f.repeated > 0 }},
	{"a sidechain among the records", story.Basket, func(f file) bool { return f.side > 0 && f.side < f.values }},
	{"the file of a subagent", "agent-5f0e21ab", func(f file) bool { return f.side == f.values }},
	{"an answer that is a plain string", story.Basket, func(f file) bool { return f.plain }},
	{"a compaction and its summary", story.Cents, func(f file) bool {
		return f.kinds["system/compact_boundary"] && bytes.Contains(f.raw, []byte(`"isCompactSummary":true`))
	}},
	{"an output in a file of its own", story.Stock, func(f file) bool { return bytes.Contains(f.raw, []byte(`"persistedOutputPath"`)) }},
	{"Korean and characters of several code points", story.Blog, func(f file) bool {
		return bytes.Contains(f.raw, []byte("👩‍💻")) && bytes.Contains(f.raw, []byte("글"))
	}},
	{"Japanese and Chinese", story.Rounded, func(f file) bool {
		return bytes.Contains(f.raw, []byte("消費税")) && bytes.Contains(f.raw, []byte("发票"))
	}},
	{"a marker with an end, one to the end of the message, one in a code fence, one in a summary, near misses", story.Cents, func(f file) bool {
		for _, s := range []string{`half up.\n##/keepit##`, "##keepit0.80## data/orders", "```\\n##keepit1.00##", "##keepit1.00## a summary is not", "##keepit0.8##"} {
			if !bytes.Contains(f.raw, []byte(s)) {
				return false
			}
		}
		return true
	}},
	{"a marker in what a hook said", story.Stock, func(f file) bool { return bytes.Contains(f.raw, []byte("##keepit1.00## a hook did not type this")) }},
}

// TestTraps holds that the committed transcripts have every kind of record and every trap.
func TestTraps(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	versions := map[string]bool{}
	files := map[string]file{}
	for name, b := range story.Files() {
		if !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		f := walk(b)
		files[strings.TrimSuffix(name[strings.LastIndex(name, "/")+1:], ".jsonl")] = f
		maps.Copy(have, f.kinds)
		maps.Copy(versions, f.versions)
	}
	for _, kind := range strings.Fields(kinds) {
		if !have[kind] {
			t.Errorf("no committed transcript has a record %s", kind)
		}
	}
	for _, trap := range traps {
		f, ok := files[trap.in]
		if !ok || !trap.has(f) {
			t.Errorf("%s does not hold %s", trap.in, trap.what)
		}
	}
	if len(versions) < 8 {
		t.Errorf("the clients are %v: want at least eight versions", slices.Sorted(maps.Keys(versions)))
	}
}

// A file is what an own, simple walk finds in a transcript.
type file struct {
	raw                                 []byte
	values, bare, glued, side, repeated int
	roots                               int
	tail, back, plain                   bool
	kinds, versions, ids, calls         map[string]bool
	results, cwds, branches, sessions   map[string]bool
	children                            map[string]int // of each parent
}

func walk(b []byte) file {
	f := file{raw: b, kinds: map[string]bool{}, versions: map[string]bool{}, ids: map[string]bool{}, calls: map[string]bool{}, results: map[string]bool{},
		cwds: map[string]bool{}, branches: map[string]bool{}, sessions: map[string]bool{}, children: map[string]int{}}
	lines := bytes.Split(b, []byte("\n"))
	lastID, last := "", time.Time{}
	for i, line := range lines {
		dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))))
		dec.UseNumber()
		for k := 0; ; k++ {
			var v any
			if err := dec.Decode(&v); err != nil {
				f.tail = f.tail || i == len(lines)-1 && len(line) > 0 && k == 0
				break
			}
			f.glued += min(k, 1)
			o, ok := v.(map[string]any)
			if !ok {
				f.bare++
				continue
			}
			f.record(o, &lastID, &last)
		}
	}
	return f
}

func (f *file) record(o map[string]any, lastID *string, last *time.Time) {
	f.values++
	kind, sub := str(o["type"]), str(o["subtype"])
	for _, of := range []string{"attachment", "data"} {
		if m, ok := o[of].(map[string]any); ok && kind != "api-request-blob" {
			sub = str(m["type"])
		}
	}
	if sub != "" {
		kind += "/" + sub
	}
	f.kinds[kind] = true
	note(f.versions, o["version"])
	note(f.cwds, o["cwd"])
	note(f.branches, o["gitBranch"])
	note(f.sessions, o["sessionId"])
	note(f.ids, o["uuid"])
	if o["isSidechain"] == true {
		f.side++
	}
	if parent, ok := o["parentUuid"]; ok && parent == nil {
		f.roots++
	} else if ok {
		f.children[str(parent)]++
	}
	if at, err := time.Parse(time.RFC3339, str(o["timestamp"])); err == nil {
		f.back = f.back || at.Before(*last)
		*last = at
	}
	m, _ := o["message"].(map[string]any) // nil has no members
	if id := str(m["id"]); id != "" {
		if id == *lastID && m["usage"] != nil {
			f.repeated++
		}
		*lastID = id
	}
	f.plain = f.plain || kind == "assistant" && str(m["content"]) != ""
	blocks, _ := m["content"].([]any) // nor has nil blocks
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		note(f.calls, block["id"])
		note(f.results, block["tool_use_id"])
	}
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

func note(set map[string]bool, v any) {
	if s := str(v); s != "" {
		set[s] = true
	}
}

// missing returns what is in a and not in b.
func missing(a, b map[string]bool) (out []string) {
	for name := range a {
		if !b[name] {
			out = append(out, fmt.Sprint(name))
		}
	}
	return out
}
