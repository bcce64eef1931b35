package facts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
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

// Decode parses an input, which may be inside a Markdown fence, and must have the form of the schema. The error is an
// [*InputError] that names every wrong field.
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
	c := checker{}
	if c.check("", v, inputSchema(false), true); len(c.problems) == 0 {
		if err := json.Unmarshal(b, &g); err != nil {
			return Input{}, &InputError{[]string{err.Error()}}
		}
		c.input(&g)
	}
	if len(c.problems) > 0 {
		return Input{}, &InputError{c.problems}
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

// A checker compares JSON values with a schema and collects the problems.
type checker struct{ problems []string }

func (c *checker) problem(at, format string, args ...any) {
	if at != "" {
		at += ": "
	}
	if len(c.problems) < 1000 {
		c.problems = append(c.problems, at+fmt.Sprintf(format, args...))
	}
}

// check checks a value. A value that is not required may be null.
func (c *checker) check(at string, v any, s jsonSchema, required bool) {
	if v == nil && !required {
		return
	}
	switch s.Type {
	case "object":
		c.object(at, v, s)
	case "array":
		list, ok := v.([]any)
		switch {
		case !ok:
			c.problem(at, "want a list, not %s", typeName(v))
		case len(list) > s.most:
			c.problem(at, "%d are too many: want at most %d", len(list), s.most)
		case s.pair && len(list) != 0 && len(list) != 2:
			c.problem(at, "want two numbers, the first and the last")
		default:
			for i, v := range list {
				c.check(fmt.Sprintf("%s[%d]", at, i), v, *s.Items, true)
			}
		}
	case "integer":
		number, ok := v.(json.Number)
		if n, err := strconv.Atoi(string(number)); !ok || err != nil || n < s.least || n > 1<<31-1 {
			got := typeName(v)
			if ok {
				got = string(number)
			}
			c.problem(at, "want a whole number from %d, not %s", s.least, Truncate(got, 20))
		}
	default:
		c.text(at, v, s, required)
	}
}

// object checks an object, which has only the known fields.
func (c *checker) object(at string, v any, s jsonSchema) {
	fields, ok := v.(map[string]any)
	if !ok {
		c.problem(at, "want an object, not %s", typeName(v))
		return
	}
	path := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
	var known []string
	for _, m := range s.members {
		known = append(known, m.name)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			c.problem(path(printable(name)), "unknown field; the fields are %s", strings.Join(known, ", "))
		}
	}
	for _, m := range s.members {
		v, ok := fields[m.name]
		switch missing := !ok || v == nil && m.shape.missing != ""; {
		case missing && m.required:
			c.problem(path(m.name), "missing: want %s", cmp.Or(m.shape.missing, map[string]string{"array": "a list"}[m.shape.Type], "text"))
		case !missing:
			c.check(path(m.name), v, m.shape, m.required)
		}
	}
}

func (c *checker) text(at string, v any, s jsonSchema, required bool) {
	text, ok := v.(string)
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case !ok:
		c.problem(at, "want text, not %s", typeName(v))
	case text == "" && required:
		c.problem(at, "it is empty")
	case n > s.most:
		c.problem(at, "%d characters are too many: want at most %d", n, s.most)
	case strings.ContainsFunc(text, isHidden):
		c.problem(at, "it contains control characters")
	case s.Enum != nil && !slices.Contains(s.Enum, Kind(text)):
		_, err := ParseKind(text)
		c.problem(at, "%v", err)
	}
}

// input checks what a schema cannot say, and brings the texts into their form.
func (c *checker) input(g *Input) {
	g.Session = strings.TrimSpace(g.Session)
	for i := range g.Exchanges {
		x, at := &g.Exchanges[i], fmt.Sprintf("exchanges[%d]", i)
		if x.Messages != [2]int{} && x.L1Range != [2]int{} {
			c.problem(at+".l1_range", "messages already determines the part of the session")
		}
		if s := x.Messages; s[0] > s[1] {
			c.problem(at+".messages", "%d is after %d", s[0], s[1])
		}
		if s := x.L1Range; s[0] > s[1] {
			c.problem(at+".l1_range", "%d is after %d", s[0], s[1])
		}
		x.Summary, x.Topic, x.Details = filled(x.Summary), filled(x.Topic), filled(x.Details)
		x.Keywords, x.Files = filledList(x.Keywords), filledList(x.Files)
		for k := range x.Facts {
			f := &x.Facts[k]
			f.ID, f.Kind = strings.TrimSpace(f.ID), Kind(strings.TrimSpace(string(f.Kind)))
			f.Text, f.Reason = oneSpace(f.Text), filled(f.Reason)
			for _, list := range []*[]string{&f.Keywords, &f.Files, &f.Supersedes, &f.Refutes, &f.Resolves} {
				*list = filledList(*list)
			}
			if len(f.Evidence) == 0 {
				c.problem(fmt.Sprintf("%s.facts[%d].evidence", at, k), "it is empty: a fact needs a quote")
			}
			for n := range f.Evidence {
				f.Evidence[n].Quote = strings.TrimSpace(f.Evidence[n].Quote)
			}
		}
	}
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

// filled returns a text on one line, "" if it is what the form of a draft has in its place.
func filled(s string) string {
	if s = oneSpace(s); s == "..." || s == "f:..." || s == "3 to 5 words" {
		return ""
	}
	return s
}

// filledList returns the filled texts of a list, each once.
func filledList(list []string) (out []string) {
	for _, s := range list {
		if s = filled(s); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
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
