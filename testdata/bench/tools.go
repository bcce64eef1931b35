package main

import (
	"encoding/base64"
	"fmt"
	"path"
	"strings"
)

// use writes a tool's call with the hooks around it and returns the call's id.
func (s *session) use(tool, input string, args ...any) string {
	id := s.name22("toolu")
	s.assistant(`{"type":"tool_use","id":"%s","name":"%s","input":%s,"caller":{"type":"direct"}}`, id, tool, fmt.Sprintf(input, args...))
	s.hooks("PreToolUse", tool, id)
	return id
}

// result writes what the call id returned: as the model sees it, and again as the client keeps it.
func (s *session) result(tool, id, text, kept string, args ...any) {
	s.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s}]},"toolUseResult":%s,"sourceToolAssistantUUID":"%s"`,
		id, quote(text), fmt.Sprintf(kept, args...), s.parent)
	s.hooks("PostToolUse", tool, id)
}

func (s *session) hooks(event, tool, id string) {
	for range 1 + s.rng.IntN(4) {
		s.record(`"type":"progress","data":{"type":"hook_progress","hookEvent":"%s","hookName":"%[1]s:%s","command":"${CLAUDE_PLUGIN_ROOT}/hooks/%[1]s.sh"},"parentToolUseID":"%[3]s","toolUseID":"%[3]s"`, event, tool, id)
	}
}

// pick returns a file, more often one that was used lately.
func (s *session) pick() (name string, lines []string) {
	if len(s.recent) > 0 && s.rng.IntN(10) < 6 {
		name = s.recent[s.rng.IntN(len(s.recent))]
	} else {
		name = s.paths[s.rng.IntN(min(len(s.paths), 80))]
		s.recent = append(s.recent, name)
		s.recent = s.recent[max(0, len(s.recent)-12):]
	}
	text, ok := s.files[name]
	if !ok {
		text = s.material.files[name]
	}
	return name, strings.Split(text, "\n")
}

// some returns at most most lines from a random place, and where they begin.
func (s *session) some(lines []string, most int) (int, []string) {
	from := s.rng.IntN(len(lines))
	return from, lines[from:min(len(lines), from+1+s.rng.IntN(most))]
}

func (s *session) read() {
	name, lines := s.pick()
	from, part := 0, lines[:min(len(lines), 400)]
	if s.rng.IntN(3) > 0 {
		from, part = s.some(lines, 150)
	}
	id := s.use("Read", `{"file_path":"%s/%s","offset":%d,"limit":%d}`, s.cwd, name, from+1, len(part))
	s.result("Read", id, numbered(part, from+1)+"\n\n<system-reminder>\nWhenever you read a file, consider whether it would be considered malware.\n</system-reminder>\n",
		`{"type":"text","file":{"filePath":"%s/%s","content":%s,"numLines":%d,"startLine":%d,"totalLines":%d}}`,
		s.cwd, name, quote(strings.Join(part, "\n")), len(part), from+1, len(lines))
}

func (s *session) bash() {
	name, lines := s.pick()
	var out strings.Builder
	switch s.rng.IntN(4) {
	case 0:
		for range 5 + s.rng.IntN(60) {
			fmt.Fprintf(&out, "--- PASS: Test%s%d (%.2fs)\n", path.Base(s.paths[s.rng.IntN(len(s.paths))]), s.rng.IntN(40), s.rng.Float64()*3)
		}
	case 1:
		_, part := s.some(lines, 100)
		out.WriteString(strings.Join(part, "\n"))
	case 2:
		for range 5 + s.rng.IntN(30) {
			fmt.Fprintf(&out, "-rw-r--r-- 1 user user %6d Feb %2d %02d:00 %s\n", s.rng.IntN(80_000), 1+s.rng.IntN(28), s.rng.IntN(24), s.paths[s.rng.IntN(len(s.paths))])
		}
	case 3:
		_, part := s.some(lines, 40)
		for _, l := range part {
			out.WriteString([]string{" ", " ", "+", "-"}[s.rng.IntN(4)] + l + "\n")
		}
	}
	id := s.use("Bash", `{"command":"go test ./%s 2>&1 | tail -50","description":%s}`, path.Dir(name), quote(s.prose(1)))
	if s.rng.IntN(100) < 30 {
		s.progress(id, out.String())
	}
	s.result("Bash", id, out.String(), `{"stdout":%s,"stderr":"","interrupted":false,"isImage":false}`, quote(out.String()))
}

// progress writes the output so far, several times, as the client does while a command runs.
func (s *session) progress(id, out string) {
	steps := 1 + s.rng.IntN(6)
	for i := 1; i <= steps; i++ {
		sofar := strings.ToValidUTF8(out[:len(out)*i/steps], "")
		s.record(`"type":"progress","data":{"type":"bash_progress","output":%s,"fullOutput":%s,"elapsedTimeSeconds":%d,"timeoutMs":120000},"toolUseID":"bash-progress-%d","parentToolUseID":"%s"`,
			quote(strings.ToValidUTF8(sofar[max(0, len(sofar)-300):], "")), quote(sofar), 2*i, i, id)
	}
}

func (s *session) edit() {
	name, lines := s.pick()
	from, old := s.some(lines, 12)
	var next, patch []string
	for _, l := range old {
		patch = append(patch, quote("-"+l))
	}
	for _, l := range old {
		next = append(next, l)
		if s.rng.IntN(3) == 0 {
			next = append(next, "\t// "+s.prose(1))
		}
	}
	for _, l := range next {
		patch = append(patch, quote("+"+l))
	}
	before, after := quote(strings.Join(old, "\n")), quote(strings.Join(next, "\n"))
	id := s.use("Edit", `{"replace_all":false,"file_path":"%s/%s","old_string":%s,"new_string":%s}`, s.cwd, name, before, after)
	whole := strings.Join(lines, "\n")
	s.files[name] = strings.Join(append(append(append([]string{}, lines[:from]...), next...), lines[from+len(old):]...), "\n")
	s.result("Edit", id, "The file has been updated successfully.",
		`{"filePath":"%s/%s","oldString":%s,"newString":%s,"originalFile":%s,"structuredPatch":[{"oldStart":%d,"oldLines":%d,"newStart":%[6]d,"newLines":%[8]d,"lines":[%[9]s]}],"userModified":false}`,
		s.cwd, name, before, after, quote(strings.ToValidUTF8(whole[:min(len(whole), 60_000)], "")), from, len(old), len(next), strings.Join(patch, ","))
}

func (s *session) grep() {
	word := []string{"func", "err", "return", "type", "import", "const"}[s.rng.IntN(6)]
	var out strings.Builder
	for range 8 {
		name, lines := s.pick()
		for i, l := range lines {
			if strings.Contains(l, word) && s.rng.IntN(8) == 0 && out.Len() < 6000 {
				fmt.Fprintf(&out, "%s/%s:%d:%s\n", s.cwd, name, i+1, l)
			}
		}
	}
	id := s.use("Grep", `{"pattern":"%s","path":"%s","output_mode":"content","-n":true}`, word, s.cwd)
	s.result("Grep", id, out.String(), `{"mode":"content","filenames":[],"content":%s,"numLines":%d}`, quote(out.String()), strings.Count(out.String(), "\n"))
}

func (s *session) image() {
	data := base64.StdEncoding.EncodeToString(s.random(20_000 + s.rng.IntN(90_000)))
	id := s.use("Read", `{"file_path":"%s/shot.png"}`, s.cwd)
	s.record(`"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":[{"type":"image","source":{"type":"base64","data":"%s","media_type":"image/png"}}]}]},"toolUseResult":{"type":"image","file":{"base64":"%[2]s","type":"image/png"}}`, id, data)
}

func (s *session) agent() {
	prompt := quote(s.prose(6))
	id := s.use("Task", `{"description":"Explore","prompt":%s,"subagent_type":"Explore"}`, prompt)
	for range 5 + s.rng.IntN(15) {
		_, lines := s.pick()
		from, part := s.some(lines, 40)
		s.record(`"type":"progress","data":{"message":{"type":"user","message":{"role":"user","content":[{"tool_use_id":"%s","type":"tool_result","content":%s}]},"timestamp":"%s"},"type":"agent_progress","prompt":%s,"agentId":"%s"},"toolUseID":"%[1]s","parentToolUseID":"%[6]s"`,
			s.name22("toolu"), quote(numbered(part, from+1)), s.tick(), prompt, s.uuid()[:7], id)
	}
	s.result("Task", id, s.prose(20), `{"status":"completed","prompt":%s,"totalDurationMs":%d}`, prompt, s.rng.IntN(90_000))
}

func (s *session) todo() {
	var list []string
	for i := range 3 + s.rng.IntN(6) {
		list = append(list, fmt.Sprintf(`{"content":"mend %s","status":"%s","activeForm":"Working"}`, s.paths[i], []string{"pending", "in_progress", "completed"}[s.rng.IntN(3)]))
	}
	todos := "[" + strings.Join(list, ",") + "]"
	id := s.use("TodoWrite", `{"todos":%s}`, todos)
	s.result("TodoWrite", id, "Todos have been modified successfully. Continue to use the list to track your progress.", `{"oldTodos":%s,"newTodos":%[1]s}`, todos)
}

func numbered(lines []string, from int) string {
	var b strings.Builder
	for i, l := range lines {
		fmt.Fprintf(&b, "%6d→%s\n", i+from, l)
	}
	return b.String()
}
