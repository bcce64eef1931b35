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

	"github.com/memvcs/mem/objects/strictjson"
)

// An Input is the input of "mem facts save": exchanges of a session, usually written by a model.
type Input struct {
	Session   string          `json:"session,omitempty"`
	Through   int             `json:"through,omitempty"` // the last message that was read
	Exchanges []InputExchange `json:"exchanges"`
}

// An InputExchange is an exchange of an [Input]. At most one of Messages and L1Range is set; without both, the evidence
// of the facts determines the messages.
type InputExchange struct {
	Messages [2]int      `json:"messages,omitzero"` // the first and the last
	L1Range  [2]int      `json:"l1_range,omitzero"` // lines of L1
	Summary  string      `json:"summary,omitempty"`
	Details  string      `json:"details,omitempty"`
	Topic    string      `json:"topic,omitempty"`
	Keywords []string    `json:"keywords,omitempty"`
	Files    []string    `json:"files,omitempty"`
	Facts    []InputFact `json:"facts"`
}

// An InputFact is a fact of an [Input].
type InputFact struct {
	ID         string     `json:"id,omitempty"` // a name in this input, for supersedes, refutes and resolves
	Kind       Kind       `json:"kind"`
	Text       string     `json:"text"`
	Reason     string     `json:"reason,omitempty"` // of a decision
	Evidence   []Evidence `json:"evidence"`
	Keywords   []string   `json:"keywords,omitempty"`
	Files      []string   `json:"files,omitempty"`
	Supersedes []string   `json:"supersedes,omitempty"` // IDs of the facts that it replaces, here or in memory
	Refutes    []string   `json:"refutes,omitempty"`    // IDs of the facts that it disproves
	Resolves   []string   `json:"resolves,omitempty"`   // IDs of the issues that it solves
}

