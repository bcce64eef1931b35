package transcript

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
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
	kind, item := codexLine(parse(value))
	if kind != "response_item" {
		if !item.Exists() || (Codex{}).Detect(kind, "") {
			return "" // no line of Codex, or a known one
		}
		return kind
	}
	if !item.IsObject() {
		return kind
	}
	switch kind := item.Get("type").Str; kind {
	case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call", "web_search_call", "reasoning", "compaction", "compaction_summary", "context_compaction",
		"compaction_trigger", "ghost_snapshot", "agent_message", "additional_tools", "tool_search_call",
		"tool_search_output", "image_generation_call", "":
		return ""
	default:
		return kind
	}
}

// codexLine returns the type and the payload of a line of a rollout file, nothing of any other value.
func codexLine(l gjson.Result) (kind string, payload gjson.Result) {
	if !l.IsObject() {
		return "", gjson.Result{}
	}
	if payload = l.Get("payload"); payload.Exists() {
		return l.Get("type").Str, payload
	}
	return "response_item", l
}

// Message returns a line as a record of Claude Code.
func (Codex) Message(value []byte) agentRec {
	l := parse(value)
	kind, it := codexLine(l)
	rec := agentRec{Type: "codex", Subtype: kind, Timestamp: l.Get("timestamp").Str}
	switch kind {
	case "session_meta":
		rec.Session, rec.Cwd, rec.Branch = it.Get("id").Str, it.Get("cwd").Str, it.Get("git.branch").Str
		if version := it.Get("cli_version").Str; version != "" {
			rec.Version = "codex " + version
		}
	case "turn_context":
		rec.Cwd = it.Get("cwd").Str
	case "compacted":
		rec.Type, rec.Compact, rec.Message = "user", true, userMessage(it.Get("message").Str)
	case "response_item":
		codexItem(it, &rec)
	case "event_msg":
		codexEvent(it, &rec)
	}
	if rec.Message == nil && rec.Title == "" {
		rec.Type = "codex"
	}
	return rec
}

// codexItem sets the message of an item: text, a tool call or a result.
func codexItem(it gjson.Result, rec *agentRec) {
	var blocks []agentBlock
	id, name := it.Get("call_id").Str, it.Get("name").Str
	switch it.Get("type").Str {
	case "message":
		texts, role := codexTexts(it.Get("content")), it.Get("role").Str
		if role == "assistant" {
			rec.Type, rec.Message = "assistant", modelMessage(texts...)
			return
		}
		rec.Meta = role != "user" || slices.ContainsFunc(texts, codexWrote)
		for i, s := range texts {
			if _, request, ok := strings.Cut(s, editorRequest); ok && strings.HasPrefix(s, editorContext) {
				texts[i] = strings.TrimSpace(request)
			}
		}
		rec.Type, rec.Message = "user", userMessage(texts...)
		return
	case "function_call":
		blocks = codexCall(id, name, it.Get("arguments").Str)
	case "custom_tool_call":
		if input := it.Get("input").Str; name == "apply_patch" {
			blocks = patchCalls(id, input)
		} else {
			blocks = []agentBlock{call(id, name, map[string]string{"input": input})}
		}
	case "local_shell_call":
		blocks = shellCalls(id, textsOf(it.Get("action.command")))
	case "web_search_call":
		blocks = []agentBlock{call(it.Get("id").Str, "WebSearch", map[string]string{"query": it.Get("action.query").Str})}
	case "function_call_output", "custom_tool_call_output":
		text, status := codexOutput(it.Get("output"))
		failed := strings.HasPrefix(text, "Script failed\n") || strings.HasPrefix(text, "apply_patch verification failed")
		rec.Type, rec.Message = "user", &agentMessage{Role: "user", Content: []agentBlock{result(id, text, failed, status)}}
		return
	default:
		return // reasoning and unknown types
	}
	rec.Type, rec.Message = "assistant", &agentMessage{Role: "assistant", Content: blocks}
}

// codexTexts returns the texts of the content of a message: a string or a list of parts.
func codexTexts(content gjson.Result) (out []string) {
	if content.Type == gjson.String {
		return []string{content.Str}
	}
	for _, p := range list(content) {
		switch p.Get("type").Str {
		case "input_text", "output_text", "text":
			out = append(out, p.Get("text").Str)
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

// codexCall returns the tool call of a function: of a shell, a patch, a plan, or another tool by its own name. The
// arguments are JSON.
func codexCall(id, name, arguments string) []agentBlock {
	a := parse([]byte(arguments))
	if !a.IsObject() {
		return []agentBlock{call(id, name, map[string]string{"arguments": arguments})}
	}
	switch name {
	case "shell", "shell_command", "container.exec", "local_shell", "exec_command", "unified_exec":
		command := a.Get("command") // a list or a string
		if command.IsArray() {
			return shellCalls(id, textsOf(command))
		}
		return shellCalls(id, []string{cmp.Or(command.Str, a.Get("cmd").Str)})
	case "apply_patch":
		return patchCalls(id, a.Get("input").Str)
	case "update_plan":
		return []agentBlock{todos(id, a.Get("plan"), "step")}
	case "view_image":
		return []agentBlock{call(id, "Read", map[string]string{"file_path": a.Get("path").Str})}
	}
	return []agentBlock{call(id, name, json.RawMessage(arguments))}
}

// shellCalls returns a command line, or the edits of the patch that it applies.
func shellCalls(id string, argv []string) []agentBlock {
	if patch := patchOf(argv); patch != "" {
		return patchCalls(id, patch)
	}
	return []agentBlock{shellCall(id, argv)}
}

// shellCall returns a command line; for a shell with -c or -lc, the command that it runs.
func shellCall(id string, argv []string) agentBlock {
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
func codexOutput(r gjson.Result) (text string, status int) {
	text = strings.Join(append(codexTexts(r), strings.Join(codexTexts(r.Get("content")), "\n")), "")
	if strings.HasPrefix(text, "{") {
		inner := parse([]byte(text))
		if out := inner.Get("output"); out.Type == gjson.String {
			return out.Str, int(inner.Get("metadata.exit_code").Int())
		}
	}
	head, body, found := strings.Cut(text, "\nOutput:\n")
	if m := exited().FindStringSubmatch(head); m != nil && found {
		status, _ = strconv.Atoi(m[1]) // digits; what is too large for an int is no status
		return body, status
	}
	return text, 0
}
