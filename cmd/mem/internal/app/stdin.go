package app

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// FromInput replaces the operand "-" by the revisions on standard input: the first word of each line of mem suggest.
func FromInput(e *Env, operands []string) (out []string, err error) {
	for _, s := range operands {
		if s != "-" {
			out = append(out, s)
			continue
		}
		in := bufio.NewScanner(io.LimitReader(e.Stdin, 1<<20))
		n := len(out)
		for in.Scan() {
			if words := strings.Fields(in.Text()); len(words) > 0 {
				out = append(out, words[0])
			}
		}
		if err := in.Err(); err != nil {
			return nil, fmt.Errorf("read the revisions: %w", err)
		}
		if len(out) == n {
			return nil, WithHint(Usagef("no revision on standard input"), "mem suggest | mem compose NAME -")
		}
	}
	return out, nil
}
