package agents

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Codex is OpenAI's Codex CLI: ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl, and the same names below
// ~/.codex/archived_sessions. Each line is {"timestamp", "type", "payload"}; lines of versions before 0.32 are the
// payload alone. Codex compresses files that have not changed for a while to .jsonl.zst; the
// session is the decompressed file.
type Codex struct{}

// Detect reports whether a value has a type of Codex.
func (Codex) Detect(kind, agent string) bool {
	switch kind {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
		"token_usage_record", "inter_agent_communication", "inter_agent_communication_metadata",
		"security_risk_score", "retained_context", "realtime_item":
		return true
	case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call",
		"reasoning", "web_search_call":
		return agent == ""
	}
	return false
}

// Unknown returns the type of a line or of its item.
func (Codex) Unknown(value []byte) string {
	var l codexLine
	if json.Unmarshal(value, &l) != nil {
		return "" // no JSON, or no line of Codex
	}
	var it struct {
		Type string `json:"type"`
	}
	if len(l.Payload) == 0 {
		it.Type = l.Type
	} else if l.Type != "response_item" {
		if !(Codex{}).Detect(l.Type, "") {
			return l.Type
		}
		return ""
	} else if json.Unmarshal(l.Payload, &it) != nil {
		return "response_item"
	}
	switch it.Type {
	case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call", "web_search_call", "reasoning", "compaction", "compaction_summary", "context_compaction",
		"compaction_trigger", "ghost_snapshot", "agent_message", "additional_tools", "tool_search_call",
		"tool_search_output", "image_generation_call", "":
		return ""
	}
	return it.Type
}

// A codexLine is a line of a rollout file.
type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// A codexItem is a payload of any type, so most members are empty.
type codexItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Message   string          `json:"message"` // of compacted
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"` // of function_call: JSON in a string
	Input     string          `json:"input"`     // of custom_tool_call
	Action    json.RawMessage `json:"action"`    // of local_shell_call and web_search_call
	CallID    string          `json:"call_id"`
	Output    json.RawMessage `json:"output"`
	Cwd       string          `json:"cwd"`
	Model     string          `json:"model"`
	Version   string          `json:"cli_version"`
	Git       struct {
		Branch string `json:"branch"`
	} `json:"git"`
}

// Message returns a line as a record of Claude Code.
func (Codex) Message(value []byte) Rec {
	var l codexLine
	if json.Unmarshal(value, &l) != nil {
		return Rec{Type: "codex"}
	}
	if len(l.Payload) == 0 {
		l.Payload, l.Type = value, "response_item"
	}
	rec := Rec{Type: "codex", Subtype: l.Type, Timestamp: l.Timestamp}
	var it codexItem
	if json.Unmarshal(l.Payload, &it) != nil {
		return rec // a member of an unknown type
	}
	switch l.Type {
	case "session_meta":
		rec.Session, rec.Cwd, rec.Branch = it.ID, it.Cwd, it.Git.Branch
		if it.Version != "" {
			rec.Version = "codex " + it.Version
		}
	case "turn_context":
		rec.Cwd = it.Cwd
	case "compacted":
		rec.Type, rec.Compact, rec.Message = "user", true, user(it.Message)
	case "response_item":
		it.fill(&rec)
	case "event_msg":
		codexEvent(l.Payload, &rec)
	}
	if rec.Message == nil && rec.Title == "" {
		rec.Type = "codex"
	}
	return rec
}

// fill sets the message of an item: text, a tool call or a result.
func (it *codexItem) fill(rec *Rec) {
	var blocks []Block
	switch it.Type {
	case "message":
		texts := codexTexts(it.Content)
		if it.Role == "assistant" {
			rec.Type, rec.Message = "assistant", answer(texts...)
			return
		}
		rec.Meta = it.Role != "user" || slices.ContainsFunc(texts, codexWrote)
		for i, s := range texts {
			if _, request, ok := strings.Cut(s, editorRequest); ok && strings.HasPrefix(s, editorContext) {
				texts[i] = strings.TrimSpace(request)
			}
		}
		rec.Type, rec.Message = "user", user(texts...)
		return
	case "function_call":
		blocks = codexCall(it.CallID, it.Name, it.Arguments)
	case "custom_tool_call":
		if it.Name == "apply_patch" {
			blocks = patchCalls(it.CallID, it.Input)
		} else {
			blocks = []Block{call(it.CallID, it.Name, map[string]string{"input": it.Input})}
		}
	case "local_shell_call":
		var action struct {
			Command []string `json:"command"`
		}
		_ = json.Unmarshal(it.Action, &action) // a malformed action has no command
		if patch := patchOf(action.Command); patch != "" {
			blocks = patchCalls(it.CallID, patch)
		} else {
			blocks = []Block{shellCall(it.CallID, action.Command)}
		}
	case "web_search_call":
		var action struct {
			Query string `json:"query"`
		}
		_ = json.Unmarshal(it.Action, &action) // as above
		blocks = []Block{call(it.ID, "WebSearch", map[string]string{"query": action.Query})}
	case "function_call_output", "custom_tool_call_output":
		text, status := codexOutput(it.Output)
		failed := strings.HasPrefix(text, "Script failed\n") || strings.HasPrefix(text, "apply_patch verification failed")
		rec.Type, rec.Message = "user", &Message{Role: "user", Content: []Block{result(it.CallID, text, failed, status)}}
		return
	default:
		return // reasoning and unknown types
	}
	rec.Type, rec.Message = "assistant", &Message{Role: "assistant", Content: blocks}
}

