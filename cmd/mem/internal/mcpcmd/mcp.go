package mcpcmd

import (
	"context"
	"errors"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// Command returns mem mcp.
func Command(e *app.Env) *cli.Command {
	write := false
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve memory over the Model Context Protocol",
		Description: "Reads calls on standard input and answers on standard output until the input ends. The\n" +
			"tools are search, timeline, show, facts, suggest and compose. Removed, forgotten,\n" +
			"revoked data is not served. Without --write the server is read-only:\n" +
			"compose prints its plan, and keepit_add is absent.",
		Flags: []cli.Flag{app.BoolFlag(&write, "write", "add the tool keepit_add, and save compositions")},
		Action: e.Action(0, 0, func(c *cli.Context) error {
			in, out := io.NopCloser(e.Stdin), writeNopCloser{e.Stdout}
			err := serve(c.Context, served{e}, in, out, app.ThisBuild().Version, write)
			if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
				return nil
			}
			return err
		}),
	}
}

// A writeNopCloser is a writer whose Close does nothing, for standard output.
type writeNopCloser struct{ io.Writer }

func (writeNopCloser) Close() error { return nil }

// served answers the calls of tools. Each call opens the memory again, so data that was forgotten or revoked
// meanwhile is not found, and has its own options.
type served struct{ env *app.Env }

// run returns the environment of one call, which discards output.
func (s served) run() *app.Env {
	e := *s.env
	e.Stdin, e.Stderr, e.Term = eofReader{}, io.Discard, app.Term{}
	e.Out, e.Operands, e.Opt.JSON = app.NewOutput(io.Discard, false), nil, false
	return &e
}

type eofReader struct{}

func (eofReader) Read([]byte) (int, error) { return 0, io.EOF }
