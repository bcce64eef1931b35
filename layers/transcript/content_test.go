package transcript

import (
	"slices"
	"testing"
)

// TestContent: what was said or done is yielded, and what the client writes for itself is not.
func TestContent(t *testing.T) {
	t.Parallel()
	const client = `"uuid":"u1","parentUuid":"u0","sessionId":"s1","cwd":"/w","gitBranch":"main","version":"2.1.0",` +
		`"userType":"external","entrypoint":"cli","timestamp":"2026-01-15T10:00:00Z","requestId":"req_1","slug":"a-b"`
	for name, c := range map[string]struct {
		raw  string
		want []string
	}{
		"typed": {`{"type":"user",` + client + `,"message":{"role":"user","content":"fix the \"cli\""},"todos":[{"content":"one",` +
			`"status":"pending"}]}`, []string{`fix the "cli"`, "one", "pending"}},
		"answer": {`{"type":"assistant",` + client + `,"message":{"id":"m1","role":"assistant","model":"opus","usage":{"input_tokens":1,` +
			`"service_tier":"standard"},"content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"yes"},` +
			`{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","timeout":5,"port":4711}}]}}`,
			[]string{"hm", "yes", "Bash", "ls", "port", "4711"}},
		"result": {`{"type":"user",` + client + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1",` +
			`"content":[{"type":"text","text":"done"},{"type":"image","source":{"type":"base64","data":"aGk="}}]}]},` +
			`"toolUseResult":{"type":"text","file":{"filePath":"/w/a","numLines":3},"answers":{"Which one?":"this"}}}`,
			[]string{"done", "/w/a", "Which one?", "this"}},
		"snapshot": {`{"type":"file-history-snapshot","messageId":"u1","snapshot":{"messageId":"u1","trackedFileBackups":{"src/a.go":` +
			`{"backupFileName":"a@v1","version":1,"backupTime":"2026-01-15T10:00:00Z"}},"timestamp":"2026-01-15T10:00:00Z"}}`,
			[]string{"src/a.go"}},
		"summary": {`{"type":"summary","summary":"a title","leafUuid":"u1"}`, []string{"a title"}},
		"queue":   {`{"type":"queue-operation","operation":"enqueue","content":"go on","sessionId":"s1"}`, []string{"go on"}},
		"attachment": {`{"type":"attachment",` + client + `,"attachment":{"type":"queued_command","prompt":"also this","commandMode":"prompt"}}`,
			[]string{"also this", "prompt"}},
		"state": {`{"type":"attachment",` + client + `,"attachment":{"type":"environment","branch":"main"}}`, nil},
		"progress": {`{"type":"progress",` + client + `,"data":{"type":"agent_progress","prompt":"look","agentId":"a1","message":{"type":"user",` +
			client + `,"message":{"role":"user","content":"inner"}}}}`, []string{"look", "inner"}},
		"hook": {`{"type":"progress",` + client + `,"data":{"type":"hook_progress","hookEvent":"Stop","hookName":"Stop",` +
			`"command":"notify done"}}`, nil},
		"hook output": {`{"type":"attachment",` + client + `,"attachment":{"type":"hook_success","hookEvent":"Stop",` +
			`"hookName":"Stop","command":"notify done","stdout":"rang","exitCode":0}}`, []string{"rang", "0"}},
		"hooks": {`{"type":"system","subtype":"stop_hook_summary",` + client + `,"hookCount":1,"hookInfos":[{"command":"notify done",` +
			`"durationMs":5}],"hookErrors":["no bell"]}`, []string{"no bell"}},
		"damaged": {`{"type":"user",` + client + `,"prompt":"whole","con`, []string{`{"type":"user",` + client + `,"prompt":"whole","con`}},
		"unknown": {`{"type":"new",` + client + `,"words":["x",{"key":true}]}`, []string{"x", "key"}},
		"torn": {`{"type":"user",` + client + `,"message":{"role":"user","content":"half`,
			[]string{`{"type":"user",` + client + `,"message":{"role":"user","content":"half`}},
		"opaque": {`no object`, []string{"no object"}},
	} {
		got := slices.Collect(Content([]byte(c.raw)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzContent(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"text","text":"a"}]},"toolUseResult":{"a":[1,"b"]}}`))
	f.Add([]byte(`{"data":{"message":{"message":`))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		for range Content(b) {
			if n++; n == 3 {
				break
			}
		}
	})
}
