package handover

import (
	"slices"
	"strings"
)

// A simple is one simple command of a shell line.
type simple struct {
	words []string // without quotes, redirections and comments
	next  string   // the operator behind it: "&&", "||", "|", "&", ";", ")" or ""
}

// parseShell splits a shell line into its simple commands. It knows quotes, line continuations, comments,
// here-documents, redirections and substitutions. It does not know the keywords of compound commands.
func parseShell(line string) []simple {
	r := shellReader{s: strings.ReplaceAll(line, "\r\n", "\n")}
	for r.i < len(r.s) {
		r.step()
	}
	r.end("")
	if n := len(r.out); n > 0 && r.out[n-1].next != "&" {
		r.out[n-1].next = ""
	}
	return r.out
}

// A shellReader is the state of [parseShell].
type shellReader struct {
	s     string
	i     int
	out   []simple
	words []string
	word  []byte
	in    bool     // inside a word, which may be empty
	drop  bool     // the next word is the target of a redirection
	here  bool     // the next word is the delimiter of a here-document
	docs  []string // delimiters of the here-documents that start after this line
}

// step reads one character or one operator.
func (r *shellReader) step() {
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
func (r *shellReader) escape(rest string) {
	if len(rest) > 1 && rest[1] != '\n' {
		r.word, r.in = append(r.word, rest[1]), true
	}
	r.i += min(2, len(rest))
}

// add appends a quoted text or a substitution to the word, without its quotes if it has some.
func (r *shellReader) add(text string, quotes bool) {
	r.i += len(text)
	if quotes {
		text = text[1:max(1, len(text)-1)]
	}
	r.word, r.in = append(r.word, text...), true
}

// redirect reads the operator of a redirection.
func (r *shellReader) redirect(rest string) {
	if strings.Trim(string(r.word), "0123456789") == "" {
		r.word, r.in = nil, false // the number of a file
	}
	r.endWord()
	n := len(rest) - len(strings.TrimLeft(rest, "<>&|-"))
	r.i += n
	op := strings.TrimRight(rest[:n], "-")
	r.here, r.drop = op == "<<", op != "<<"
}

// operator reads an operator between commands.
func (r *shellReader) operator(rest string) {
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

func (r *shellReader) endWord() {
	if !r.in {
		return
	}
	switch w := string(r.word); {
	case r.here:
		r.docs = append(r.docs, w)
	case !r.drop:
		r.words = append(r.words, w)
	}
	r.word, r.in, r.drop, r.here = nil, false, false, false
}

// end ends a command with an operator. An operator after a closing parenthesis belongs to the last command inside.
func (r *shellReader) end(op string) {
	r.endWord()
	r.drop, r.here = false, false
	if len(r.words) > 0 {
		r.out = append(r.out, simple{r.words, op})
		r.words = nil
	} else if n := len(r.out); n > 0 && r.out[n-1].next == ")" {
		r.out[n-1].next = op
	}
}

// skipDocs skips the here-documents that start at this line.
func (r *shellReader) skipDocs() {
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

// viewers are programs that print the end of their input, so that a failure is still visible.
var viewers = []string{"tail", "tee", "cat"}

// deciding reports for each command whether the exit status of the whole line is that of the command: only commands
// that run after its success follow, and programs that print its output.
func deciding(line []simple) []bool {
	out := make([]bool, len(line))
	settled := true // what follows does not change the exit status
	for i := len(line) - 1; i >= 0; i-- {
		switch s := line[i]; {
		case i == len(line)-1:
			settled = s.next != "&"
		case s.next == "|":
			settled = settled && slices.Contains(viewers, line[i+1].words[0])
		default:
			settled = settled && s.next == "&&"
		}
		out[i] = settled && line[i].words[0] != "!" && (i == 0 || line[i-1].next != "||")
	}
	return out
}
