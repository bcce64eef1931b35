package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkValue reports a value that makes no record.
func checkValue(t *testing.T, a Agent, value []byte) {
	t.Helper()
	rec := a.Message(value)
	b, err := json.Marshal(rec)
	if err != nil || !json.Valid(b) {
		t.Errorf("%T: %q, %v", a, b, err)
	}
	a.Unknown(value)
}

// checkLines checks the values that lines make.
func checkLines(t *testing.T, a Agent, lines []line) {
	t.Helper()
	for value, err := range made("gemini", AgentSession{ID: "s"}, func() ([]line, error) { return lines, nil }) {
		if err != nil || !json.Valid(value) || bytes.Count(value, []byte("\n")) != 1 {
			t.Errorf("%T: %q is no value, %v", a, value, err)
		}
		checkValue(t, a, value)
	}
}

// FuzzMessage reads values as those of each agent: none of them makes a record that is no JSON.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":7}"}}`,
		`{"type":"response_item","payload":{"type":"function_call","name":"x","arguments":"[1"}}`,
		`{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"exec-1","changes":{"a":{}}}}}`,
		`{"type":"event_msg","payload":{"type":"patch_apply_end","call_id":"exec-1","changes":[]}}`,
		`{"agent":"gemini","record":{"type":"gemini","toolCalls":[{"name":"edit","args":[]}]}}`,
		`{"agent":"gemini","record":{"type":"gemini","toolCalls":[{"result":"text"},{"result":{"functionResponse":7}}]}}`,
		`{"agent":"opencode","record":{"role":"user"},"parts":[{"type":"tool","state":{}}]}`,
		`{"agent":"opencode","record":{"role":"assistant"},"parts":[{"type":"tool","state":{"status":"error"}}]}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		for _, name := range AgentNames() {
			checkValue(t, AgentByName(name), value)
		}
	})
}

// FuzzCodex gives Codex a shell line, a patch and an output: each makes a call or a result.
func FuzzCodex(f *testing.F) {
	f.Add("apply_patch <<'X'\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch\nX")
	f.Add("*** Begin Patch\n*** Add File: \n+x")
	f.Add("Exit code: 99999999999999999999\nOutput:\nx")
	f.Fuzz(func(t *testing.T, s string) {
		for _, item := range []map[string]any{
			{"type": "function_call", "name": "shell", "arguments": string(jsonObject(map[string]any{"command": []string{"sh", "-c", s}}))},
			{"type": "function_call", "name": s, "arguments": s},
			{"type": "custom_tool_call", "name": "apply_patch", "input": s},
			{"type": "function_call_output", "output": s},
			{"type": "message", "role": "user", "content": s},
		} {
			value := jsonObject(map[string]any{"type": "response_item", "payload": item})
			checkValue(t, Codex{}, value)
		}
	})
}

// FuzzGemini reads a file as a chat: lines and a document.
func FuzzGemini(f *testing.F) {
	f.Add([]byte(`{"sessionId":"s","projectHash":"p"}` + "\n" + `{"id":"1","type":"user","content":"x"}` + "\n" +
		`{"id":"2","type":"gemini","content":[{"text":"y"}],"toolCalls":[{"id":"t","name":"replace","status":"success"}]}` +
		"\n" + `{"id":"2","type":"gemini","toolCalls":[{"id":"t","result":"r"},{"name":"u"}]}` + "\n"))
	f.Add([]byte(`{"$set":{"messages":[{"id":"1"}],"summary":7}}` + "\n" + `{"$rewindTo":1}` + "\n" + `{"id":1,"toolCalls":{}}`))
	f.Add([]byte("null\n[]\n\"x\"\n{\"id\":null}\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		checkLines(t, Gemini{}, geminiLines(file, false))
		checkLines(t, Gemini{}, geminiLines(file, true))
	})
}

// FuzzOpenCode reads a file as an export.
func FuzzOpenCode(f *testing.F) {
	f.Add([]byte(`{"info":{"id":"s"},"messages":[{"info":{"role":"assistant"},"parts":[{"type":"tool","tool":"edit",` +
		`"callID":"c","state":{"status":"completed","input":{"filePath":7}}}]},{"parts":[null,7]},{}]}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		var e openDocument
		if json.Unmarshal(file, &e) != nil {
			return
		}
		checkLines(t, openCode{}, e.lines())
	})
}

