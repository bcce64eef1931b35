package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Given is what somebody, mostly a model, says of a session: the input of "mem facts save".
type Given struct {
	Session   string          `json:"session,omitempty"`
	Through   int             `json:"through,omitempty"` // the last message that was looked at
	Exchanges []GivenExchange `json:"exchanges"`
}

// A GivenExchange is an exchange as it is given. One of Messages and L1Range is set, or neither: then the
// evidence of its facts tells which messages it has.
type GivenExchange struct {
	Messages [2]int      `json:"messages,omitzero"` // the first and the last
	L1Range  [2]int      `json:"l1_range,omitzero"` // lines of L1
	Summary  string      `json:"summary,omitempty"`
	Topic    string      `json:"topic,omitempty"`
	Keywords []string    `json:"keywords,omitempty"`
	Files    []string    `json:"files,omitempty"`
	Facts    []GivenFact `json:"facts"`
}

// A GivenFact is a fact as it is given.
type GivenFact struct {
	Kind       Kind       `json:"kind"`
	Text       string     `json:"text"`
	Evidence   []Evidence `json:"evidence"`
	Keywords   []string   `json:"keywords,omitempty"`
	Files      []string   `json:"files,omitempty"`
	Supersedes []string   `json:"supersedes,omitempty"` // IDs of facts that it takes the place of
	Refutes    []string   `json:"refutes,omitempty"`    // that it shows to be wrong
	Resolves   []string   `json:"resolves,omitempty"`   // issues that it puts an end to
}

// Limits of what is given. A text is one sentence or two, not a report.
const (
	mostBytes     = 8 << 20
	mostExchanges = 2000
	mostFacts     = 1000 // of an exchange
	mostEvidence  = 20
	mostWords     = 50 // keywords, files
	longestText   = 1000
	longestQuote  = 4000
	longestWord   = 300
)

// An InputError lists the errors of an input, each with its field.
type InputError struct{ Problems []string }

func (e *InputError) Error() string {
	const most = 12
	if n := len(e.Problems) - most; n > 0 {
		return strings.Join(e.Problems[:most], "; ") + fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(e.Problems, "; ")
}

// Decode reads what was given. A Markdown fence around it is forgiven, nothing else is: the error is an [*InputError]
// that names every field that is wrong.
func Decode(b []byte) (Given, error) {
	var g Given
	if len(b) > mostBytes {
		return g, &InputError{[]string{fmt.Sprintf("%d bytes are too many: want at most %d", len(b), mostBytes)}}
	}
	b = Unfence(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !utf8.Valid(b) {
		return g, &InputError{[]string{"the input is not UTF-8"}}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return g, &InputError{[]string{syntax(b, err)}}
	}
	if _, err := dec.Token(); err != io.EOF {
		return g, &InputError{[]string{"something follows the JSON object"}}
	}
	r := reader{}
	if o, ok := r.object("", v, "session", "through", "exchanges"); ok {
		g.Session = r.text(o, "session", longestWord, false)
		g.Through = r.number(o, "through", 0)
		for _, x := range r.list(o, "exchanges", mostExchanges, true) {
			g.Exchanges = append(g.Exchanges, r.exchange(x))
		}
	}
	if len(r.problems) > 0 {
		return Given{}, &InputError{r.problems}
	}
	return g, nil
}

// syntax says where the input ceases to be JSON.
func syntax(b []byte, err error) string {
	var s *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "the input is empty: want a JSON object"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the input ends in the middle of the JSON object"
	case errors.As(err, &s) && s.Offset > 0 && int(s.Offset) <= len(b):
		before, wrong := b[:s.Offset-1], b[s.Offset-1:]
		at := fmt.Sprintf("line %d, column %d: ", 1+bytes.Count(before, []byte("\n")),
			len(before)-bytes.LastIndexByte(before, '\n'))
		if r, _ := utf8.DecodeRune(wrong); r >= utf8.RuneSelf {
			return at + fmt.Sprintf("not JSON: the character %q stands outside of a text: texts begin and end with \"", r)
		}
		return at + fmt.Sprintf("not JSON: %v", err)
	}
	return "not JSON: " + err.Error()
}

// Unfence takes off a fence of Markdown, as models put it around JSON.
func Unfence(b []byte) []byte {
	s := bytes.TrimSpace(b)
	body, ok := bytes.CutPrefix(s, []byte("```"))
	if !ok || !bytes.HasSuffix(body, []byte("```")) {
		return b
	}
	_, body, _ = bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(body, []byte("```"))
}

// A reader turns values into what they stand for and notes what is wrong with them.
type reader struct{ problems []string }

// A node is a JSON object with its place.
type node struct {
	at     string
	fields map[string]any
}

func (n node) path(name string) string {
	if n.at == "" {
		return name
	}
	return n.at + "." + name
}

func (r *reader) bad(at, format string, args ...any) {
	if at != "" {
		at += ": "
	}
	if len(r.problems) < 1000 {
		r.problems = append(r.problems, at+fmt.Sprintf(format, args...))
	}
}

// object returns v as an object that has no other fields than those.
func (r *reader) object(at string, v any, known ...string) (node, bool) {
	fields, ok := v.(map[string]any)
	if !ok {
		r.bad(at, "want an object, not %s", sortOf(v))
		return node{}, false
	}
	n := node{at, fields}
	var unknown []string
	for name := range fields {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		r.bad(n.path(plain(name)), "unknown field; there is %s", strings.Join(known, ", "))
	}
	return n, true
}

func sortOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case json.Number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

type item struct {
	at string
	v  any
}

func (r *reader) list(n node, name string, most int, needed bool) []item {
	v, ok := n.fields[name]
	if !ok || v == nil && !needed {
		if needed {
			r.bad(n.path(name), "missing: want a list")
		}
		return nil
	}
	all, ok := v.([]any)
	switch {
	case !ok:
		r.bad(n.path(name), "want a list, not %s", sortOf(v))
		return nil
	case len(all) > most:
		r.bad(n.path(name), "%d are too many: want at most %d", len(all), most)
		return nil
	}
	var out []item
	for i, v := range all {
		out = append(out, item{fmt.Sprintf("%s[%d]", n.path(name), i), v})
	}
	return out
}

func (r *reader) text(n node, name string, most int, needed bool) string {
	v, ok := n.fields[name]
	if !ok || v == nil && !needed {
		if needed {
			r.bad(n.path(name), "missing: want text")
		}
		return ""
	}
	return r.words(item{n.path(name), v}, most, needed)
}

func (r *reader) words(it item, most int, needed bool) string {
	s, ok := it.v.(string)
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case !ok:
		r.bad(it.at, "want text, not %s", sortOf(it.v))
	case s == "" && needed:
		r.bad(it.at, "it is empty")
	case n > most:
		r.bad(it.at, "%d characters are too many: want at most %d", n, most)
	case strings.ContainsFunc(s, hidden):
		r.bad(it.at, "it contains control characters")
	default:
		return s
	}
	return ""
}

