// Package records is the grammar of what records say: what a session id, a label, a name, a path or a number of
// a record may be.
//
// A signature proves who wrote a record, not that it is sane. So the body of every record is decoded and
// bounded once, by the one [Decoder] of its kind in a [Table]: at the door, when a lane comes from elsewhere,
// and again when records are read, for what is in a store already. A body that does not parse says nothing.
// Kinds that the table does not know, and members that a body does not know, are kept and ignored, so that a
// newer mem cannot break an older one.
//
// Bounds hold for every body ([Of]); the grammar of single members is told by the types [Session], [Label],
// [Name] and the others, whose zero value no record may hold.
package records

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrMalformed says that the body of a record does not parse: the record says nothing.
var ErrMalformed = errors.New("malformed body")

// A Decoder reports why bytes are not the body of a kind; nil if they are.
type Decoder func(body json.RawMessage) error

// A Table has the decoder of each kind that is known.
type Table map[string]Decoder

// Check decodes the body of a record of the given kind. The error wraps [ErrMalformed]. A kind that is not in
// the table may hold anything.
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

// Of returns the decoder of bodies of the type T: a JSON object that fits the type, whose numbers, texts and
// times are in bounds, and of which check, which may be nil, says that the members are of their grammar.
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
