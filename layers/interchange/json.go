package interchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
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

// object is a JSON object whose members may be of any type: one of the wrong type counts as missing.
type object map[string]any

// parse reads one JSON value.
func parse(file string, b []byte) (any, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	if err == nil {
		if _, err = d.Token(); err == io.EOF {
			return v, nil
		}
		err = errors.New("data after the value")
	}
	at := d.InputOffset()
	var s *json.SyntaxError
	switch {
	case errors.As(err, &s):
		at = s.Offset
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		at, err = int64(len(b)), io.ErrUnexpectedEOF
	}
	at = min(max(at, 0), int64(len(b)))
	return nil, &SyntaxError{file, 1 + bytes.Count(b[:at], []byte("\n")), err}
}

// document reads a file that must be a JSON object.
func (s *Store) document(name string) (object, error) {
	b, err := s.bytes(name, maxJSON)
	if err != nil {
		return nil, err
	}
	v, err := parse(name, b)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not a JSON object", name)
	}
	return o, nil
}

// text returns a string member without surrounding white space.
func (o object) text(key string) string {
	s, _ := o[key].(string)
	return strings.TrimSpace(s)
}

// first returns the first string member that is not empty.
func (o object) first(keys ...string) string {
	for _, k := range keys {
		if s := o.text(k); s != "" {
			return s
		}
	}
	return ""
}

// object returns an object member.
func (o object) object(key string) object {
	v, _ := o[key].(map[string]any)
	return v
}

// hasList reports whether a member is an array.
func (o object) hasList(key string) bool {
	_, ok := o[key].([]any)
	return ok
}

// list returns the objects in an array member.
func (o object) list(key string) []object {
	all, _ := o[key].([]any)
	var out []object
	for _, v := range all[:min(len(all), maxEntries)] {
		if x, ok := v.(map[string]any); ok {
			out = append(out, x)
		}
	}
	return out
}

// texts returns the strings in an array member that are not empty.
func (o object) texts(key string) []string {
	all, _ := o[key].([]any)
	var out []string
	for _, v := range all[:min(len(all), maxEntries)] {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// hundredths returns a number member in hundredths.
func (o object) hundredths(key string) (n int, ok bool) {
	number, ok := o[key].(json.Number)
	f, err := number.Float64()
	if !ok || err != nil || f < 0 || f > 1e6 {
		return 0, false
	}
	return int(math.Round(f * 100)), true
}
