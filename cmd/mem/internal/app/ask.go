package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// Ask asks a yes-or-no question. Without a terminal it returns a usage error that names --yes.
func (e *Env) Ask(format string, args ...any) (bool, error) {
	question := term.SanitizeLine(fmt.Sprintf(format, args...))
	if !e.Term.Stdin || !e.Term.Stderr {
		return false, WithHint(Usagef("%s: no terminal to ask on", question), "answer yes with --yes")
	}
	fmt.Fprintf(e.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(e.Stderr) // the question ends its line even if no answer did
	} else if err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// Confirm asks before a destructive action, and notes if nothing is done. The answer is yes without asking if --yes or --dry-run is given or
// ui.confirmDestructiveActions is false. Without a terminal it returns a usage error that names --yes.
func (e *Env) Confirm(format string, args ...any) (bool, error) {
	conf, err := e.Settings()
	if err != nil {
		return false, err
	}
	if e.Opt.Yes || e.Opt.DryRun || !conf.Bool("ui.confirmDestructiveActions") {
		return true, nil
	}
	yes, err := e.Ask(format, args...)
	if err == nil && !yes {
		e.Note("nothing changed")
	}
	return yes, err
}

// UserTypes reports whether the user types the command: stdin is a terminal, and no agent runs mem.
func UserTypes(e *Env) bool { return e.Term.Stdin && e.Getenv("CLAUDECODE") == "" }
