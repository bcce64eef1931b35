package app

import (
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/urfave/cli/v2"
)

// Since returns the option --since of a command that selects by time.
func (e *Env) Since(to *time.Time, what string) cli.Flag {
	return ParsedFlag(to, "since", what+" at `TIME` or later, such as 2026-01-15, 3d or \"2 weeks ago\"", e.ParseSince)
}

// Until returns the option --until of a command that selects by time.
func (e *Env) Until(to *time.Time, what string) cli.Flag {
	return ParsedFlag(to, "until", what+" before `TIME`; a day is included", e.ParseUntil)
}

// ParseSince parses the argument of --since.
func (e *Env) ParseSince(text string) (time.Time, error) { return term.ParseTime(text, e.Now()) }

// ParseUntil parses the argument of --until: of a day its end.
func (e *Env) ParseUntil(text string) (time.Time, error) {
	t, err := term.ParseTime(text, e.Now())
	if _, day := time.Parse(time.DateOnly, text); day == nil {
		t = t.AddDate(0, 0, 1)
	}
	return t, err
}
