package app

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// Ask asks a question with the answers yes and no. Where no terminal to ask on it is an error that names --yes.
func (e *Env) Ask(format string, args ...any) (bool, error) {
	question := term.SanitizeLine(fmt.Sprintf(format, args...))
	if !e.Term.Stdin || !e.Term.Stderr {
		return false, WithHint(Usagef("%s: no terminal to ask on", question), "answer yes with --yes")
	}
	fmt.Fprintf(e.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
