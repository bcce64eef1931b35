package refine

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// noteLimit is the size of meta text and of the output of the client's commands that is kept.
const noteLimit = 200

// user handles a user record: typed text, text that the client wrote as the user, results of tools.
func (r *refiner) user() {
	m := r.m
	images := 0
	var said []string
	heard := r.queue.Said(m)
	typed := len(heard) > 0 && heard[len(heard)-1].N == m.N && heard[len(heard)-1].ToolID == ""
	text := ""
	if typed {
		text, heard = heard[len(heard)-1].Text, heard[:len(heard)-1]
	}
	r.said(heard) // an answer replaces its call
	for _, b := range m.Blocks {
		switch b.Kind {
		case transcript.ToolResult:
			if !slices.ContainsFunc(heard, func(s transcript.Said) bool { return s.Answers != nil && s.ToolID == b.ToolID }) {
				r.result(b)
			}
		case transcript.Image:
			images++
		case transcript.Text:
			said = append(said, b.Text)
		}
	}
	all := strings.Join(said, "\n")
	plan, isPlan := transcript.PlanSentBack(m)
	switch {
	case m.CompactSummary:
		r.add(Entry{Role: "summary", Said: all})
	case isPlan:
		r.add(Entry{Role: "note", Name: "plan", Said: plan})
	case typed:
		r.add(Entry{Role: "user", Said: text, Images: images})
		for _, s := range said { // added by the client, except reminders to the model
			m.Blocks = []transcript.Block{{Kind: transcript.Text, Text: s}}
			if own, _ := transcript.Typed(m); own != s && !strings.Contains(s, "<system-reminder>") {
				r.note([]string{s})
			}
		}
	case (m.Sidechain || m.AgentID != "") && !m.Meta && strings.TrimSpace(all) != "":
		r.add(Entry{Role: "user", Said: all, Images: images})
	case strings.TrimSpace(all) == "":
		if images > 0 && !m.Meta {
			r.add(Entry{Role: "user", Images: images})
		}
	case repeated(m):
	default:
		r.note(said)
	}
}

// repeated reports whether m, whose text does not count as typed, repeats text that was typed while a tool ran.
func repeated(m transcript.Message) bool {
	_, typed := transcript.Typed(m)
	return typed
}

// assistant handles a record of the model's answer.
func (r *refiner) assistant() {
	r.said(r.queue.Said(r.m))
	for _, b := range r.m.Blocks {
		switch b.Kind {
		case transcript.Text:
			switch {
			case strings.TrimSpace(b.Text) == "", r.m.Synthetic() && b.Text == "No response requested.":
			case r.m.Synthetic():
				r.add(Entry{Role: "note", Name: "client", Said: cut(b.Text, noteLimit)})
			default:
				r.add(Entry{Role: "assistant", Said: b.Text})
			}
		case transcript.ToolUse:
			x := r.add(r.call(b))
			if x.Cmd != "" {
				x.line = gjson.GetBytes(b.Input, "command").String()
				x.Dir = r.runsIn(x.line)
			}
			if _, twice := r.calls[b.ToolID]; b.ToolID != "" && !twice {
				x.id, x.wait = b.ToolID, true
				r.calls[b.ToolID] = x
			}
		case transcript.ToolResult: // other agents report call and result in one value
			r.result(b)
		}
	}
}

// attachment handles an attachment: queued commands count as typed, files are named.
func (r *refiner) attachment() {
	switch r.m.Subtype {
	case "queued_command":
		if said := r.queue.Said(r.m); len(said) > 0 {
			r.said(said)
		} else if !repeated(r.m) && r.m.Content != "" {
			r.note([]string{r.m.Content})
		}
	case "file", "edited_text_file", "compact_file_reference":
		if name := gjson.GetBytes(r.m.Raw, "attachment.filename").String(); name != "" {
			r.add(Entry{Role: "note", Name: strings.ReplaceAll(r.m.Subtype, "_", " "), Target: r.path(name)})
		}
	}
}

// system handles a record of the client about the session.
func (r *refiner) system() {
	if r.m.Subtype != "compact_boundary" {
		return
	}
	said := r.m.Content
	meta := gjson.GetBytes(r.m.Raw, "compactMetadata")
	if n := meta.Get("preTokens").Int(); n > 0 {
		said += fmt.Sprintf(" (%s, %d tokens before)", meta.Get("trigger").String(), n)
	}
	r.add(Entry{Role: "summary", Name: "boundary", Said: said})
}

