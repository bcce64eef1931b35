package main

import (
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"
)

// A passage is a run of records of a session with what a compression of it should still hold. What should be held was
// not chosen by mem: it is what the client's own summary mentions, what the commit that followed says and touches, the tests that
// failed and passed later, and what the user typed.
type passage struct {
	part    string // a: before a summary; b: before a commit; c: a session with failures that were fixed
	lines   [][]byte
	length  int      // tokens of the summary
	anchors []string // of the summary, that the passage has
	files   []string // base names
	words   []string // stems of the message of the commit
	tests   []string
	user    []string // pairs of neighbouring stems
	units   []line
}

// A line is what the budgets and the two simplest methods go by: a line of what was said, a call, the first line of a failure.
type line struct {
	text string
	user bool
}

// An entry is a record of a session, as far as it matters here.
type entry struct {
	raw     []byte
	summary bool
	user    []string
	said    []string
	calls   []call
	results []result
}

type call struct {
	ID, Name string
	Input    map[string]any
}

type result struct {
	id, text string
	bad      bool
}

// entries reads a session. A line that is no record of a conversation is an entry without content.
func entries(session []byte) []entry {
	var out []entry
	for raw := range bytes.SplitSeq(bytes.TrimRight(session, "\n"), []byte("\n")) {
		out = append(out, readEntry(raw))
	}
	return out
}

func readEntry(raw []byte) entry {
	e := entry{raw: raw}
	var r struct {
		Type                                  string
		IsCompactSummary, IsMeta, IsSidechain bool
		Message                               struct{ Content json.RawMessage }
	}
	if json.Unmarshal(raw, &r) != nil || r.Type != "user" && r.Type != "assistant" {
		return e
	}
	var blocks []struct {
		Type, Text, ID, Name string
		Input                map[string]any
		ToolUseID            string `json:"tool_use_id"`
		IsError              bool   `json:"is_error"`
		Content              json.RawMessage
	}
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		e.say(text, r.Type == "user" && !r.IsMeta && !r.IsSidechain && !r.IsCompactSummary)
	} else if json.Unmarshal(r.Message.Content, &blocks) != nil {
		return e
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			e.say(b.Text, r.Type == "user" && !r.IsMeta && !r.IsSidechain && !r.IsCompactSummary)
		case "tool_use":
			e.calls = append(e.calls, call{b.ID, b.Name, b.Input})
		case "tool_result":
			e.results = append(e.results, result{b.ToolUseID, plainText(b.Content), b.IsError})
		}
	}
	e.summary = r.IsCompactSummary
	return e
}

// say takes a text; what the client wrote in the user's name was not typed.
func (e *entry) say(text string, typed bool) {
	if strings.TrimSpace(text) == "" {
		return
	}
	if typed && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "Caveat:") && !strings.HasPrefix(text, "[Request interrupted") {
		e.user = append(e.user, text)
		return
	}
	e.said = append(e.said, text)
}

func plainText(content json.RawMessage) string {
	var s string
	if json.Unmarshal(content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		s += p.Text + "\n"
	}
	return s
}