// Limits of an input; lengths of texts are in characters. The text of a fact is one sentence or two, not a report.
const (
	maxBytes     = 8 << 20
	maxExchanges = 2000
	maxFacts     = 1000 // per exchange
	maxEvidence  = 20
	maxWords     = 50 // keywords, files
	maxText      = 1000
	maxDetails   = 4000
	maxQuote     = 4000
	maxWord      = 300
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

// Decode parses an input, which may be inside a Markdown fence. The error is an [*InputError] that names every wrong
// field.
func Decode(b []byte) (Input, error) {
	var g Input
	if len(b) > maxBytes {
		return g, &InputError{[]string{fmt.Sprintf("%d bytes are too many: want at most %d", len(b), maxBytes)}}
	}
	b = strictjson.Unfence(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !utf8.Valid(b) {
		return g, &InputError{[]string{"the input is not UTF-8"}}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return g, &InputError{[]string{syntaxProblem(b, err)}}
	}
	if _, err := dec.Token(); err != io.EOF {
		return g, &InputError{[]string{"something follows the JSON object"}}
	}
	r := decoder{}
	if o, ok := r.object("", v, "session", "through", "exchanges"); ok {
		g.Session = r.text(o, "session", maxWord, false)
		g.Through = r.number(o, "through", 0)
		for _, x := range r.list(o, "exchanges", maxExchanges, true) {
			g.Exchanges = append(g.Exchanges, r.exchange(x))
		}
	}
	if len(r.problems) > 0 {
		return Input{}, &InputError{r.problems}
	}
	return g, nil
}

// syntaxProblem describes a JSON error with its line and column.
func syntaxProblem(b []byte, err error) string {
	var s *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
		return "the input is empty: want a JSON object"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the input ends in the middle of the JSON object"
	case errors.As(err, &s) && s.Offset > 0 && int(s.Offset) <= len(b):
		before, wrong := b[:s.Offset-1], b[s.Offset-1:]
		at := fmt.Sprintf("line %d, column %d: ", 1+bytes.Count(before, []byte("\n")),
			1+utf8.RuneCount(before[1+bytes.LastIndexByte(before, '\n'):]))
		if r, _ := utf8.DecodeRune(wrong); r >= utf8.RuneSelf {
			return at + fmt.Sprintf("not JSON: the character %q is outside a string: strings begin and end with \"", r)
		}
		return at + fmt.Sprintf("not JSON: %v", err)
	}
	return "not JSON: " + err.Error()
}

// A decoder converts JSON values and collects the problems.
type decoder struct{ problems []string }

// A node is a JSON object with its path.
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

func (r *decoder) problem(at, format string, args ...any) {
	if at != "" {
		at += ": "
	}
	if len(r.problems) < 1000 {
		r.problems = append(r.problems, at+fmt.Sprintf(format, args...))
	}
}

// object returns v as an object that has only the known fields.
func (r *decoder) object(at string, v any, known ...string) (node, bool) {
	fields, ok := v.(map[string]any)
	if !ok {
		r.problem(at, "want an object, not %s", typeName(v))
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
		r.problem(n.path(printable(name)), "unknown field; the fields are %s", strings.Join(known, ", "))
	}
	return n, true
}

func typeName(v any) string {
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

func (r *decoder) list(n node, name string, most int, needed bool) []item {
	v, ok := n.fields[name]
	if !ok || v == nil && !needed {
		if needed {
			r.problem(n.path(name), "missing: want a list")
		}
		return nil
	}
	all, ok := v.([]any)
	switch {
	case !ok:
		r.problem(n.path(name), "want a list, not %s", typeName(v))
		return nil
	case len(all) > most:
		r.problem(n.path(name), "%d are too many: want at most %d", len(all), most)
		return nil
	}
	var out []item
	for i, v := range all {
		out = append(out, item{fmt.Sprintf("%s[%d]", n.path(name), i), v})
	}
	return out
}

func (r *decoder) text(n node, name string, most int, needed bool) string {
	v, ok := n.fields[name]
	if !ok || v == nil && !needed {
		if needed {
			r.problem(n.path(name), "missing: want text")
		}
		return ""
	}
	return r.checkText(item{n.path(name), v}, most, needed)
}

func (r *decoder) checkText(it item, most int, needed bool) string {
	s, ok := it.v.(string)
	s = strings.TrimSpace(s)
	switch n := utf8.RuneCountInString(s); {
	case !ok:
		r.problem(it.at, "want text, not %s", typeName(it.v))
	case s == "" && needed:
		r.problem(it.at, "it is empty")
	case n > most:
		r.problem(it.at, "%d characters are too many: want at most %d", n, most)
	case strings.ContainsFunc(s, isHidden):
		r.problem(it.at, "it contains control characters")
	default:
		return s
	}
	return ""
}

// isHidden reports whether a character is invalid in a text: a control character, an invisible letter, or a mark that
// changes the direction of writing.
func isHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.IsControl(r)
}

func (r *decoder) number(n node, name string, least int) int {
	v, ok := n.fields[name]
	if !ok || v == nil {
		return 0
	}
	return r.integer(item{n.path(name), v}, least)
}

func (r *decoder) integer(it item, least int) int {
	s, ok := it.v.(json.Number)
	n, err := strconv.Atoi(string(s))
	if !ok || err != nil || n < least || n > 1<<31-1 {
		got := typeName(it.v)
		if ok {
			got = string(s)
		}
		r.problem(it.at, "want a whole number from %d, not %s", least, Truncate(got, 20))
		return 0
	}
	return n
}

// span decodes a pair of numbers.
func (r *decoder) span(n node, name string) (out [2]int) {
	all := r.list(n, name, 1000, false)
	if len(all) == 0 {
		return out
	}
	if len(all) != 2 {
		r.problem(n.path(name), "want two numbers, the first and the last")
		return out
	}
	for i, it := range all {
		out[i] = r.integer(it, 1)
	}
	if out[0] > out[1] && out[1] > 0 {
		r.problem(n.path(name), "%d is after %d", out[0], out[1])
	}
	return out
}

func (r *decoder) exchange(it item) (x InputExchange) {
	n, ok := r.object(it.at, it.v, "messages", "l1_range", "summary", "details", "topic", "keywords", "files", "facts")
	if !ok {
		return x
	}
	x.Messages, x.L1Range = r.span(n, "messages"), r.span(n, "l1_range")
	if x.Messages != [2]int{} && x.L1Range != [2]int{} {
		r.problem(n.path("l1_range"), "messages already determines the part of the session")
	}
	x.Summary, x.Topic = filled(r.text(n, "summary", maxText, false)), filled(r.text(n, "topic", maxWord, false))
	x.Details = filled(r.text(n, "details", maxDetails, false))
	x.Keywords, x.Files = r.strings(n, "keywords"), r.strings(n, "files")
	for _, f := range r.list(n, "facts", maxFacts, true) {
		x.Facts = append(x.Facts, r.fact(f))
	}
	return x
}

func (r *decoder) strings(n node, name string) []string {
	var out []string
	for _, it := range r.list(n, name, maxWords, false) {
		if s := filled(r.checkText(it, maxWord, true)); s != "" && !slices.Contains(out, s) {
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

func (r *decoder) fact(it item) (f InputFact) {
	n, ok := r.object(it.at, it.v, "id", "kind", "text", "reason", "evidence", "keywords", "files", "supersedes", "refutes",
		"resolves")
	if !ok {
		return f
	}
	if s := r.text(n, "kind", maxWord, true); s != "" {
		k, err := ParseKind(s)
		if err != nil {
			r.problem(n.path("kind"), "%v", err)
		}
		f.Kind = k
	}
	f.ID, f.Text = r.text(n, "id", maxWord, false), oneSpace(r.text(n, "text", maxText, true))
	f.Reason = filled(r.text(n, "reason", maxText, false))
	f.Keywords, f.Files = r.strings(n, "keywords"), r.strings(n, "files")
	for _, e := range r.list(n, "evidence", maxEvidence, true) {
		if o, ok := r.object(e.at, e.v, "message", "quote"); ok {
			if o.fields["message"] == nil {
				r.problem(o.path("message"), "missing: want the number of a message")
			}
			f.Evidence = append(f.Evidence, Evidence{Message: r.number(o, "message", 1),
				Quote: r.text(o, "quote", maxQuote, true)})
		}
	}
	if v, _ := n.fields["evidence"].([]any); v != nil && len(v) == 0 {
		r.problem(n.path("evidence"), "it is empty: a fact needs a quote")
	}
	f.Supersedes, f.Refutes, f.Resolves = r.strings(n, "supersedes"), r.strings(n, "refutes"), r.strings(n, "resolves")
	return f
}

// printable makes a name from the input safe to print.
func printable(s string) string {
	return Truncate(strings.Map(func(r rune) rune {
		if isHidden(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s), 60)
}
