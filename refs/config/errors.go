package config

import "fmt"

// An UnknownKeyError names a setting that does not exist.
type UnknownKeyError struct {
	Key string
	// Near holds every key that exists, for a caller that wants to suggest one.
	Near []string
}

func (e *UnknownKeyError) Error() string { return fmt.Sprintf("there is no setting %q", e.Key) }

// A ValueError says that a value does not fit its setting.
type ValueError struct {
	Key, Value string
	Want       string // what would fit, such as "true or false"
	Err        error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("setting %s cannot be %q: want %s", e.Key, e.Value, e.Want)
}

func (e *ValueError) Unwrap() error { return e.Err }

// A SyntaxError says where a config.json stops being one.
type SyntaxError struct {
	Line, Column int // counted from 1, the column in bytes
	Err          error
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Line, e.Column, e.Err)
}

func (e *SyntaxError) Unwrap() error { return e.Err }
