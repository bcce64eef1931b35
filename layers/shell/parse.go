// Package shell reads shell lines: the simple commands of a line ([Parse]), the programs and subcommands among them
// ([Commands]), and which of them the exit status of the line speaks of ([Settles]).
//
// It does not run or expand anything, and it does not know the keywords of compound commands: what it cannot tell is
// left out.
//
// [Judge] tells whether a line passed or failed, if that is proven. Half of the commands that test, lint and build are piped to
// tail or grep, and then the exit status is that of the pipe. So it asks two witnesses. The exit status speaks only of commands
// that it belongs to: not of one before a pipe, "||", ";" or "&". The output speaks if a line in it is the summary of a known
// runner, printed by a command of the line and not by a program that prints files. If neither speaks, or both disagree, there is
// no verdict.
//
// A summary that reports a failure is always proof. One that reports a pass is proof if it counts everything, or if the end of
// the output was not filtered away.
package shell

import (
	"path"
	"slices"
	"strings"
)

// A Simple is one simple command of a shell line.
type Simple struct {
	Words []string // without quotes, redirections and comments
	Next  string   // the operator behind it: "&&", "||", "|", "&", ";", ")" or ""
	To    string   // the file that its output is redirected to
	Mute  bool     // its errors are redirected to a file
	Group bool     // it is the last one in parentheses
}

// maxLine is the maximal length of a shell line. A longer one writes a file, and nested quotes in it would need too
// much stack.
const maxLine = 1 << 20

// maxNested is the maximal depth of shells that run shells.
const maxNested = 4

// Parse splits a shell line into its simple commands. It knows quotes, line continuations, comments, here-documents,
// redirections, substitutions, and shells that run a line ("bash -c"). It does not know the keywords of compound
// commands.
func Parse(line string) []Simple { return parse(line, 0) }

func parse(line string, depth int) []Simple {
	if len(line) > maxLine {
		return nil
	}
	r := reader{s: strings.ReplaceAll(line, "\r\n", "\n")}
	for r.i < len(r.s) {
		r.step()
	}
	r.end("")
	if n := len(r.out); n > 0 && r.out[n-1].Next != "&" {
		r.out[n-1].Next = ""
	}
	if depth == maxNested {
		return r.out
	}
	return inlined(r.out, depth)
}

// inlined replaces shells that run a line by the commands of that line.
func inlined(list []Simple, depth int) (out []Simple) {
	for _, s := range list {
		inner := parse(script(s.Words), depth+1)
		if len(inner) == 0 {
			out = append(out, s)
			continue
		}
		for i := range inner {
			if s.To != "" {
				inner[i].To = s.To
			}
			inner[i].Mute = inner[i].Mute || s.Mute
		}
		last := &inner[len(inner)-1]
		if last.Group = true; last.Next == "" {
			last.Next = s.Next
		}
		out = append(out, inner...)
	}
	return out
}

// script returns the line that a shell runs: of "bash -lc LINE" its LINE.
func script(words []string) string {
	w := WithoutPrefixes(words)
	if len(w) < 3 || !slices.Contains([]string{"bash", "sh", "zsh", "dash"}, path.Base(w[0])) {
		return ""
	}
	for i, s := range w[1 : len(w)-1] {
		if !strings.HasPrefix(s, "-") {
			return ""
		}
		if !strings.HasPrefix(s, "--") && strings.HasSuffix(s, "c") {
			return w[i+2]
		}
	}
	return ""
}

// A reader is the state of [Parse].
type reader struct {
	s     string
	i     int
	out   []Simple
	to    string // of the current command
	mute  bool
	out1  bool // the next word is the target of its output
	words []string
	word  []byte
	in    bool     // inside a word, which may be empty
	drop  bool     // the next word is the target of a redirection
	here  bool     // the next word is the delimiter of a here-document
	docs  []string // delimiters of the here-documents that start after this line
}