// codexTexts returns the texts of the content of a message.
func codexTexts(content json.RawMessage) (out []string) {
	var one string
	if json.Unmarshal(content, &one) == nil {
		return []string{one}
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(content, &parts) // neither a string nor a list of parts: no text
	for _, p := range parts {
		if p.Type == "input_text" || p.Type == "output_text" || p.Type == "text" {
			out = append(out, p.Text)
		}
	}
	return out
}

// The extension of an editor puts what is open there before the user's words.
const (
	editorContext = "# Context from my IDE setup:"
	editorRequest = "## My request for Codex:\n"
)

// codexWrote reports whether Codex itself wrote a text as the user: instructions, or a single element whose name has an
// underscore or is a name of Codex.
func codexWrote(s string) bool {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "# AGENTS.md instructions") {
		return true
	}
	name, _, ok := strings.Cut(strings.TrimPrefix(s, "<"), ">")
	if !ok || !strings.HasPrefix(s, "<") || strings.ContainsAny(name, " \n</") && name != "permissions instructions" {
		return false
	}
	switch name {
	case "INSTRUCTIONS", "skill", "permissions instructions":
		return true
	}
	return strings.Contains(name, "_") && strings.HasSuffix(s, "</"+name+">")
}

// codexCall returns the tool call of a function: of a shell, a patch, a plan, or another tool by its own name.
func codexCall(id, name, arguments string) []Block {
	var a struct {
		Command json.RawMessage `json:"command"`
		Cmd     string          `json:"cmd"`
		Input   string          `json:"input"`
		Path    string          `json:"path"`
		Plan    []struct {
			Step   string `json:"step"`
			Status string `json:"status"`
		} `json:"plan"`
	}
	if json.Unmarshal([]byte(arguments), &a) != nil {
		return []Block{call(id, name, map[string]string{"arguments": arguments})}
	}
	switch name {
	case "shell", "shell_command", "container.exec", "local_shell", "exec_command", "unified_exec":
		var argv []string
		line := a.Cmd
		if json.Unmarshal(a.Command, &argv) != nil {
			_ = json.Unmarshal(a.Command, &line) // a command is a list or a string
		}
		if argv == nil {
			argv = []string{line}
		}
		if patch := patchOf(argv); patch != "" {
			return patchCalls(id, patch)
		}
		return []Block{shellCall(id, argv)}
	case "apply_patch":
		return patchCalls(id, a.Input)
	case "update_plan":
		list := []todo{}
		for _, p := range a.Plan {
			list = append(list, todo{p.Step, p.Status})
		}
		return []Block{call(id, "TodoWrite", map[string][]todo{"todos": list})}
	case "view_image":
		return []Block{call(id, "Read", map[string]string{"file_path": a.Path})}
	}
	return []Block{call(id, name, json.RawMessage(arguments))}
}

// shellCall returns a command line; for a shell with -c or -lc, the command that it runs.
func shellCall(id string, argv []string) Block {
	line := strings.Join(argv, " ")
	if len(argv) == 3 && (argv[1] == "-lc" || argv[1] == "-c") {
		line = argv[2]
	}
	return call(id, "Bash", map[string]string{"command": line})
}

var exited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Process exited with code|Exit code:) (\d+)$`)
})

// codexOutput returns the text of a result, and the exit status if it has one.
func codexOutput(raw json.RawMessage) (text string, status int) {
	if json.Unmarshal(raw, &text) != nil {
		text = strings.Join(append(codexTexts(raw), outputContent(raw)), "")
	}
	var inner struct {
		Output   *string `json:"output"`
		Metadata struct {
			Exit int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &inner) == nil && inner.Output != nil {
		return *inner.Output, inner.Metadata.Exit
	}
	head, body, found := strings.Cut(text, "\nOutput:\n")
	if m := exited().FindStringSubmatch(head); m != nil && found {
		status, _ = strconv.Atoi(m[1]) // digits; what is too large for an int is no status
		return body, status
	}
	return text, 0
}

// outputContent returns the content of a result that is an object.
func outputContent(raw json.RawMessage) string {
	var o struct {
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	return strings.Join(codexTexts(o.Content), "\n")
}
