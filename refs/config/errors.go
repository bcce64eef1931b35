package config

import "fmt"

// An UnknownKeyError names a setting that does not exist.
type UnknownKeyError struct {
	Key string
	// Keys lists all keys, so that a caller can suggest one.
	Keys []string
}

func (e *UnknownKeyError) Error() string { return fmt.Sprintf("there is no setting %q", e.Key) }

// A ValueError means that a value is invalid for its setting.
type ValueError struct {
	Key, Value string
	Want       string // the valid values, such as "true or false"
	Err        error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("setting %s cannot be %q: want %s", e.Key, e.Value, e.Want)
}

func (e *ValueError) Unwrap() error { return e.Err }

// A SyntaxError is the position of a syntax error in config.json.
type SyntaxError struct {
	Line, Column int // counted from 1, the column in bytes
	Err          error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
