// Package records defines the grammar of record bodies: the valid session ids, labels, names, paths and numbers in a
// record.
//
// A signature proves authorship, not validity. So the body of every record is decoded and bounded by the one
// [Decoder] of its kind in a [Table]: when a lane arrives from another device, and again when the store is read. A
// body that does not parse has no effect. Unknown kinds, and unknown members of a body, are kept and ignored, so
// that a newer mem cannot break an older one.
//
// The bounds in [Of] apply to every body. The types [Session], [Label], [Name] and the others define the grammar of
// single members; no record may contain their zero values.
package records

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrMalformed reports a body that does not parse. Such a record has no effect.
var ErrMalformed = errors.New("malformed body")

// A Decoder returns why bytes are not a body of its kind, nil if they are.
type Decoder func(body json.RawMessage) error

// A Table has the decoders of the known kinds.
type Table map[string]Decoder

// Check decodes the body of a record. The error wraps [ErrMalformed]. Unknown kinds may have any body.
func (t Table) Check(kind string, body json.RawMessage) error {
	decode, ok := t[kind]
	if !ok {
		return nil
	}
	if err := decode(body); err != nil {
		return fmt.Errorf("%s: %w: %w", kind, ErrMalformed, err)
	}
	return nil
}

// Of returns the decoder for bodies of type T: JSON objects of the type with values in bounds ([Bound]) and accepted by
// check, which may be nil.
func Of[T any](check func(*T) error) Decoder {
	return func(body json.RawMessage) error {
		if len(body) == 0 || body[0] != '{' {
			return errors.New("not an object")
		}
		var b T
		if err := json.Unmarshal(body, &b); err != nil {
			return err
		}
		if err := Bound(&b); err != nil {
			return err
		}
		if check == nil {
			return nil
		}
		return check(&b)
	}
}