// note adds the start of text that the client wrote. Commands and interruptions are shortened.
func (r *refiner) note(said []string) {
	for _, s := range said {
		s = strings.TrimSpace(s)
		sender, isEnvelope := transcript.Envelope(s)
		switch {
		case strings.Contains(s, "<command-name>"):
			command := strings.TrimSpace(between(s, "command-name") + " " + between(s, "command-args"))
			r.add(Entry{Role: "note", Name: "command", Said: command})
		case strings.HasPrefix(s, "<bash-input>"):
			r.add(Entry{Role: "note", Name: "command", Said: "!" + between(s, "bash-input")})
		case Caveat(s), s == "":
		case transcript.Reported(s):
			what := between(s, "summary")
			if _, name, ok := strings.Cut(what, `Agent "`); ok {
				if name, _, ok := cutLast(name, `"`); ok {
					what = name
				}
			}
			r.add(Entry{Role: "tool", Name: "Agent", Target: cut(what, noteLimit), Result: r.report(Clean(between(s, "result")))})
		case strings.HasPrefix(s, "<task-notification>") && between(s, "summary") != "":
			e := Entry{Role: "note", Name: "notice", Said: cut(between(s, "summary"), noteLimit)}
			r.notified(&e, s)
			r.add(e)
		case strings.HasPrefix(s, "<local-command-std"):
			out := between(s, "local-command-stdout") + between(s, "local-command-stderr")
			if out != "" {
				r.add(Entry{Role: "note", Name: "output", Said: cut(withoutColour(out), noteLimit)})
			}
		case isEnvelope:
			r.add(Entry{Role: "note", Name: "message", Target: sender, Said: s})
		case r.m.Meta:
			r.add(Entry{Role: "note", Said: cut(s, noteLimit)})
		default:
			r.add(Entry{Role: "note", Said: s})
		}
	}
}

// Caveat reports whether a text of the client only warns the model of the texts after it.
func Caveat(s string) bool {
	return strings.HasPrefix(s, "<local-command-caveat>") || strings.HasPrefix(s, "Caveat: The messages below")
}

// cutLast is [strings.Cut] at the last sep.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// between returns the text in s between the tags of a name.
func between(s, tag string) string {
	_, s, ok := strings.Cut(s, "<"+tag+">")
	if !ok {
		return ""
	}
	s, _, _ = strings.Cut(s, "</"+tag+">")
	return strings.TrimSpace(s)
}

// cut returns at most n bytes of s, without splitting a character, and a mark if something is missing.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// path returns a path relative to the root of the session, if it is inside or in a sibling directory such as another
// worktree. A name that is relative to the working directory of the current message is one to the root then.
func (r *refiner) path(name string) string {
	if below, ok := inside(r.m.Cwd, r.root); ok && name != "" && !strings.ContainsAny(name[:1], `/\~$`) && !strings.Contains(name, ":") {
		return path.Join(strings.ReplaceAll(below, `\`, "/"), name)
	}
	if rest, ok := inside(name, r.root); ok {
		return rest
	}
	if i := strings.LastIndexByte(r.root, '/'); i > 0 && strings.Count(r.root, "/") > 3 {
		if rest, ok := inside(name, r.root[:i]); ok {
			return "../" + rest
		}
	}
	return name
}

// move follows the working directory. The root is the first one: a command may have changed it for those that follow. A
// worktree, and a directory elsewhere, is a root of its own.
func (r *refiner) move() {
	cwd := r.m.Cwd
	if r.first == "" {
		r.first = cwd
	}
	below, within := inside(cwd, r.first)
	_, stays := inside(cwd, r.root)
	tree := worktree().FindString(below)
	switch {
	case within && tree != "":
		r.root = r.first + cwd[len(r.first):len(cwd)-len(below)] + tree
	case within, cwd == r.first:
		r.root = r.first
	case !stays:
		r.root = cwd
	}
}

// worktree matches the start of a path up to the name of a worktree.
var worktree = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.*[/\\])?\.?worktrees[/\\][^/\\]+`) })

// runsIn returns the directory in which a shell line runs, relative to the root of the session, "" if it is that.
func (r *refiner) runsIn(line string) string {
	dir := r.m.Cwd
	for _, s := range shell.Parse(line) {
		if s.Acts() {
			break
		}
		if len(s.Words) != 2 || s.Words[0] != "cd" && s.Words[0] != "pushd" {
			continue
		}
		switch to := s.Words[1]; {
		case strings.HasSuffix(to, "--show-toplevel)"):
			dir = r.root
		case strings.HasPrefix(to, "$") || to == "-":
		case strings.HasPrefix(to, "/"):
			dir = path.Clean(to)
		case strings.HasPrefix(to, "~"):
			dir = to
		default:
			dir = path.Join(dir, to)
		}
	}
	switch rest, ok := inside(dir, r.root); {
	case dir == r.root:
		return ""
	case ok:
		return rest
	}
	return dir
}

func inside(name, dir string) (string, bool) {
	rest, ok := strings.CutPrefix(name, dir)
	if !ok || dir == "" || len(rest) < 2 || rest[0] != '/' && rest[0] != '\\' {
		return "", false
	}
	return rest[1:], true
}
