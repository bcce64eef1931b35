package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// turn makes the line of a record: "u:b<a hello" is a prompt with uuid b below a; "a:" an answer, "r:" a result, "s:" a
// record of the system, "c:" a compaction whose logical parent is given, "m:" a meta record, "x:" one of a sidechain.
func turn(s string) string {
	kind, rest, _ := strings.Cut(s, ":")
	ids, text, _ := strings.Cut(rest, " ")
	id, parent, _ := strings.Cut(ids, "<")
	up := `"parentUuid":null`
	if parent != "" {
		up = fmt.Sprintf(`"parentUuid":%q`, parent)
	}
	switch kind {
	case "u":
		return fmt.Sprintf(`{"type":"user","uuid":%q,%s,"message":{"role":"user","content":%q}}`, id, up, text)
	case "m":
		return fmt.Sprintf(`{"type":"user","isMeta":true,"uuid":%q,%s,"message":{"role":"user","content":%q}}`, id, up, text)
	case "x":
		return fmt.Sprintf(`{"type":"user","isSidechain":true,"uuid":%q,%s,"message":{"role":"user","content":%q}}`, id, up, text)
	case "a":
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,%s,"message":{"role":"assistant","content":[{"type":"text","text":%q}]}}`, id, up, text)
	case "r":
		return fmt.Sprintf(`{"type":"user","uuid":%q,%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":%q}]}}`, id, up, text)
	case "s":
		return fmt.Sprintf(`{"type":"system","subtype":"turn_duration","uuid":%q,%s}`, id, up)
	case "c":
		return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":%q,"parentUuid":null,"logicalParentUuid":%q}`, id, parent)
	}
	return s // a whole record
}

