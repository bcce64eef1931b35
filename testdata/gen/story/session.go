package story

import (
	"bytes"
	"fmt"
	"strings"
	"time"
)

// An era is how a version of the client writes its records.
type era int

const (
	early  era = iota // 1.x, 2.0: sidechains inline or beside the session
	middle            // 2.1 to about 2.1.63: progress records
	late              // later: attachments, no progress
)

// A session writes one transcript.
type session struct {
	id, cwd, branch, version, model string
	agent                           string // id of the subagent whose file this is
	era                             era
	out                             bytes.Buffer
	now                             time.Time
	parent                          string
	n                               int // records
	calls                           int
	answer                          string // message.id while one answer lasts
	tokens                          int
	files                           map[string]string
	side                            bool // an inline sidechain
}

func newSession(id, cwd, version string, e era, start string) *session {
	t, err := time.Parse(time.RFC3339, start)
	if err != nil {
		panic("story: " + err.Error()) // the times are written in this package
	}
	return &session{id: id, cwd: cwd, branch: "main", version: version, model: "claude-opus-4-5-20251101", era: e, now: t, tokens: 14000, files: map[string]string{}}
}

// tick moves the clock on by a time that looks natural and returns it.
func (s *session) tick() string {
	d := digest(s.id+"clock", s.n)
	s.now = s.now.Add(time.Duration(800+int(d[0])*40+int(d[1])) * time.Millisecond)
	return s.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

// raw writes bytes as they are.
func (s *session) raw(line string) { s.out.WriteString(line) }

// line writes a record that stands outside the conversation.
func (s *session) line(members ...any) {
	s.n++
	s.out.Write(encode(object(members)))
	s.out.WriteByte('\n')
}

// record writes a record of the conversation: the envelope, then members.
func (s *session) record(kind string, members ...any) string {
	s.n++
	id := uuid(s.id+s.agent, s.n)
	parent := any(nil)
	if s.parent != "" {
		parent = s.parent
	}
	o := object{"parentUuid", parent, "isSidechain", s.side || s.agent != "", "userType", "external", "cwd", s.cwd, "sessionId", s.id, "version", s.version, "gitBranch", s.branch}
	if s.agent != "" {
		o = o.with("agentId", s.agent)
	}
	o = o.with("type", kind).with(members...).with("uuid", id, "timestamp", s.tick())
	s.out.Write(encode(o))
	s.out.WriteByte('\n')
	s.parent = id
	return id
}

// user writes what the user typed.
func (s *session) user(text string, more ...any) string {
	s.answer = ""
	if s.era != early && s.agent == "" {
		id := uuid(s.id+"snapshot", s.n)
		s.line("type", "file-history-snapshot", "messageId", id, "snapshot", object{"messageId", id, "trackedFileBackups", object{}, "timestamp", s.tick()}, "isSnapshotUpdate", false)
	}
	content := any(text)
	if len(more) > 0 {
		blocks := []any{object{"type", "text", "text", text}}
		content = append(blocks, more...)
	}
	members := []any{"message", object{"role", "user", "content", content}}
	if s.era == late && s.agent == "" {
		members = append(members, "permissionMode", "acceptEdits", "origin", object{"kind", "human"}, "promptSource", "sdk")
	}
	return s.record("user", members...)
}

// client writes a text in the user's name.
func (s *session) client(text string, more ...any) {
	s.record("user", append([]any{"message", object{"role", "user", "content", text}}, more...)...)
}

// block writes one block of the model's answer.
func (s *session) block(b object) {
	if s.answer == "" {
		s.answer = ident("msg_", s.id+s.agent, s.n)
		s.tokens += 900
	}
	s.record("assistant", "message", object{
		"model", s.model, "id", s.answer, "type", "message", "role", "assistant", "content", []any{b}, "stop_reason", nil, "stop_sequence", nil,
		"usage", object{
			"input_tokens", 4, "cache_creation_input_tokens", 1100, "cache_read_input_tokens", s.tokens,
			"cache_creation", object{"ephemeral_5m_input_tokens", 1100, "ephemeral_1h_input_tokens", 0}, "output_tokens", 180, "service_tier", "standard",
		},
	}, "requestId", ident("req_", s.answer, 0))
}

func (s *session) think(text string) {
	s.block(object{"type", "thinking", "thinking", text, "signature", noise(s.id+text, 380)})
}

func (s *session) say(text string) { s.block(object{"type", "text", "text", text}) }

// call writes a call of a tool and returns its id.
func (s *session) call(name string, input object) string {
	s.calls++
	id := ident("toolu_", s.id+s.agent, s.calls)
	s.block(object{"type", "tool_use", "id", id, "name", name, "input", input})
	if s.era == middle && s.agent == "" {
		s.record("progress", "data", object{"type", "hook_progress", "hookEvent", "PreToolUse", "hookName", "PreToolUse:" + name, "command", "gofmt-guard --check"}, "parentToolUseID", id, "toolUseID", id)
	}
	return id
}

// result writes the result of a call: what the model reads, and the client's own copy.
func (s *session) result(id string, content any, copied any, failed bool) {
	s.answer = ""
	b := object{"tool_use_id", id, "type", "tool_result", "content", content}
	if failed {
		b = b.with("is_error", true)
	}
	s.record("user", "message", object{"role", "user", "content", []any{b}}, "toolUseResult", copied)
	if s.era == late && s.agent == "" {
		s.record("attachment", "attachment", object{"type", "hook_success", "hookName", "PostToolUse", "toolUseID", id, "hookEvent", "PostToolUse", "content", "", "stdout", "{}\n", "stderr", "", "exitCode", 0, "command", "gofmt-guard", "durationMs", 31})
	}
}

const reminder = "\n\n<system-reminder>\nWhenever you read a file, you should consider whether it looks malicious. Answer questions about it, but do not improve it if it does.\n</system-reminder>\n"

func (s *session) path(name string) string { return s.cwd + "/" + name }

// read writes a call of Read with its result.
func (s *session) read(name string) {
	id := s.call("Read", object{"file_path", s.path(name)})
	text := s.files[name]
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "%6d→%s\n", i+1, l)
	}
	s.result(id, b.String()+reminder, object{"type", "text", "file", object{"filePath", s.path(name), "content", text, "numLines", len(lines), "startLine", 1, "totalLines", len(lines)}}, false)
}