// What Codex wrote in the user's name is no speech, and what an editor puts before it is cut off.
func TestCodexTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Fix it.": "Fix it.",
		"<environment_context>\n<cwd>/w</cwd>\n</environment_context>":                 "",
		"<permissions instructions>\nx":                                                "",
		"# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>":        "",
		"<div>\nwhy?\n</div>":                                                          "<div>\nwhy?\n</div>",
		"<a_b> is not closed":                                                          "<a_b> is not closed",
		"# Context from my IDE setup:\n\n## Open tabs\n\n## My request for Codex:\nGo": "Go",
	} {
		rec := Codex{}.Message(jsonObject(map[string]any{"type": "response_item",
			"payload": map[string]any{"type": "message", "role": "user", "content": text}}))
		got := ""
		if rec.Message != nil && !rec.Meta {
			got = rec.Message.Content[0].Text
		}
		if got != want {
			t.Errorf("typed of %q = %q, want %q", text, got, want)
		}
	}
}

// A patch names the files that it changes, wherever it stands.
func TestPatchOf(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Delete File: b.go\n*** End Patch"
	for _, argv := range [][]string{{"apply_patch", patch}, {"bash", "-lc", "apply_patch <<'EOF'\n" + patch + "\nEOF\n"},
		{"cd cart && apply_patch <<EOF\n" + patch + "\nEOF"}} {
		var files []string
		for _, b := range patchCalls("c", patchOf(argv)) {
			var in struct {
				Path string `json:"file_path"`
			}
			if err := json.Unmarshal(b.Input, &in); err != nil {
				t.Fatal(err)
			}
			files = append(files, b.Name+" "+in.Path)
		}
		if got := strings.Join(files, ", "); got != "Edit a.go, Edit b.go" {
			t.Errorf("files of %q = %s", argv, got)
		}
	}
	if got := patchOf([]string{"grep", "*** Begin Patch"}); got != "" {
		t.Errorf("patch of a search = %q", got)
	}
}

// TestParentID: what a file names as the parent is an id that a record can contain.
func TestParentID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"": "", "ses_1": "ses_1", "0199aaaa-0000-7000-8000-000000000001": "0199aaaa-0000-7000-8000-000000000001",
		"../x": "_.._x", "-rf": "_-rf", "a:b\n": "a_b_", strings.Repeat("a", 300): strings.Repeat("a", 200),
	} {
		if got := parentID(id); got != want {
			t.Errorf("parentID(%q) = %q, want %q", id, got, want)
		}
	}
}

// TestOpenCodeFiles: a field of another type does not stop the session, and a file that is no session is passed over.
func TestOpenCodeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ses_1.json": `{"info":{"id":"ses_1","directo`,
		"ses_2.json": `{"info":{"id":"ses_2","directory":"/w","version":2,"parentID":"../x"},"messages":[{"info":{"role":7},"parts":[]}]}`,
		"key.json":   `{"secret":1}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := openCode{}.Sessions(dir)
	var file *FileError
	if !errors.As(err, &file) || filepath.Base(file.Path) != "ses_1.json" || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if s := list[0]; s.ID != "ses_2" || s.Parent != "_.._x" || len(s.Files) != 1 || s.Files[0] != s.Path {
		t.Errorf("%v", s)
	}
	for _, err := range (openCode{}).Values(list[0]) {
		if err != nil {
			t.Error(err)
		}
	}
}
