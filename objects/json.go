package objects

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// JSONLine returns v as JSON without HTML escapes, and a line feed.
func JSONLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// EncodeJSON returns v as JSON without HTML escapes and without a line feed.
func EncodeJSON(v any) (json.RawMessage, error) {
	b, err := JSONLine(v)
	return bytes.TrimSuffix(b, []byte("\n")), err
}

// DecodeJSON decodes an object into v. Unknown fields, and anything after the object, are errors.
func DecodeJSON(b []byte, v any) error {
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
