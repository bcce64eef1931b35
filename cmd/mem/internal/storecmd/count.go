package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/names"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
)

// Count returns mem count.
func Count(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:      "count",
		Usage:     "estimate tokens of files, stdin or stored texts",
		ArgsUsage: "<file|rev>...",
		Description: "Of a transcript, only the text that a model reads is counted. All counts are estimates:\n" +
			"an exact count needs the model's own tokenizer. An operand that names a file is that\n" +
			"file; - is standard input.",
		Action: e.Action(1, -1, func(c *cli.Context) error {
			return runCount(c.Context, e, e.Operands)
		}),
	}
}

// A countAnswer is the JSON form of a count.
type countAnswer struct {
	Name     string `json:"name"`
	Tokens   int    `json:"tokens"`
	Method   string `json:"method"`
	Exact    bool   `json:"exact"`
	Messages int    `json:"messages"`
	Bytes    int64  `json:"bytes"`
}

// runCount prints the estimated tokens of files and revisions.
func runCount(ctx context.Context, e *app.Env, names []string) error {
	answer := struct {
		countAnswer
		Parts []countAnswer `json:"parts,omitempty"`
	}{}
	var parts []countAnswer
	for _, name := range names {
		n, err := countOne(ctx, e, name)
		if err != nil {
			return err
		}
		parts = append(parts, countAnswer{Name: name, Tokens: n.Tokens, Method: n.Method, Messages: n.Messages,
			Bytes: n.Bytes})
	}
	if len(parts) == 1 {
		answer.countAnswer = parts[0]
	} else {
		answer.Name, answer.Method, answer.Parts = "total", parts[0].Method, parts
		for _, p := range parts {
			answer.Tokens, answer.Messages, answer.Bytes = answer.Tokens+p.Tokens, answer.Messages+p.Messages,
				answer.Bytes+p.Bytes
			if p.Method != answer.Method {
				answer.Method = "several"
			}
		}
	}
	if e.Opt.JSON {
		return e.PrintJSON("count", answer)
	}
	if len(parts) == 1 {
		p := parts[0]
		messages := ""
		if p.Messages > 0 {
			messages = fmt.Sprintf(", %s message%s", tokens.Commas(p.Messages), term.Plural(p.Messages))
		}
		e.Printf("~%s tokens%s, %s\n", tokens.Commas(p.Tokens), messages, app.BytesText(p.Bytes))
		return nil
	}
	t := e.Table(app.Column{Name: "tokens", Right: true}, app.Column{Name: "msgs", Right: true},
		app.Column{Name: "size", Right: true}, app.Column{Name: "name", Shrinks: true})
	for _, p := range append(parts, answer.countAnswer) {
		t.Row(app.Cell{Full: fmt.Sprint(p.Tokens), Short: "~" + tokens.Commas(p.Tokens)},
			app.Cell{Full: fmt.Sprint(p.Messages)}, app.Cell{Full: fmt.Sprint(p.Bytes), Short: app.BytesText(p.Bytes)},
			app.Cell{Full: p.Name})
	}
	return t.Flush()
}

// countOne counts stdin, a file or a revision.
func countOne(ctx context.Context, e *app.Env, name string) (markers.Count, error) {
	if name == "-" {
		b, err := io.ReadAll(e.Stdin)
		if err != nil {
			return markers.Count{}, fmt.Errorf("read stdin: %w", err)
		}
		return countBytes(ctx, e, b)
	}
	b, err := os.ReadFile(e.Path(name))
	if err == nil {
		return countBytes(ctx, e, b)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return markers.Count{}, err
	}
	var n markers.Count
	err = names.WithMemory(ctx, e, func(run names.Run) error {
		rev, err := run.Resolve(ctx, name)
		var missing *state.NotFoundError
		if errors.As(err, &missing) && missing.What == "session" && missing.Name == name {
			return app.WithHint(fmt.Errorf("no file and no session is called '%s'", name), app.MissingHints(missing)...)
		}
		if err == nil {
			n, err = checkout.Count(ctx, run.DB, rev)
		}
		if errors.Is(err, checkout.ErrFormatless) {
			return app.WithHint(app.Usagef("%s is a %s and has no tokens", name, rev.Kind), "mem help revisions")
		}
		return err
	})
	return n, err
}

func countBytes(ctx context.Context, e *app.Env, b []byte) (markers.Count, error) {
	conf, err := e.Settings()
	if err != nil {
		return markers.Count{}, err
	}
	model, err := conf.String("tokens.model")
	if err != nil {
		return markers.Count{}, err
	}
	return markers.CountBytes(ctx, b, model, runtime.GOMAXPROCS(0))
}
