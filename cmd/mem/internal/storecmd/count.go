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

// runCount prints the estimated tokens of files and revisions.
func runCount(ctx context.Context, e *app.Env, names []string) error {
	total := markers.Count{}
	var parts []markers.Count
	for i, name := range names {
		n, err := countOne(ctx, e, name)
		if err != nil {
			return err
		}
		if parts = append(parts, n); i > 0 && n.Method != total.Method {
			n.Method = "several"
		}
		total.Method, total.Tokens = n.Method, total.Tokens+n.Tokens
		total.Messages, total.Bytes = total.Messages+n.Messages, total.Bytes+n.Bytes
	}
	object := func(name string, n markers.Count) app.Object {
		return app.Object{"name", name, "tokens", n.Tokens, "method", n.Method, "exact", false, "messages", n.Messages, "bytes", n.Bytes}
	}
	if len(parts) == 1 {
		if e.Opt.JSON {
			return e.PrintJSON("count", nil, object(names[0], total)...)
		}
		messages := app.If(total.Messages > 0, ", "+term.Count(total.Messages, "message"))
		e.Printf("~%s tokens%s, %s\n", tokens.Commas(total.Tokens), messages, app.BytesText(total.Bytes))
		return nil
	}
	l := e.List("count", "parts", app.Column{Name: "tokens", Right: true}, app.Column{Name: "msgs", Right: true},
		app.Column{Name: "size", Right: true}, app.Column{Name: "name", Shrinks: true})
	cells := func(name string, n markers.Count) []any {
		return []any{app.Cell{Full: fmt.Sprint(n.Tokens), Short: "~" + tokens.Commas(n.Tokens)}, n.Messages, bytesCell(n.Bytes), name}
	}
	for i, n := range parts {
		l.Add(object(names[i], n), cells(names[i], n)...)
	}
	l.Row(cells("total", total)...)
	return l.Print(object("total", total)...)
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
	err = app.WithMemory(ctx, e, func(run app.Run) error {
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
	return markers.CountBytes(ctx, b, conf.String("tokens.model"), runtime.GOMAXPROCS(0))
}
