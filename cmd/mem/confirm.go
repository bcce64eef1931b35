package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirm asks before something is removed. --yes and ui.confirmDestructiveActions=false answer yes. Where
// there is nobody to ask it is an error that names the option.
func (e *Env) confirm(format string, args ...any) (bool, error) {
	conf, err := e.settings()
	if err != nil {
		return false, err
	}
	ask, err := conf.Bool("ui.confirmDestructiveActions")
	if err != nil || !ask || e.opt.yes || e.opt.dryRun {
		return err == nil, err
	}
	question := sanitizeLine(fmt.Sprintf(format, args...))
	if !e.Term.Stdin || !e.Term.Stderr {
		return false, withHint(usagef("%s: there is nobody to ask", question), "answer yes with --yes")
	}
	fmt.Fprintf(e.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