// edit writes a call of Edit with its result and changes the file.
func (s *session) edit(name, before, after string) {
	text := s.files[name]
	i := strings.Index(text, before)
	if i < 0 {
		panic("story: " + name + " does not hold " + before) // the story is written in this package
	}
	id := s.call("Edit", object{"file_path", s.path(name), "old_string", before, "new_string", after, "replace_all", false})
	s.files[name] = text[:i] + after + text[i+len(before):]
	s.result(id, "The file "+s.path(name)+" has been updated successfully.", object{
		"filePath", s.path(name), "oldString", before, "newString", after, "originalFile", text,
		"structuredPatch", []any{hunk(text[:i], before, after)}, "userModified", false, "replaceAll", false,
	}, false)
}

// hunk is the patch that the client keeps of an edit, without context.
func hunk(head, before, after string) object {
	start := strings.Count(head, "\n") + 1
	var lines []any
	for l := range strings.Lines(before) {
		lines = append(lines, "-"+strings.TrimSuffix(l, "\n"))
	}
	for l := range strings.Lines(after) {
		lines = append(lines, "+"+strings.TrimSuffix(l, "\n"))
	}
	return object{"oldStart", start, "oldLines", strings.Count(before, "\n") + 1, "newStart", start, "newLines", strings.Count(after, "\n") + 1, "lines", lines}
}

// write writes a call of Write with its result and makes the file.
func (s *session) write(name, text string) {
	id := s.call("Write", object{"file_path", s.path(name), "content", text})
	s.files[name] = text
	s.result(id, "File created successfully at: "+s.path(name), object{"type", "create", "filePath", s.path(name), "content", text, "structuredPatch", []any{}, "originalFile", nil}, false)
}

// bash writes a call of Bash that went well.
func (s *session) bash(command, output string) {
	id := s.call("Bash", object{"command", command, "description", "Run " + strings.Fields(command)[0]})
	if s.era == middle && len(output) > 200 {
		s.record("progress", "data", object{"type", "bash_progress", "output", output[:100], "fullOutput", output, "elapsedTimeSeconds", 2, "totalLines", strings.Count(output, "\n")}, "toolUseID", "bash-progress-0", "parentToolUseID", id)
	}
	s.result(id, output, object{"stdout", output, "stderr", "", "interrupted", false, "isImage", false}, false)
}

// bashFails writes a call of Bash that failed.
func (s *session) bashFails(command string, code int, output string) {
	id := s.call("Bash", object{"command", command, "description", "Run " + strings.Fields(command)[0]})
	text := fmt.Sprintf("Exit code %d\n%s", code, output)
	s.result(id, text, "Error: "+text, true)
}

// grep writes a call of Grep with its result.
func (s *session) grep(pattern, output string) {
	id := s.call("Grep", object{"pattern", pattern, "path", s.cwd, "output_mode", "content", "-n", true})
	s.result(id, output, object{"mode", "content", "numFiles", 0, "filenames", []any{}, "content", output, "numLines", strings.Count(output, "\n") + 1}, false)
}

// queue writes what the client notes about text typed while the model works.
func (s *session) queue(operation, content string) {
	o := object{"type", "queue-operation", "operation", operation, "timestamp", s.tick(), "sessionId", s.id}
	if content != "" {
		o = o.with("content", content)
	}
	s.line(o...)
}

// system writes a record of the client about the session.
func (s *session) system(subtype string, more ...any) {
	s.record("system", append([]any{"subtype", subtype, "isMeta", false, "level", "info"}, more...)...)
}

// bytes returns the transcript.
func (s *session) bytes() []byte { return s.out.Bytes() }
