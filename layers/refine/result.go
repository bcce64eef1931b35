package refine

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

const (
	errorLines = 3   // lines that tell of an error, of an output
	failLines  = 12  // names of failed tests
	lineLimit  = 160 // of one of them
	readLimit  = 4 << 20
)

// result merges the result b of a tool into the entry of its call.
func (r *refiner) result(b transcript.Block) {
	x := r.calls[b.ToolID]
	if x == nil {
		x = r.add(Entry{Role: "tool", Name: "result"})
	}
	delete(r.calls, b.ToolID)
	x.wait = false
	switch {
	case b.IsError:
		r.failed(&x.Entry, clean(b.Result()))
	case x.Name == "AskUserQuestion":
		x.Result = clean(b.Result())
	case x.Name == "Task" || x.Name == "Agent":
		x.Result = r.report(clean(b.Result()))
	default:
		x.Result = "ok"
	}
	switch x.Name {
	case "Edit", "MultiEdit", "Write":
		r.place(&x.Entry)
	case "Bash", "PowerShell", "BashOutput", "TaskOutput", "result":
		x.Errors = failures(b.Content, x.Result)
	}
}

// report is what is kept of the last words of a subagent, which another model wrote for this one.
func (r *refiner) report(s string) string {
	if r.mode == Lean {
		return cut(s, 300)
	}
	return cut(s, 2000)
}

// failed takes the text of an error: what the user said to it whole, the exit status as a number, of the rest the
// first lines.
func (r *refiner) failed(e *Entry, text string) {
	limit := 400
	if r.mode == Lean {
		limit = 200
	}
	if _, said, ok := strings.Cut(text, "the user said:\n"); ok {
		e.Result = "refused by the user: " + said
		return
	}
	if strings.HasPrefix(text, "The user doesn't want to proceed") {
		e.Result = "refused by the user"
		return
	}
	if rest, ok := strings.CutPrefix(text, "Exit code "); ok {
		number, rest, _ := strings.Cut(rest, "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
			e.Exit, text = n, strings.TrimSpace(rest)
		}
	}
	e.Result = cut(text, limit)
	if e.Result == "" {
		e.Result = "error"
	}
}

// clean takes out what the client put into a result.
func clean(s string) string {
	for {
		before, rest, ok := strings.Cut(s, "<system-reminder>")
		if !ok {
			break
		}
		_, after, ok := strings.Cut(rest, "</system-reminder>")
		if !ok {
			break
		}
		s = before + after
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "<tool_use_error>", ""), "</tool_use_error>", "")
	return strings.TrimSpace(withoutColour(s))
}

// place adds the line of the first change to the name of the file, which the client's own copy of the result tells.
func (r *refiner) place(e *Entry) {
	if e.Result != "ok" || e.Target == "" {
		return
	}
	i := bytes.LastIndex(r.m.ToolUseResult, []byte(`"structuredPatch":[{`))
	if i < 0 {
		return
	}
	hunk := gjson.ParseBytes(r.m.ToolUseResult[i+len(`"structuredPatch":[`):])
	line := hunk.Get("newStart").Int()
	hunk.Get("lines").ForEach(func(_, v gjson.Result) bool {
		if strings.HasPrefix(v.Str, " ") {
			line++
			return true
		}
		return false
	})
	if line > 0 {
		e.Target += ":" + strconv.FormatInt(line, 10)
	}
}

// failMarks stand in every line that [isFailure] takes, so output without them need not be read.
var failMarks = [][]byte{
	[]byte("FAIL"), []byte("panic:"), []byte("rror:"), []byte("undefined:"), []byte("fatal:"), []byte("ERROR"),
	[]byte("Traceback"), []byte("cannot "), []byte(".go:"),
}

// failures returns the lines of an output that tell of a failure, names of failed tests first. shown is what is
// in the entry already.
func failures(raw []byte, shown string) []string {
	found := false
	for _, mark := range failMarks {
		found = found || bytes.Contains(raw, mark)
	}
	if !found || len(raw) > readLimit {
		return nil
	}
	var tests, others []string
	for line := range strings.Lines(transcript.Block{Content: raw}.Result()) {
		line = strings.TrimSpace(line)
		if len(line) > 300 || !isFailure(line) {
			continue
		}
		line = cut(withoutColour(line), lineLimit)
		if strings.Contains(shown, line) {
			continue
		}
		if strings.HasPrefix(line, "--- FAIL") {
			tests = appendNew(tests, line, failLines)
		} else {
			others = appendNew(others, line, errorLines)
		}
	}
	return append(tests, others...)
}

func appendNew(list []string, s string, limit int) []string {
	if len(list) == limit {
		return list
	}
	for _, t := range list {
		if t == s {
			return list
		}
	}
	return append(list, s)
}

func isFailure(line string) bool {
	for _, mark := range []string{"--- FAIL", "FAIL\t", "FAIL ", "panic:", "fatal:", "Traceback"} {
		if strings.HasPrefix(line, mark) {
			return true
		}
	}
	for _, mark := range []string{"rror: ", "rror:\t", "undefined: ", "cannot ", "ERROR", " FAIL "} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return hasPosition(line)
}

// hasPosition reports whether line starts like a Go compiler's message: file.go:12:3:
func hasPosition(line string) bool {
	_, rest, ok := strings.Cut(line, ".go:")
	if !ok {
		return false
	}
	for range 2 {
		digits := strings.TrimLeft(rest, "0123456789")
		if len(digits) == len(rest) || !strings.HasPrefix(digits, ":") {
			return false
		}
		rest = digits[1:]
	}
	return true
}

// withoutColour takes the escape sequences for colours out of s.
func withoutColour(s string) string {
	i := strings.Index(s, "\x1b[")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.Index(s, "\x1b[") {
		b.WriteString(s[:i])
		s = strings.TrimLeft(s[i+2:], "0123456789;")
		if s != "" {
			s = s[1:]
		}
	}
	return b.String() + s
}
