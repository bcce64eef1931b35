package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/tidwall/gjson"
)

// A SyntaxError reports a file that is not JSON.
type SyntaxError struct {
	File string
	Line int
	Err  error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: not JSON: %v", e.File, e.Line, e.Err)
}

// Unwrap returns the cause.
func (e *SyntaxError) Unwrap() error { return e.Err }

// parse reads one JSON value.
func parse(file string, b []byte) (gjson.Result, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	var raw json.RawMessage
	err := json.Unmarshal(b, &raw)
	var s *json.SyntaxError
	if errors.As(err, &s) {
		return gjson.Result{}, &SyntaxError{file, 1 + bytes.Count(b[:min(int(s.Offset), len(b))], []byte("\n")), err}
	}
	return gjson.ParseBytes(raw), err
}

// An object is a JSON object whose members may be of any type: one of the wrong type counts as missing.
type object struct{ gjson.Result }

// document reads a file that must be a JSON object.
func (s *Store) document(name string) (o object, err error) {
	b, err := s.bytes(name, maxJSON)
	if err != nil {
		return o, err
	}
	v, err := parse(name, b)
	if err == nil && !v.IsObject() {
		err = fmt.Errorf("%s: not a JSON object", name)
	}
	return object{v}, err
}

// text returns a string member without surrounding white space.
func (o object) text(key string) string { return strings.TrimSpace(o.Get(key).Str) }

// members returns the members of an object member.
func (o object) members(key string) map[string]object {
	out := map[string]object{}
	if !o.Get(key).IsObject() {
		return out
	}
	o.Get(key).ForEach(func(k, v gjson.Result) bool {
		out[k.String()] = object{v}
		return true
	})
	return out
}

// hasList reports whether a member is an array.
func (o object) hasList(key string) bool { return o.Get(key).IsArray() }

// list returns the objects in an array member.
func (o object) list(key string) (out []object) {
	for _, v := range o.elements(key) {
		if v.IsObject() {
			out = append(out, object{v})
		}
	}
	return out
}

// texts returns the strings in an array member that are not empty.
func (o object) texts(key string) (out []string) {
	for _, v := range o.elements(key) {
		if s := strings.TrimSpace(v.Str); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (o object) elements(key string) []gjson.Result {
	if !o.Get(key).IsArray() {
		return nil
	}
	all := o.Get(key).Array()
	return all[:min(len(all), maxEntries)]
}

// hundredths returns a number member in hundredths.
func (o object) hundredths(key string) (n int, ok bool) {
	r := o.Get(key)
	if r.Type != gjson.Number || r.Num < 0 || r.Num > 1e6 {
		return 0, false
	}
	return int(math.Round(r.Num * 100)), true
}
