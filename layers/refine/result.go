package refine

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// result merges the result b of a tool into the entry of its call.
func (r *refiner) result(b transcript.Block) {
	x := r.calls[b.ToolID]
	if x == nil {
		x = r.add(Entry{Role: "tool", Name: "result"})
	}
	delete(r.calls, b.ToolID)
	x.wait, x.To = false, r.m.N
	switch {
	case b.IsError:
		r.failed(&x.Entry, Clean(b.Result()))
	case x.Name == "AskUserQuestion":
		x.Result = Clean(b.Result())
	case (x.Name == "Task" || x.Name == "Agent") && r.launched(b):
		x.Result = "ok" // the client says that the agent runs; its report has an entry of its own
	case x.Name == "Task" || x.Name == "Agent":
		x.Result = r.report(Clean(b.Result()))
	default:
		x.Result = "ok"
	}
	switch x.Name {
	case "Edit", "MultiEdit", "Write":
		r.place(&x.Entry)
	case "Bash", "PowerShell", "BashOutput", "TaskOutput", "result":
		x.Errors = failures(b.Content, x.Result)
	}
	switch {
	case x.line != "":
		r.judge(x, b)
		r.leaves(x, b)
	case (x.Name == "TaskOutput" || x.Name == "BashOutput") && !b.IsError:
		r.fetched(x, b)
	}
	r.hold(x)
}

// launched reports whether the result b of an agent only says that it was started in the background.
func (r *refiner) launched(b transcript.Block) bool {
	return gjson.GetBytes(r.m.ToolUseResult, "status").Str == "async_launched" ||
		gjson.GetBytes(r.m.ToolUseResult, "isAsync").Bool() ||
		strings.HasPrefix(Clean(b.Result()), "Async agent launched")
}

// report returns the part of a subagent's last message that is kept.
func (r *refiner) report(s string) string {
	if strings.HasPrefix(s, refused) {
		s = "report: " + s // the subagent says it, not the user
	}
	if r.mode == Lean {
		return cut(s, 300)
	}
	return cut(s, 2000)
}

const refused = "refused by the user" // the start of the result in L1

// failed sets the text of an error: the exit status as a number, of the rest the first lines.
func (r *refiner) failed(e *Entry, text string) {
	limit := 400
	if r.mode == Lean {
		limit = 200
	}
	if strings.HasPrefix(text, transcript.Refusal) {
		e.Result = refused              // the reason is an entry of its own
		if transcript.OfOther(e.Name) { // whose result is not believed: it says so itself
			if _, reason, _ := strings.Cut(text, transcript.RefusedFor); strings.TrimSpace(reason) != "" {
				e.Errors = []string{cut(strings.TrimSpace(oneLine(reason)), limit)}
			}
		}
		return
	}
	if rest, ok := strings.CutPrefix(text, "Exit code "); ok {
		number, rest, _ := strings.Cut(rest, "\n")
		if n, err := strconv.Atoi(strings.TrimSpace(number)); err == nil {
			e.Exit, text = n, strings.TrimSpace(rest)
		}
	}
	e.Result = cut(withoutProgress(text), limit)
	if strings.HasPrefix(e.Result, refused) {
		e.Result = "error: " + e.Result // the tool reports it, not the user
	}
	if e.Result == "" {
		e.Result = "error"
	}
	e.Diff = cut(e.Diff, 300) // the change was not made
}

// withoutProgress removes lines without information about an error: blank ones and the progress of Go tests.
func withoutProgress(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		t := strings.TrimSpace(line)
		if t == "" || t == "FAIL" || strings.HasPrefix(t, "=== ") || strings.HasPrefix(t, "--- PASS") {
			continue
		}
		b.WriteString(line)
	}
	return strings.TrimSpace(b.String())
}

// Clean removes text that the client added to a result.
func Clean(s string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(s, "<system-reminder>")
		_, after, ok := strings.Cut(rest, "</system-reminder>")
		if !ok {
			break
		}
		b.WriteString(before)
		s = after
	}
	s = b.String() + s
	s = strings.ReplaceAll(strings.ReplaceAll(s, "<tool_use_error>", ""), "</tool_use_error>", "")
	return strings.TrimSpace(withoutColour(s))
}

