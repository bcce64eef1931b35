package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// parse reads the text of a config.json: an object, which may have comments.
func parse(b []byte) (hujson.Value, error) {
	body := bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(bytes.TrimSpace(body)) == 0 {
		return hujson.Value{Value: &hujson.Object{}}, nil
	}
	v, err := hujson.Parse(body)
	if err != nil {
		bad := &SyntaxError{Line: 1, Column: 1, Err: err}
		if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &bad.Line, &bad.Column); scan == nil {
			_, what, _ := strings.Cut(err.Error(), fmt.Sprintf("column %d: ", bad.Column))
			bad.Err = errors.New(what)
		}
		return v, bad
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return v, &SyntaxError{Line: 1, Column: 1, Err: errors.New("the settings are not a JSON object")}
	}
	return v, checkNames(o, "")
}

// checkNames returns an error if two members of an object have the same name.
func checkNames(o *hujson.Object, at string) error {
	seen := map[string]bool{}
	for _, m := range o.Members {
		name := nameOf(m)
		if seen[name] {
			return fmt.Errorf("duplicate key %q", at+name)
		}
		seen[name] = true
		if inner, ok := m.Value.Value.(*hujson.Object); ok {
			if err := checkNames(inner, at+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

func nameOf(m hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

func find(o *hujson.Object, name string) int {
	return slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return nameOf(m) == name })
}

// get returns the value at path.
func get(o *hujson.Object, path []string) (json.RawMessage, bool) {
	i := find(o, path[0])
	if i < 0 {
		return nil, false
	}
	value := o.Members[i].Value.Value
	inner, nested := value.(*hujson.Object)
	switch {
	case len(path) > 1 && nested:
		return get(inner, path[1:])
	case len(path) > 1:
		return nil, false
	case nested:
		return json.RawMessage("{}"), true // invalid for every kind
	}
	return hujson.Value{Value: value}.Pack(), true
}

// set sets path to v and creates missing objects.
func set(o *hujson.Object, path []string, v json.RawMessage) error {
	i := find(o, path[0])
	if i < 0 {
		i = len(o.Members)
		o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{Value: hujson.Literal(quote(path[0]))},
			Value: hujson.Value{Value: &hujson.Object{}}})
	}
	m := &o.Members[i].Value
	if len(path) == 1 {
		m.Value = hujson.Literal(v)
		return nil
	}
	inner, ok := m.Value.(*hujson.Object)
	if !ok {
		return fmt.Errorf("%q in the settings is a value, not an object", path[0])
	}
	return set(inner, path[1:], v)
}

// unset removes path and the objects that become empty, and reports whether path existed. In a file that was written by
// hand a name may contain dots.
func unset(o *hujson.Object, path []string) bool {
	for n := 1; n <= len(path); n++ {
		i := find(o, strings.Join(path[:n], "."))
		if i < 0 {
			continue
		}
		if n < len(path) {
			inner, ok := o.Members[i].Value.Value.(*hujson.Object)
			if !ok || !unset(inner, path[n:]) {
				continue
			}
			if len(inner.Members) > 0 {
				return true
			}
		}
		o.Members = slices.Delete(o.Members, i, i+1)
		return true
	}
	return false
}

// leaves returns the dotted names of all values, in file order. An empty object is one.
func leaves(o *hujson.Object) []string {
	var names []string
	for _, m := range o.Members {
		inner, ok := m.Value.Value.(*hujson.Object)
		if !ok || len(inner.Members) == 0 {
			names = append(names, nameOf(m))
			continue
		}
		for _, n := range leaves(inner) {
			names = append(names, nameOf(m)+"."+n)
		}
	}
	return names
}

// encode returns settings as an indented text that ends in a newline.
func encode(v hujson.Value) ([]byte, error) {
	if v = v.Clone(); !v.IsStandard() { // it has comments
		v.Format()
		return v.Pack(), nil
	}
	var out bytes.Buffer
	if err := json.Indent(&out, bytes.TrimSpace(v.Pack()), "", "  "); err != nil {
		return nil, fmt.Errorf("encode settings: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
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
