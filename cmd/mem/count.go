package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// count is the command that says how much something is.
func (e *Env) count() *cli.Command {
	return &cli.Command{
		Name:      "count",
		Usage:     "estimate tokens of files, stdin or stored texts",
		ArgsUsage: "<file|rev>...",
		Description: "Of a transcript only what a model would read counts. There is no exact count without a model's own tokenizer:\n" +
			"all counts are estimates. An operand that names a file is that file; - is stdin.",
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 1, -1); err != nil {
				return err
			}
			return e.runCount(ctx, e.operands)
		},
	}
}

// A countAnswer is a count as --json prints it.
type countAnswer struct {
	Name     string `json:"name"`
	Tokens   int    `json:"tokens"`
	Method   string `json:"method"`
	Exact    bool   `json:"exact"`
	Messages int    `json:"messages"`
	Bytes    int64  `json:"bytes"`
}

func (e *Env) runCount(ctx context.Context, names []string) error {
	answer := struct {
		countAnswer
		Parts []countAnswer `json:"parts,omitempty"`
	}{}
	var parts []countAnswer
	for _, name := range names {
		n, err := e.countOne(ctx, name)
		if err != nil {
			return err
		}
		parts = append(parts, countAnswer{Name: name, Tokens: n.Tokens, Method: n.Method, Messages: n.Messages, Bytes: n.Bytes})
	}
	if len(parts) == 1 {
		answer.countAnswer = parts[0]
	} else {
		answer.Name, answer.Method, answer.Parts = "total", parts[0].Method, parts
		for _, p := range parts {
			answer.Tokens, answer.Messages, answer.Bytes = answer.Tokens+p.Tokens, answer.Messages+p.Messages, answer.Bytes+p.Bytes
			if p.Method != answer.Method {
				answer.Method = "several"
			}
		}
	}
	if e.opt.json {
		return e.printJSON("count", answer)
	}
	if len(parts) == 1 {
		p := parts[0]
		messages := ""
		if p.Messages > 0 {
			messages = fmt.Sprintf(", %s message%s", tokens.Commas(p.Messages), plural(p.Messages))
		}
		e.printf("~%s tokens%s, %s\n", tokens.Commas(p.Tokens), messages, bytesText(p.Bytes))
		return nil
	}
	t := e.table(column{name: "tokens", right: true}, column{name: "msgs", right: true}, column{name: "size", right: true}, column{name: "name", shrinks: true})
	for _, p := range append(parts, answer.countAnswer) {
		t.row(cell{full: fmt.Sprint(p.Tokens), short: "~" + tokens.Commas(p.Tokens)}, cell{full: fmt.Sprint(p.Messages)}, cell{full: fmt.Sprint(p.Bytes), short: bytesText(p.Bytes)},
			cell{full: p.Name})
	}
	return t.flush()
}

// countOne counts stdin, a file or a revision.
func (e *Env) countOne(ctx context.Context, name string) (markers.Count, error) {
	if name == "-" {
		b, err := io.ReadAll(e.Stdin)
		if err != nil {
			return markers.Count{}, fmt.Errorf("read stdin: %w", err)
		}
		return e.countBytes(ctx, b)
	}
	b, err := os.ReadFile(e.path(name))
	if err == nil {
		return e.countBytes(ctx, b)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return markers.Count{}, err
	}
	var n markers.Count
	err = e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) error {
		rev, err := e.resolve(ctx, m, sc, name)
		var missing *state.NotFoundError
		if errors.As(err, &missing) && missing.What == "session" && missing.Name == name {
			return withHint(fatalf("there is no file and no session called '%s'", name), missingHints(missing)...)
		}
		if err == nil {
			n, err = m.Checkout().Count(ctx, rev)
		}
		if errors.Is(err, checkout.ErrFormatless) {
			return withHint(usagef("%s is a %s and has no tokens", name, rev.Kind), "mem help revisions")
		}
		return err
	})
	return n, err
}

func (e *Env) countBytes(ctx context.Context, b []byte) (markers.Count, error) {
	conf, err := e.settings()
	if err != nil {
		return markers.Count{}, err
	}
	model, err := conf.String("tokens.model")
	if err != nil {
		return markers.Count{}, err
	}
	return markers.CountBytes(ctx, b, model, runtime.GOMAXPROCS(0))
}