func TestRewound(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		turns []string
		want  Spans
	}{
		{"none", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d"}, nil},
		{"one", []string{"u:1 a", "a:2<1 b", "u:3<2 mongo", "a:4<3 done", "r:5<4 ok", "u:6<5 drop", "a:7<6 yes", "u:8<2 sqlite", "a:9<8 so"}, Spans{{3, 7}}},
		{"the new prompt is the last record", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 e"}, Spans{{3, 4}}},
		{"twice at one place", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 e", "a:6<5 f", "u:7<2 g", "a:8<7 h"}, Spans{{3, 6}}},
		{"a rewind in a withdrawn branch", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<4 e", "u:6<4 f", "a:7<6 g", "u:8<2 h", "a:9<8 i"}, Spans{{3, 7}}},
		{"back to the first branch", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 e", "a:6<5 f", "u:7<4 g", "a:8<7 h"}, Spans{{5, 6}}},
		{"records of the client between", []string{"u:1 a", "a:2<1 b", "s:3<2", "u:4<3 c", "a:5<4 d", "m:6<2 caveat", "u:7<6 e", "a:8<7 f"}, Spans{{4, 5}}},
		{"interrupted before an answer", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "u:4<3 [Request interrupted by user]", "u:5<2 d", "a:6<5 e"}, Spans{{3, 4}}},
		{"interrupted and continued", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "u:4<3 [Request interrupted by user]", "u:5<4 d", "a:6<5 e"}, nil},
		{"a command is a prompt", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 <command-name>/review</command-name>", "m:6<5 Review it.", "a:7<6 e"}, Spans{{3, 4}}},
		{"a command at the end, resumed before it", []string{"u:1 a", "a:2<1 b", "m:3<2 Caveat:", "u:4<3 <command-name>/exit</command-name>", "u:5<4 <local-command-stdout>Bye", "a:6<3 No response requested.", "u:7<6 c"}, nil},
		{"parallel calls", []string{"u:1 a", "a:2<1 x", "a:3<2 y", "r:4<2 ok", "r:5<3 ok", "a:6<5 b", "u:7<6 c", "a:8<7 d"}, nil},
		{"a prompt while calls run", []string{"u:1 a", "a:2<1 x", "u:3<2 also", "r:4<2 ok", "a:5<4 b"}, nil},
		{"two clients in one file", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "u:4<2 d", "a:5<4 e", "a:6<3 f", "u:7<6 g", "u:8<5 h"}, nil},
		{"before a compaction", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 e", "a:6<5 f", "c:7<6", "u:8<7 g", "a:9<8 h"}, Spans{{3, 4}}},
		{"before a compaction without its logical parent", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:5<2 e", "a:6<5 f", "c:7<lost", "u:8<7 g", "a:9<8 h"}, Spans{{3, 4}}},
		{"across a compaction", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "c:5<4", "u:6<5 e", "a:7<6 f", "u:8<2 g", "a:9<8 h"}, Spans{{3, 7}}},
		{"several roots", []string{"u:1 a", "a:2<1 b", "u:3 c", "a:4<3 d", "u:5 e"}, nil},
		{"a dangling parent", []string{"u:1 a", "a:2<1 b", "u:3<gone c", "a:4<3 d"}, nil},
		{"two prompts below one missing record", []string{"u:1<gone a", "a:2<1 b", "u:3<gone c", "a:4<3 d"}, Spans{{1, 2}}},
		{"a circle", []string{"u:1<4 a", "a:2<1 b", "u:3<2 c", "a:4<3 d"}, nil},
		{"one's own parent", []string{"u:1<1 a", "a:2<1 b", "u:3<1 c"}, nil},
		{"the same record twice", []string{"u:1 a", "a:2<1 b", "u:3<2 c", "a:4<3 d", "u:3<2 c", "a:4<3 d", "u:7<4 e"}, nil},
		{"a sidechain", []string{"u:1 a", "a:2<1 b", "x:3<2 look", "u:4<2 c", "a:5<4 d"}, nil},
		{"bookkeeping inside and after", []string{"u:1 a", "a:2<1 b", "u:3<2 c", `{"type":"file-history-snapshot"}`, "a:5<3 d", `{"type":"queue-operation","operation":"enqueue","content":"e"}`, "u:7<2 e", "a:8<7 f"}, Spans{{3, 5}}},
		{"no uuid", []string{`{"type":"user","message":{"role":"user","content":"a"}}`, `{"type":"user","message":{"role":"user","content":"b"}}`}, nil},
	} {
		var lines []string
		for _, s := range tt.turns {
			lines = append(lines, turn(s))
		}
		text := strings.Join(lines, "\n") + "\n"
		got, err := Rewound(strings.NewReader(text))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: Rewound = %v, %v, want %v", tt.name, got, err, tt.want)
		}
		if forked := scan([]byte(text), Carry{}, 100).Forked; len(got) > 0 && !forked {
			t.Errorf("%s: the scan does not see that the session is forked", tt.name)
		}
		for n := range len(lines) + 2 {
			in := slices.ContainsFunc(tt.want, func(s [2]int) bool { return s[0] <= n && n <= s[1] })
			if got.Has(n) != in {
				t.Errorf("%s: Has(%d) = %v", tt.name, n, !in)
			}
		}
	}
}

// TestRewoundOfOthers: agents with linear sessions say what they withdraw.
func TestRewoundOfOthers(t *testing.T) {
	t.Parallel()
	codex := func(role, text string) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-15T10:00:00Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}}`, role, text)
	}
	back := func(n int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-15T10:00:00Z","type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":%d}}`, n)
	}
	gemini := func(record string) string { return `{"agent":"gemini","record":` + record + `}` }
	for _, tt := range []struct {
		name  string
		lines []string
		want  Spans
	}{
		{"codex", []string{codex("user", "a"), codex("assistant", "b"), codex("user", "c"), codex("assistant", "d"), back(1), codex("user", "e")}, Spans{{3, 5}}},
		{"codex, two", []string{codex("user", "a"), codex("user", "b"), codex("assistant", "c"), back(2), codex("user", "d")}, Spans{{1, 4}}},
		{"codex, twice", []string{codex("user", "a"), codex("user", "b"), back(1), codex("user", "c"), back(2)}, Spans{{1, 5}}},
		{"codex, more than there are", []string{codex("user", "a"), back(9)}, Spans{{1, 2}}},
		{"codex, none", []string{back(1), codex("user", "a"), back(0), back(-1)}, nil},
		{"gemini", []string{gemini(`{"id":"1","type":"user","content":"a"}`), gemini(`{"id":"2","type":"gemini","content":"b"}`), gemini(`{"id":"3","type":"user","content":"c"}`), gemini(`{"$rewindTo":"3"}`), gemini(`{"id":"5","type":"user","content":"d"}`)}, Spans{{3, 4}}},
		{"gemini, unknown", []string{gemini(`{"id":"1","type":"user","content":"a"}`), gemini(`{"$rewindTo":"9"}`)}, nil},
		{"gemini, a summary stays", []string{gemini(`{"id":"1","type":"user","content":"a"}`), gemini(`{"id":"s","type":"user","content":"<state_snapshot>x</state_snapshot>"}`), gemini(`{"id":"2","type":"user","content":"b"}`), gemini(`{"$rewindTo":"1"}`)}, Spans{{1, 1}, {3, 4}}},
		{"a record of Claude Code withdraws nothing", []string{turn("u:1 a"), `{"type":"user","uuid":"2","rewindTurns":1,"rewindTo":"1","message":{"role":"user","content":"x"}}`}, nil},
	} {
		got, err := Rewound(strings.NewReader(strings.Join(tt.lines, "\n") + "\n"))
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s: Rewound = %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
}

func FuzzRewound(f *testing.F) {
	f.Add([]byte(turn("u:1 a") + "\n" + turn("a:2<1 b") + "\n" + turn("u:3<2 c") + "\n" + turn("u:4<2 d") + "\n"))
	f.Add([]byte(turn("c:1<2") + "\n" + turn("u:2<1 a") + "\n" + turn("u:3<1 b") + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		spans, err := Rewound(strings.NewReader(string(b)))
		last := 0
		for _, s := range spans {
			if s[0] <= last || s[1] < s[0] {
				t.Fatalf("spans %v of %q", spans, b)
			}
			last = s[1]
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}