// step reads one character or one operator.
func (r *reader) step() {
	rest := r.s[r.i:]
	switch c := rest[0]; {
	case c == '\\':
		r.escape(rest)
	case c == '\'' || c == '"' || c == '`':
		r.add(rest[:quoteEnd(rest)], c != '`')
	case strings.HasPrefix(rest, "$(") || strings.HasPrefix(rest, "<(") || strings.HasPrefix(rest, ">("):
		r.add(rest[:parenEnd(rest)], false)
	case c == '#' && !r.in:
		r.i += lineEnd(rest)
	case c == ' ' || c == '\t':
		r.i++
		r.endWord()
	case c == '\n':
		r.i++
		r.end(";")
		r.skipDocs()
	case c == '<' || c == '>' || strings.HasPrefix(rest, "&>"):
		r.redirect(rest)
	case strings.ContainsRune("&|;()", rune(c)):
		r.operator(rest)
	default:
		r.word, r.in = append(r.word, c), true
		r.i++
	}
}

// escape reads a backslash and the character after it. A backslash at the end of a line continues the line.
func (r *reader) escape(rest string) {
	if len(rest) > 1 && rest[1] != '\n' {
		r.word, r.in = append(r.word, rest[1]), true
	}
	r.i += min(2, len(rest))
}

// add appends a quoted text or a substitution to the word, without its quotes if it has some.
func (r *reader) add(text string, quotes bool) {
	r.i += len(text)
	if quotes {
		text = text[1:max(1, len(text)-1)]
	}
	r.word, r.in = append(r.word, text...), true
}

// redirect reads the operator of a redirection.
func (r *reader) redirect(rest string) {
	file := string(r.word)
	if strings.Trim(file, "0123456789") == "" {
		r.word, r.in = nil, false // the number of a file
	} else {
		file = ""
	}
	r.endWord()
	n := len(rest) - len(strings.TrimLeft(rest, "<>&|-"))
	r.i += n
	op := strings.TrimRight(rest[:n], "-")
	r.here, r.drop = op == "<<", op != "<<"
	writes := strings.Contains(op, ">") && !strings.HasSuffix(op, ">&")
	r.out1 = (file == "" || file == "1") && writes
	r.mute = r.mute || file == "2" && writes
}

// operator reads an operator between commands.
func (r *reader) operator(rest string) {
	n := 1
	if len(rest) > 1 && (rest[1] == rest[0] || rest[:2] == "|&") && !strings.ContainsRune("()", rune(rest[0])) {
		n = 2
	}
	r.i += n
	op := rest[:n]
	switch op {
	case "|&":
		op = "|"
	case ";;", "(":
		op = ";"
	}
	r.end(op)
}

func (r *reader) endWord() {
	if !r.in {
		return
	}
	switch w := string(r.word); {
	case r.here:
		r.docs = append(r.docs, w)
	case !r.drop:
		r.words = append(r.words, w)
	case r.out1:
		r.to = w
	}
	r.word, r.in, r.drop, r.here, r.out1 = nil, false, false, false, false
}

// end ends a command with an operator. An operator after a closing parenthesis belongs to the last command inside.
func (r *reader) end(op string) {
	r.endWord()
	r.drop, r.here, r.out1 = false, false, false
	if len(r.words) > 0 {
		r.out = append(r.out, Simple{Words: r.words, Next: op, To: r.to, Mute: r.mute, Group: op == ")"})
		r.words = nil
	} else if n := len(r.out); n > 0 && r.out[n-1].Next == ")" {
		r.out[n-1].Next = op
	}
	r.to, r.mute = "", false
}

// skipDocs skips the here-documents that start at this line.
func (r *reader) skipDocs() {
	for _, end := range r.docs {
		r.i += docEnd(r.s[r.i:], end)
	}
	r.docs = nil
}

// docEnd returns the length of a here-document with the line that ends it.
func docEnd(s, end string) int {
	at := 0
	for line := range strings.Lines(s) {
		at += len(line)
		if strings.TrimSpace(line) == end {
			break
		}
	}
	return at
}

func lineEnd(s string) int {
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		return i
	}
	return len(s)
}

// quoteEnd returns the length of the quoted text at the start of s with its quotes.
func quoteEnd(s string) int {
	for i := 1; i < len(s); {
		switch {
		case s[i] == s[0]:
			return i + 1
		case s[0] == '\'':
			i++
		case s[i] == '\\':
			i += 2
		case s[0] == '"' && strings.HasPrefix(s[i:], "$("):
			i += parenEnd(s[i:])
		default:
			i++
		}
	}
	return len(s)
}

