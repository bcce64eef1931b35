package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// A SyntaxError says that a file is not JSON, and where.
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
		err = errors.New("something follows the value")
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

// document reads a JSON file of the store that must hold an object.
func (s *Store) document(name string) (object, error) {
	b, err := s.bytes(name, mostJSON)
	if err != nil {
		return nil, err
	}
	v, err := parse(name, b)
	if err != nil {
		return nil, err
	}
	o, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: it holds no JSON object", name)
	}
	return o, nil
}

// text returns a member that is a text, without the space around it.
func (o object) text(key string) string {
	s, _ := o[key].(string)
	return strings.TrimSpace(s)
}

// first returns the first member that is a text and not empty.
func (o object) first(keys ...string) string {
	for _, k := range keys {
		if s := o.text(k); s != "" {
			return s
		}
	}
	return ""
}

// object returns a member that is an object.
func (o object) object(key string) object {
	v, _ := o[key].(map[string]any)
	return v
}

// has reports whether a member is a list.
func (o object) hasList(key string) bool {
	_, ok := o[key].([]any)
	return ok
}

// list returns the members of a list that are objects.
func (o object) list(key string) []object {
	all, _ := o[key].([]any)
	var out []object
	for _, v := range all[:min(len(all), mostEntries)] {
		if x, ok := v.(map[string]any); ok {
			out = append(out, x)
		}
	}
	return out
}

// texts returns the members of a list that are texts and not empty.
func (o object) texts(key string) []string {
	all, _ := o[key].([]any)
	var out []string
	for _, v := range all[:min(len(all), mostEntries)] {
		if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// number returns a member that is a whole number from 0 on, else 0.
func (o object) number(key string) int {
	n, ok := o[key].(json.Number)
	if !ok {
		return 0
	}
	f, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || f < 0 || f > 1<<40 {
		return 0
	}
	return int(f)
}

// hundredths returns a member that is a number as hundredths; ok is false if it is none.
func (o object) hundredths(key string) (n int, ok bool) {
	v, isNumber := o[key].(json.Number)
	if !isNumber {
		return 0, false
	}
	f, err := strconv.ParseFloat(v.String(), 64)
	if err != nil || f < 0 || f > 1e6 {
		return 0, false
	}
	return int(math.Round(f * 100)), true
}