// all is every text of an entry: what a model would have read.
func (e entry) all() string {
	var b strings.Builder
	for _, s := range slices.Concat(e.user, e.said) {
		b.WriteString(s + "\n")
	}
	for _, c := range e.calls {
		in, _ := json.Marshal(c.Input) // it was JSON
		b.WriteString(c.Name + " " + string(in) + "\n")
		for _, k := range sortedKeys(c.Input) {
			if s, ok := c.Input[k].(string); ok {
				b.WriteString(s + "\n")
			}
		}
	}
	for _, r := range e.results {
		b.WriteString(r.text + "\n")
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// passages finds the passages of a session that are long enough to tell something.
func passages(es []entry) []passage {
	var out []passage
	add := func(p passage, es []entry, least int) {
		for _, e := range es {
			p.lines = append(p.lines, e.raw)
		}
		p.units = units(es)
		p.user = pairs(p.units)
		if unitTokens(p.units) >= least {
			out = append(out, p)
		}
	}
	from := 0
	for i, e := range es {
		if !e.summary {
			continue
		}
		summary := strings.Join(e.said, "\n")
		p := passage{part: "a", length: runes(summary) / 4, anchors: shared(anchorsOf(summary), es[from:i])}
		if len(p.anchors) >= 10 {
			add(p, es[from:i], 2*p.length)
		}
		from = i
	}
	from = 0
	for i := range es {
		message, ok := committed(es, i)
		if !ok {
			continue
		}
		subject, _, _ := strings.Cut(message, "\n")
		p := passage{part: "b", words: stems(message), files: edited(es[from:i])}
		if len(p.words) >= 3 && len(p.files) > 0 {
			add(p, without(es[from:i], subject), 3000)
		}
		from = i + 1
	}
	if tests := fixed(es); len(tests) > 0 {
		add(passage{part: "c", tests: tests}, es, 1000)
	}
	return out
}

var hashLine = regexp.MustCompile(`(?m)^\[[^\]\n]+ [0-9a-f]{7,40}\] `)

// committed returns the message of the commit that a call in es[i] made, if a result says that it was made.
func committed(es []entry, i int) (string, bool) {
	for _, c := range es[i].calls {
		cmd, _ := c.Input["command"].(string)
		if !strings.Contains(cmd, "git commit") {
			continue
		}
		for _, e := range es[i+1 : min(len(es), i+20)] {
			for _, r := range e.results {
				if r.id == c.ID && !r.bad && hashLine.MatchString(r.text) {
					return messageOf(cmd)
				}
			}
		}
	}
	return "", false
}

var (
	heredoc = regexp.MustCompile(`(?s)<<-?\s*'?"?(\w+)'?"?\n(.*?)\n\s*(\w+)`)
	quoted  = regexp.MustCompile(`(?s)-[a-z]*m\s+"((?:[^"\\]|\\.)*)"|-[a-z]*m\s+'([^']*)'`)
)

func messageOf(cmd string) (string, bool) {
	message := ""
	if m := heredoc.FindStringSubmatch(cmd); m != nil {
		message = m[2]
	} else if m := quoted.FindStringSubmatch(cmd); m != nil {
		message = m[1] + m[2]
	}
	var kept []string
	for l := range strings.SplitSeq(message, "\n") {
		if !strings.HasPrefix(l, "Co-Authored-By:") && !strings.Contains(l, "Generated with") {
			kept = append(kept, l)
		}
	}
	message = strings.TrimSpace(strings.Join(kept, "\n"))
	return message, message != ""
}

// edited returns the base names of the files that were changed.
func edited(es []entry) []string {
	names := map[string]bool{}
	for _, e := range es {
		for _, c := range e.calls {
			if c.Name == "Edit" || c.Name == "Write" || c.Name == "MultiEdit" {
				if f, ok := c.Input["file_path"].(string); ok && f != "" {
					names[path.Base(f)] = true
				}
			}
		}
	}
	return sortedKeys(names)
}

// without leaves out what would give the message of the commit away: calls of git commit, and what quotes the subject or
// summarises.
func without(es []entry, subject string) []entry {
	var out []entry
	gone := map[string]bool{}
	for _, e := range es {
		leak := e.summary || strings.Contains(e.all(), subject)
		for _, c := range e.calls {
			cmd, _ := c.Input["command"].(string)
			leak = leak || strings.Contains(cmd, "git commit")
		}
		for _, r := range e.results {
			leak = leak || gone[r.id]
		}
		if !leak {
			out = append(out, e)
			continue
		}
		for _, c := range e.calls {
			gone[c.ID] = true
		}
	}
	return out
}

var (
	failLine = regexp.MustCompile(`--- FAIL: (Test\w+)`)
	passLine = regexp.MustCompile(`--- PASS: (Test\w+)`)
	okLine   = regexp.MustCompile(`(?m)^ok\s+\S`)
	failed   = regexp.MustCompile(`(?m)^(FAIL|--- FAIL)`)
)

// fixed returns the Go tests that failed and passed later: by name, or because a later run said ok and nothing failed.
func fixed(es []entry) []string {
	open, done := map[string]bool{}, map[string]bool{}
	for _, e := range es {
		for _, r := range e.results {
			for _, m := range failLine.FindAllStringSubmatch(r.text, -1) {
				open[m[1]] = true
			}
			for _, m := range passLine.FindAllStringSubmatch(r.text, -1) {
				done[m[1]] = done[m[1]] || open[m[1]]
			}
			if okLine.MatchString(r.text) && !failed.MatchString(r.text) {
				for name := range open {
					done[name] = true
				}
			}
		}
	}
	for name, ok := range done {
		if !ok {
			delete(done, name)
		}
	}
	return sortedKeys(done)
}
