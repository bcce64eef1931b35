package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// An object is a JSON object that keeps the order of its members and the bytes of values that are not objects.
type object struct {
	members []member
}

type member struct {
	name  string
	value json.RawMessage // if inner is nil
	inner *object
}

// parse reads the text of a config.json.
func parse(b []byte) (*object, error) {
	body := bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(bytes.TrimSpace(body)) == 0 {
		return &object{}, nil
	}
	skipped := len(b) - len(body)
	var raw json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&raw); err != nil {
		return nil, syntaxError(b, skipped, err)
	}
	end := int(dec.InputOffset())
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		rest := len(body[end:]) - len(bytes.TrimLeft(body[end:], " \t\r\n"))
		return nil, locate(b, skipped+end+rest, errors.New("unexpected text after the settings"))
	}
	if raw[0] != '{' {
		return nil, locate(b, skipped+end-len(raw), errors.New("the settings are not a JSON object"))
	}
	o, err := open(raw, "")
	if err != nil {
		return nil, err
	}
	return o, nil
}

// open splits a valid JSON object into its members.
func open(raw json.RawMessage, at string) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil { // the opening brace
		return nil, fmt.Errorf("read settings %s: %w", at, err)
	}
	o := &object{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read settings %s: %w", at, err)
		}
		m := member{name: tok.(string)} // a member of a valid object starts with its name
		if o.find(m.name) >= 0 {
			return nil, fmt.Errorf("duplicate key %q", at+m.name)
		}
		if err := dec.Decode(&m.value); err != nil {
			return nil, fmt.Errorf("read setting %s: %w", at+m.name, err)
		}
		if m.value[0] == '{' {
			if m.inner, err = open(m.value, at+m.name+"."); err != nil {
				return nil, err
			}
		}
		o.members = append(o.members, m)
	}
	return o, nil
}

func (o *object) find(name string) int {
	return slices.IndexFunc(o.members, func(m member) bool { return m.name == name })
}

// get returns the value at path.
func (o *object) get(path []string) (json.RawMessage, bool) {
	i := o.find(path[0])
	switch {
	case i < 0:
		return nil, false
	case len(path) == 1:
		if o.members[i].inner != nil {
			return json.RawMessage("{}"), true // invalid for every kind
		}
		return o.members[i].value, true
	case o.members[i].inner == nil:
		return nil, false
	}
	return o.members[i].inner.get(path[1:])
}

// set sets path to v and creates missing objects.
func (o *object) set(path []string, v json.RawMessage) error {
	i := o.find(path[0])
	if i < 0 {
		o.members = append(o.members, member{name: path[0]})
		i = len(o.members) - 1
		if len(path) > 1 {
			o.members[i].inner = &object{}
		}
	}
	m := &o.members[i]
	if len(path) == 1 {
		m.inner, m.value = nil, v
		return nil
	}
	if m.inner == nil {
		return fmt.Errorf("%q in the settings is a value, not an object", path[0])
	}
	return m.inner.set(path[1:], v)
}

// unset removes path and the objects that become empty, and reports whether path existed. In a file that was written by
// hand a name may contain dots.
func (o *object) unset(path []string) bool {
	for n := 1; n <= len(path); n++ {
		i := o.find(strings.Join(path[:n], "."))
		if i < 0 {
			continue
		}
		if m := o.members[i]; n < len(path) {
			if m.inner == nil || !m.inner.unset(path[n:]) {
				continue
			}
			if len(m.inner.members) > 0 {
				return true
			}
		}
		o.members = slices.Delete(o.members, i, i+1)
		return true
	}
	return false
}

// leaves returns the dotted names of all values, in file order. An empty object is one.
func (o *object) leaves() []string {
	var names []string
	for _, m := range o.members {
		if m.inner == nil || len(m.inner.members) == 0 {
			names = append(names, m.name)
			continue
		}
		for _, n := range m.inner.leaves() {
			names = append(names, m.name+"."+n)
		}
	}
	return names
}

// encode returns o as an indented text that ends in a newline.
func (o *object) encode() ([]byte, error) {
	var compact, out bytes.Buffer
	o.write(&compact)
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func (o *object) write(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.name))
		b.WriteByte(':')
		if m.inner != nil {
			m.inner.write(b)
			continue
		}
		b.Write(m.value)
	}
	b.WriteByte('}')
}

// quote returns s as a JSON string, without the escapes that only HTML needs.
func quote(s string) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("config: " + err.Error()) // a string always encodes, into a builder that never fails
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

func syntaxError(b []byte, skipped int, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return locate(b, skipped+max(int(syntax.Offset)-1, 0), err)
	}
	return locate(b, len(b), errors.New("unexpected end of the text"))
}

// locate returns err with the line and column of the byte at off.
func locate(b []byte, off int, err error) error {
	before := b[:min(off, len(b))]
	line := bytes.Count(before, []byte("\n")) + 1
	return &SyntaxError{Line: line, Column: len(before) - bytes.LastIndexByte(before, '\n'), Err: err}
}
