// Package strictjson encodes a value as one line of JSON, and decodes JSON that must have exactly the expected form.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Line returns v as JSON without HTML escapes, and a line feed.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// Marshal returns v as JSON without HTML escapes and without a line feed.
func Marshal(v any) (json.RawMessage, error) {
	b, err := Line(v)
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// Decode decodes an object into v. Unknown fields, and anything after the object, are errors.
func Decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("unexpected data after the object")
	}
	return nil
}

// Unfence removes the Markdown fence that models write around JSON.
func Unfence(b []byte) []byte {
	s := bytes.TrimSpace(b)
	body, ok := bytes.CutPrefix(s, []byte("```"))
	if !ok || !bytes.HasSuffix(body, []byte("```")) {
		return b
	}
	_, body, _ = bytes.Cut(body, []byte("\n"))
	return bytes.TrimSuffix(body, []byte("```"))
}
