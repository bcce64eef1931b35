package agents

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Codex is OpenAI's Codex CLI: ~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl. Each line is
// {"timestamp", "type", "payload"}; lines of versions before 0.32 are the payload alone.
type Codex struct{}

// Detect reports whether a value has a type of Codex.
func (Codex) Detect(kind, agent string) bool {
	switch kind {
	case "session_meta", "response_item", "event_msg", "turn_context", "compacted":
		return true
	case "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
		"local_shell_call",
		"reasoning", "web_search_call":
		return agent == ""
	}
	return false
}

// Sessions lists the rollout files under dir, which is ~/.codex or a directory in it.
func (Codex) Sessions(dir string) (out []Session, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		}
		if id := RolloutID(path); id != "" && d.Type().IsRegular() {
			out = append(out, Session{ID: id, Path: path})
		}
		return nil
	})
	return out, err
}

// RolloutID returns the id in the name of a rollout file, "" if path is none: the 36 characters behind the time.
func RolloutID(path string) string {
	name, ok := strings.CutSuffix(filepath.Base(path), ".jsonl")
	rest, rollout := strings.CutPrefix(name, "rollout-")
	if !ok || !rollout || len(rest) <= 36 {
		return ""
	}
	id := rest[len(rest)-36:]
	for i, c := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return ""
		}
	}
	return id
}

// Values yields the lines of the file.
func (Codex) Values(s Session) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(s.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		for r := bufio.NewReader(f); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 && !yield(line, nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// A codexLine is a line of a rollout file.
type codexLine struct {
	Timestamp string          `json:"timestamp"`
	Type      string          `json:"type"`
	Payload   json.RawMessage `json:"payload"`
}

// A codexItem is a payload: of any type, so that most members are empty.
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

// Message returns what a line says.
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
		return rec // a member of a type that is not known
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
	}
	if rec.Message == nil {
		rec.Type = "codex"
	}
	return rec
}

// fill sets what an item says: a message, the call of a tool or its result.
func (it *codexItem) fill(rec *Rec) {
	var blocks []Block
	switch it.Type {
	case "message":
		texts := codexTexts(it.Content)
		if it.Role == "assistant" {
			rec.Type, rec.Message = "assistant", answer(texts...)
			return
		}
		rec.Type, rec.Message = "user", user(texts...)
		rec.Meta = it.Role != "user" || slices.ContainsFunc(texts, codexWrote)
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
		_ = json.Unmarshal(it.Action, &action) // what cannot be read has no command
		blocks = []Block{shellCall(it.CallID, action.Command)}
	case "web_search_call":
		var action struct {
			Query string `json:"query"`
		}
		_ = json.Unmarshal(it.Action, &action) // as above
		blocks = []Block{call(it.ID, "WebSearch", map[string]string{"query": action.Query})}
	case "function_call_output", "custom_tool_call_output":
		text, status := codexOutput(it.Output)
		rec.Type, rec.Message = "user", &Message{Role: "user", Content: []Block{result(it.CallID, text, false, status)}}
		return
	default:
		return // reasoning, and what is not known yet
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

// codexWrote reports whether Codex itself wrote a text in the user's name.
func codexWrote(s string) bool {
	s = strings.TrimSpace(s)
	for _, mark := range []string{"<environment_context>", "<user_instructions>", "<INSTRUCTIONS>",
		"<permissions instructions>",
		"<turn_aborted>", "<user_shell_command>", "<skill>", "<collaboration_mode>", "<subagent_notification>",
		"# AGENTS.md instructions"} {
		if strings.HasPrefix(s, mark) {
			return true
		}
	}
	return false
}

// codexCall returns the call of a function: of a shell, a patch, a plan, or any other by its own name.
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
		if len(argv) > 1 && argv[0] == "apply_patch" {
			return patchCalls(id, argv[1])
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

// shellCall returns a command line; of a shell with -c or -lc what it is given to run.
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

// codexOutput returns the text of a result, and the exit status if it tells one.
func codexOutput(raw json.RawMessage) (text string, status int) {
	if json.Unmarshal(raw, &text) != nil {
		return strings.Join(append(codexTexts(raw), outputContent(raw)), ""), 0
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