// parenEnd returns the length of the substitution at the start of s, such as "$(date)".
func parenEnd(s string) int {
	depth := 0
	for i := 1; i < len(s); {
		switch c := s[i]; {
		case c == '(':
			depth++
			i++
		case c == ')':
			if depth--; depth == 0 {
				return i + 1
			}
			i++
		case c == '\\':
			i += 2
		case c == '\'' || c == '"' || c == '`':
			i += quoteEnd(s[i:])
		case strings.HasPrefix(s[i:], "<<") && !strings.HasPrefix(s[i:], "<<<"):
			i += innerDoc(s[i:])
		default:
			i++
		}
	}
	return len(s)
}

// maxHead is the longest rest of a line after the operator of a here-document.
const maxHead = 4096

// innerDoc returns the length of the here-document at the start of s, from its operator to the line that ends it.
func innerDoc(s string) int {
	head := lineEnd(s[:min(len(s), maxHead)])
	word, _, _ := strings.Cut(strings.TrimSpace(strings.TrimLeft(s[:head], "<-")), " ")
	word, _, _ = strings.Cut(word, ")")
	end := strings.Trim(word, `'"\`)
	if head == len(s) || s[head] != '\n' || strings.Trim(end[:min(1, len(end))], "0123456789") == "" {
		return 2 // a shift of a number
	}
	return head + 1 + docEnd(s[head+1:], end)
}

// Settles reports for each command of a line what the exit status of the line says about it. With ok, status 0 means
// that the command succeeded: only commands that run after its success follow. With bad, another status means that it
// failed, unless another command with bad did. A pipe has the status of its last command, unless "set -o pipefail" is
// in the line. A compound command, such as a loop, is one command of which nothing inside is known.
func Settles(list []Simple) (ok, bad []bool) {
	ok, bad = make([]bool, len(list)), make([]bool, len(list))
	pipefail := slices.ContainsFunc(list, func(s Simple) bool { return s.Words[0] == "set" && slices.Contains(s.Words, "pipefail") })
	settled, chain := true, true // what follows does not change the exit status; it runs only after success
	inside := 0                  // of compound commands
	for at, end := 0, len(list); end > 0; end = at {
		for at = end - 1; at > 0 && list[at-1].Next == "|"; at-- {
		}
		if inside == 0 {
			switch next := list[end-1].Next; {
			case end == len(list):
				settled = next != "&"
				chain = settled
			case next == "&&":
			case next == "||" && settled && fails(list[end].Words):
			case next == ";" && list[end].Words[0] == "exit" && len(list[end].Words) == 1:
			default:
				settled, chain = false, false
			}
		}
		negated := list[at].Words[0] == "!" || at > 0 && list[at-1].Next == "||" && !fails(list[end-1].Words)
		for i := end - 1; i >= at; i-- {
			opens, closes := compound(list[i].Words)
			inside += closes
			own := !negated && inside == closes && (i == end-1 || pipefail)
			ok[i], bad[i] = own && opens == 0 && settled, own && opens == 0 && chain && !fails(list[i].Words)
			if inside -= opens; inside < 0 {
				return make([]bool, len(list)), make([]bool, len(list)) // a compound command without an end
			}
			if i < end-1 && list[i].Group && !pipefail { // what ran in it has no part in the status
				settled, chain = false, false
			}
		}
	}
	return ok, bad
}

// Answers reports whether the status of a line is the answer of its last command to a question, such as whether a text has
// a word. Clients do not tell that it is 1, and then it may be that of another command of the line.
func Answers(list []Simple) bool {
	if len(list) == 0 {
		return false
	}
	w := list[len(list)-1].Program()
	return len(w) > 0 && slices.Contains(strings.Fields("grep egrep fgrep rg find diff test ["), path.Base(w[0]))
}

// compound returns how many compound commands begin and end with the first words of a command.
func compound(words []string) (opens, closes int) {
	for _, w := range words {
		switch w {
		case "{", "if", "while", "until":
			opens++
		case "do", "then", "else", "elif", "!", "time":
		case "for", "case", "select":
			return opens + 1, 0
		case "done", "fi", "esac", "}":
			return opens, 1
		default:
			return opens, 0
		}
	}
	return opens, 0
}

// fails reports whether a command always fails: "exit 1", "false".
func fails(w []string) bool {
	return w[0] == "false" || len(w) == 2 && (w[0] == "exit" || w[0] == "return") && w[1] != "0" &&
		strings.Trim(w[1], "0123456789") == ""
}