// place adds the line of the first change to the name of the file, and takes the changed lines from the client's copy of
// the result. The call does not know what a file that it writes whole had before, how often it replaces a text, and
// what the user changed in it.
func (r *refiner) place(e *Entry) {
	in := gjson.ParseBytes(r.m.ToolUseResult)
	if file := in.Get("filePath").Str; e.Result != "ok" || e.Target == "" || file != "" && r.path(file) != e.Target {
		return
	}
	patch := in.Get("structuredPatch")
	if line := firstChange(patch.Get("0")); line > 0 {
		e.Target += ":" + strconv.FormatInt(line, 10)
	}
	before := in.Get("originalFile").String() + in.Get("originalFileContents").String() // MultiEdit
	switch {
	case patch.Get("0").Exists():
		e.Diff = r.limit(changed(patch, lineOf(before), lineOf(written(in, before))))
	case in.Get("type").Str == "update": // the same text, or a change that the client found too large to compare
		var d differ
		if before != "" {
			d.add(before, in.Get("content").Str)
		}
		e.Diff = r.limit(d.String())
	}
}

// written returns the text of a file after a call, given the text before it.
func written(in gjson.Result, text string) string {
	if in.Get("content").Exists() {
		return in.Get("content").Str
	}
	apply := func(edit gjson.Result, from, to, all string) {
		n := 1
		if edit.Get(all).Bool() {
			n = -1
		}
		if old := edit.Get(from).Str; old != "" {
			text = strings.Replace(text, old, edit.Get(to).Str, n)
		}
	}
	apply(in, "oldString", "newString", "replaceAll")
	in.Get("edits").ForEach(func(_, edit gjson.Result) bool {
		apply(edit, "old_string", "new_string", "replace_all")
		return true
	})
	return text
}

// lineOf returns a function that returns a line of a text as it stands there, given its number and how a patch shows it:
// clients replace tabs by spaces in a patch.
func lineOf(text string) func(n int64, shown string) string {
	lines := strings.Split(text, "\n")
	return func(n int64, shown string) string {
		if n > 0 && n <= int64(len(lines)) {
			if own := strings.TrimSuffix(lines[n-1], "\r"); strings.TrimSpace(own) == strings.TrimSpace(shown) {
				return own
			}
		}
		return shown
	}
}

// firstChange returns the first changed line of a hunk.
func firstChange(hunk gjson.Result) int64 {
	line := hunk.Get("newStart").Int()
	hunk.Get("lines").ForEach(func(_, v gjson.Result) bool {
		if !strings.HasPrefix(v.Str, " ") {
			return false
		}
		line++
		return true
	})
	return line
}

// changed returns the changed lines of a patch. Some patches have all lines of a text before all of the next one.
func changed(patch gjson.Result, before, after func(int64, string) string) string {
	var d differ
	patch.ForEach(func(_, hunk gjson.Result) bool {
		var gone, come []string
		flush := func() {
			if len(gone)+len(come) > 0 {
				d.addLines(gone, come)
			}
			gone, come = nil, nil
		}
		old, now := hunk.Get("oldStart").Int(), hunk.Get("newStart").Int()
		hunk.Get("lines").ForEach(func(_, v gjson.Result) bool {
			switch {
			case strings.HasPrefix(v.Str, "-"):
				gone = append(gone, before(old, v.Str[1:]))
				old++
			case strings.HasPrefix(v.Str, "+"):
				come = append(come, after(now, v.Str[1:]))
				now++
			case !strings.HasPrefix(v.Str, "\\"): // "\ No newline at end of file"
				flush()
				old, now = old+1, now+1
			}
			return true
		})
		flush()
		return true
	})
	return d.String()
}

// withoutColour removes the escape sequences for colours from s.
func withoutColour(s string) string {
	i := strings.Index(s, "\x1b[")
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.Index(s, "\x1b[") {
		b.WriteString(s[:i])
		s = strings.TrimLeft(s[i+2:], "0123456789;")
		if s != "" && s[0] < utf8.RuneSelf {
			s = s[1:]
		}
	}
	return b.String() + s
}
