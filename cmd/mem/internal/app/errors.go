package app

import (
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// The exit statuses. Status 2 is not used: Claude Code reads it as "block".
const (
	ExitDone        = 0
	ExitNo          = 1 // the answer is no: no match, a difference, problems found
	ExitPartial     = 3 // partly done
	ExitAuth        = 4 // authentication is needed
	ExitBudget      = 5 // a budget or cap cannot be met
	exitNoMemory    = 10
	exitLocked      = 11
	ExitFatal       = 128
	ExitUsage       = 129
	ExitInterrupted = 130
)

// A coded error carries its exit status.
type coded struct {
	error
	code int
}

func (e *coded) Unwrap() error { return e.error }

// WithCode gives err an exit status of its own.
func WithCode(code int, err error) error { return &coded{err, code} }

// A Quiet error sets the exit status and is not printed: the command has already printed its answer.
type Quiet struct{ code int }

func (e *Quiet) Error() string { return fmt.Sprintf("exit status %d", e.code) }

// Exit returns an error that ends the command with an exit status and prints nothing more.
func Exit(code int) error { return &Quiet{code} }

// An Unreadable error came from opening the memory, an Unwritable one from changing its files.
type (
	Unreadable struct{ Err error }
	Unwritable struct{ Err error }
)

func (e *Unreadable) Error() string { return e.Err.Error() }
func (e *Unreadable) Unwrap() error { return e.Err }

func (e *Unwritable) Error() string { return e.Err.Error() }
func (e *Unwritable) Unwrap() error { return e.Err }

// StatusOf returns the exit status for the error of a command.
func StatusOf(err error) int {
	var usage *usageError
	var missing *MissingValue
	var own *coded
	var silent *Quiet
	switch {
	case err == nil, errors.Is(err, ErrStdoutClosed):
		return ExitDone
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &own):
		return own.code
	case errors.As(err, &usage), errors.As(err, &missing):
		return ExitUsage
	}
	if exit, _ := known(err); exit != 0 {
		return exit
	}
	return ExitFatal
}

// A Problem is the JSON form of an error.
type Problem struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Hints   []string `json:"hints"`
}

// OneLine joins the lines of a message with semicolons and sanitises it.
func OneLine(s string) string {
	return term.SanitizeLine(strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "; "))
}
