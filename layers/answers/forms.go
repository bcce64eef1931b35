package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/objects"
)

// A field is a field of the JSON form of a type. Its tags describe it: json has its name, about its description, enum its
// values, and form its limits: required, max characters of a text (of the texts of a list), max items of a list, min of a
// number, pair for a list of two numbers, human for a field that no model is asked for.
type field struct {
	name, about           string
	enum                  []string
	required, human, pair bool
	max, items, min       int
	shape                 reflect.Type
	index                 int
}

func fieldsOf(t reflect.Type) (out []field) {
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		f := field{about: tag.Get("about"), max: defaultMax, items: defaultItems, shape: t.Field(i).Type, index: i}
		f.name, _, _ = strings.Cut(tag.Get("json"), ",")
		if values, ok := tag.Lookup("enum"); ok {
			f.enum = strings.Split(values, ",")
		}
		form, ok := tag.Lookup("form")
		if form == "-" || f.name == "" {
			continue
		}
		for option := range strings.SplitSeq(form, ",") {
			name, value, _ := strings.Cut(option, "=")
			n, _ := strconv.Atoi(value) // 0 without a value
			switch name {
			case "required":
				f.required = true
			case "human":
				f.human = true
			case "pair":
				f.pair = true
			case "max":
				f.max = n
			case "items":
				f.items = n
			case "min":
				f.min = n
			default:
				if ok && name != "" {
					panic("forms: unknown limit " + name) // a tag in this program
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// A jsonSchema is a JSON schema with its members in a fixed order.
type jsonSchema struct {
	Schema      string          `json:"$schema,omitempty"`
	Title       string          `json:"title,omitempty"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	Items       *jsonSchema     `json:"items,omitempty"`
	Properties  json.RawMessage `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	More        *bool           `json:"additionalProperties,omitempty"`
}

// AnswerSchema returns the JSON schema of a type for answers of models: without the fields for people, and with every
// other field required, as servers with guaranteed schemas demand.
func AnswerSchema[T any]() json.RawMessage { return asJSON(schemaOf(reflect.TypeFor[T](), true)) }

// Schema returns the JSON schema of a type with all its fields.
func Schema[T any](title string) json.RawMessage {
	s := schemaOf(reflect.TypeFor[T](), false)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", title
	return asJSON(s)
}

func asJSON(v any) json.RawMessage {
	b, err := objects.EncodeJSON(v)
	if err != nil {
		panic("forms: " + err.Error()) // only text and numbers
	}
	return b
}

func schemaOf(t reflect.Type, strict bool) jsonSchema {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		items := schemaOf(t.Elem(), strict)
		return jsonSchema{Type: "array", Items: &items}
	case reflect.Int:
		return jsonSchema{Type: "integer"}
	case reflect.String:
		return jsonSchema{Type: "string"}
	}
	no := false
	s := jsonSchema{Type: "object", More: &no}
	var members []string
	for _, f := range fieldsOf(t) {
		if strict && f.human {
			continue
		}
		shape := schemaOf(f.shape, strict)
		shape.Description, shape.Enum = f.about, f.enum
		members = append(members, fmt.Sprintf("%q:%s", f.name, asJSON(shape)))
		if f.required || strict {
			s.Required = append(s.Required, f.name)
		}
	}
	s.Properties = json.RawMessage("{" + strings.Join(members, ",") + "}")
	return s
}

// An Error lists what is wrong with an input, each with its field.
type Error struct{ Problems []string }

func (e *Error) Error() string {
	const most = 12
	if n := len(e.Problems) - most; n > 0 {
		return strings.Join(e.Problems[:most], "; ") + fmt.Sprintf("; and %d more", n)
	}
	return strings.Join(e.Problems, "; ")
}

// Limits of a field without tags: of a text in characters, and of a list.
const (
	defaultMax   = 300
	defaultItems = 50
)

// maxBytes is the size of the longest input.
const maxBytes = 8 << 20

// Decode parses JSON, which may be inside a Markdown fence, and must have the form of the type. The error is an
// [*Error] that names every wrong field.
func Decode[T any](b []byte) (out T, err error) {
	if len(b) > maxBytes {
		return out, &Error{[]string{fmt.Sprintf("%d bytes are too many: want at most %d", len(b), maxBytes)}}
	}
	b = unfence(bytes.TrimPrefix(b, []byte("\ufeff")))
	if !utf8.Valid(b) {
		return out, &Error{[]string{"the input is not UTF-8"}}
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return out, &Error{[]string{syntaxProblem(b, err)}}
	}
	if _, err := dec.Token(); err != io.EOF {
		return out, &Error{[]string{"something follows the JSON object"}}
	}
	var c Problems
	c.check("", v, field{shape: reflect.TypeFor[T](), required: true})
	if len(c) == 0 {
		if err := json.Unmarshal(b, &out); err != nil {
			c.Add("", "%v", err)
		}
	}
	return out, c.Err()
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

// Problems collects what is wrong with an input.
type Problems []string

// Err returns an [*Error] with the problems, nil if there are none.
func (c Problems) Err() error {
	if len(c) == 0 {
		return nil
	}
	return &Error{c}
}

// Add adds a problem of a field.
func (c *Problems) Add(at, format string, args ...any) {
	if at != "" {
		at += ": "
	}
	if len(*c) < 1000 {
		*c = append(*c, at+fmt.Sprintf(format, args...))
	}
}

// check checks a value. A value that is not required may be null.
func (c *Problems) check(at string, v any, f field) {
	if v == nil && !f.required {
		return
	}
	switch f.shape.Kind() {
	case reflect.Struct:
		c.object(at, v, f.shape)
	case reflect.Slice, reflect.Array:
		list, ok := v.([]any)
		switch {
		case !ok:
			c.Add(at, "want a list, not %s", typeName(v))
		case len(list) > f.items:
			c.Add(at, "%d are too many: want at most %d", len(list), f.items)
		case f.pair && len(list) != 0 && len(list) != 2:
			c.Add(at, "want two numbers, the first and the last")
		default:
			item := field{shape: f.shape.Elem(), required: true, max: f.max, min: f.min}
			for i, v := range list {
				c.check(fmt.Sprintf("%s[%d]", at, i), v, item)
			}
		}
	case reflect.Int:
		number, ok := v.(json.Number)
		if n, err := strconv.Atoi(string(number)); !ok || err != nil || n < f.min || n > 1<<31-1 {
			got := typeName(v)
			if ok {
				got = string(number)
			}
			c.Add(at, "want a whole number from %d, not %s", f.min, tokens.Shorten(got, 20))
		}
	default:
		c.text(at, v, f)
	}
}

// object checks an object, which has only the known fields.
func (c *Problems) object(at string, v any, t reflect.Type) {
	values, ok := v.(map[string]any)
	if !ok {
		c.Add(at, "want an object, not %s", typeName(v))
		return
	}
	path := func(name string) string { return strings.TrimPrefix(at+"."+name, ".") }
	var known []string
	for _, f := range fieldsOf(t) {
		known = append(known, f.name)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			c.Add(path(Printable(name)), "unknown field; the fields are %s", strings.Join(known, ", "))
		}
	}
	for _, f := range fieldsOf(t) {
		if v, ok := values[f.name]; ok && v != nil {
			c.check(path(f.name), v, f)
		} else if f.required {
			c.Add(path(f.name), "missing: want %s", map[reflect.Kind]string{reflect.Slice: "a list", reflect.Int: "a number"}[f.shape.Kind()]+
				map[bool]string{true: "text"}[f.shape.Kind() == reflect.String])
		}
	}
}

func (c *Problems) text(at string, v any, f field) {
	text, ok := v.(string)
	text = strings.TrimSpace(text)
	switch n := utf8.RuneCountInString(text); {
	case !ok:
		c.Add(at, "want text, not %s", typeName(v))
	case text == "" && f.required && !slices.Contains(f.enum, ""):
		c.Add(at, "it is empty")
	case n > f.max:
		c.Add(at, "%d characters are too many: want at most %d", n, f.max)
	case strings.ContainsFunc(text, Hidden):
		c.Add(at, "it contains control characters")
	case f.enum != nil && text != "" && !slices.Contains(f.enum, text):
		c.Add(at, "%q is none of %s", Printable(text), strings.Join(f.enum, ", "))
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

// Hidden reports whether a character is invalid in a text: a control character, an invisible letter, or a mark that
// changes the direction of writing.
func Hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return false
	case r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0xfeff,
		r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return unicode.IsControl(r)
}

// Printable makes a name from the input safe to print.
func Printable(s string) string {
	return tokens.Shorten(strings.Map(func(r rune) rune {
		if Hidden(r) || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s), 60)
}

// unfence removes the Markdown fence that models write around JSON.
func unfence(b []byte) []byte {
	s := bytes.TrimSpace(b)
	body, ok := bytes.CutPrefix(s, []byte("```"))
	if !ok || !bytes.HasSuffix(body, []byte("```")) {
		return b
	}
	_, body, _ = bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(body, []byte("```"))
}