// hidden are characters that a text has no use for: controls, and marks that change the direction of writing.
func hidden(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || r >= 0x202a && r <= 0x202e || r >= 0x2066 &&
		r <= 0x2069 ||
		r == 0x200e || r == 0x200f || r == 0xfeff || r >= 0xe0000 && r <= 0xe007f
}

func (r *reader) number(n node, name string, least int) int {
	v, ok := n.fields[name]
	if !ok || v == nil {
		return 0
	}
	return r.whole(item{n.path(name), v}, least)
}

func (r *reader) whole(it item, least int) int {
	s, ok := it.v.(json.Number)
	n, err := strconv.Atoi(string(s))
	if !ok || err != nil || n < least || n > 1<<31-1 {
		got := sortOf(it.v)
		if ok {
			got = string(s)
		}
		r.bad(it.at, "want a whole number from %d, not %s", least, cut(got, 20))
		return 0
	}
	return n
}

// span reads a pair of numbers.
func (r *reader) span(n node, name string) (out [2]int) {
	all := r.list(n, name, 1000, false)
	if len(all) == 0 {
		return out
	}
	if len(all) != 2 {
		r.bad(n.path(name), "want two numbers, the first and the last")
		return out
	}
	for i, it := range all {
		out[i] = r.whole(it, 1)
	}
	if out[0] > out[1] && out[1] > 0 {
		r.bad(n.path(name), "%d is after %d", out[0], out[1])
	}
	return out
}

func (r *reader) exchange(it item) (x GivenExchange) {
	n, ok := r.object(it.at, it.v, "messages", "l1_range", "summary", "topic", "keywords", "files", "facts")
	if !ok {
		return x
	}
	x.Messages, x.L1Range = r.span(n, "messages"), r.span(n, "l1_range")
	if x.Messages != [2]int{} && x.L1Range != [2]int{} {
		r.bad(n.path("l1_range"), "messages says already which part of the session it is")
	}
	x.Summary, x.Topic = filled(r.text(n, "summary", longestText, false)), filled(r.text(n, "topic", longestWord, false))
	x.Keywords, x.Files = r.strings(n, "keywords"), r.strings(n, "files")
	for _, f := range r.list(n, "facts", mostFacts, true) {
		x.Facts = append(x.Facts, r.fact(f))
	}
	return x
}

func (r *reader) strings(n node, name string) []string {
	var out []string
	for _, it := range r.list(n, name, mostWords, false) {
		if s := filled(r.words(it, longestWord, true)); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// filled returns a text on one line, "" if it is what the form of a draft has in its place.
func filled(s string) string {
	if s = oneSpace(s); s == "..." || s == "f:..." || s == "3 to 5 words" {
		return ""
	}
	return s
}

func (r *reader) fact(it item) (f GivenFact) {
	n, ok := r.object(it.at, it.v, "kind", "text", "evidence", "keywords", "files", "supersedes", "refutes", "resolves")
	if !ok {
		return f
	}
	if s := r.text(n, "kind", longestWord, true); s != "" {
		k, err := ParseKind(s)
		if err != nil {
			r.bad(n.path("kind"), "%v", err)
		}
		f.Kind = k
	}
	f.Text = oneSpace(r.text(n, "text", longestText, true))
	f.Keywords, f.Files = r.strings(n, "keywords"), r.strings(n, "files")
	for _, e := range r.list(n, "evidence", mostEvidence, true) {
		if o, ok := r.object(e.at, e.v, "message", "quote"); ok {
			if _, there := o.fields["message"]; !there {
				r.bad(o.path("message"), "missing: want the number of a message")
			}
			f.Evidence = append(f.Evidence, Evidence{r.number(o, "message", 1), r.text(o, "quote", longestQuote, true)})
		}
	}
	if v, _ := n.fields["evidence"].([]any); v != nil && len(v) == 0 {
		r.bad(n.path("evidence"), "it is empty: a fact needs a quote")
	}
	f.Supersedes, f.Refutes, f.Resolves = r.strings(n, "supersedes"), r.strings(n, "refutes"), r.strings(n, "resolves")
	return f
}

// plain makes a name that somebody gave safe to repeat.
func plain(s string) string {
	return cut(strings.Map(func(r rune) rune {
		if hidden(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s), 60)
}
