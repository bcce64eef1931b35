package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/urfave/cli/v2"
)

type catFileOptions struct {
	size   bool
	exists bool
}

// CatFile returns mem cat-file.
func CatFile(e *app.Env) *cli.Command {
	var o catFileOptions
	return &cli.Command{
		Name:      "cat-file",
		Usage:     "print the content of an object",
		ArgsUsage: "<object>",
		Description: "An object is named b3:HASH, by a prefix of it, or by any revision that names content.\n" +
			"The content is verified against its name before it is printed.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.size, "size,s", "print its size only"),
			app.BoolFlag(&o.exists, "exists,e", "print nothing; the exit status is 0 if it exists"),
		},
		Action: func(c *cli.Context) error {
			if len(e.Operands) == 0 && e.Opt.Project != "" {
				return app.WithHint(app.Usagef("mem cat-file requires <object>"),
					"-p is --project here; it prints without it: mem cat-file "+e.Opt.Project)
			}
			if err := e.WantOperands(c, 1, 1); err != nil {
				return err
			}
			if e.Opt.JSON && !o.size && !o.exists {
				return app.WithHint(app.Usagef("mem cat-file prints the bytes of an object, which are not JSON"),
					term.Shell("mem", "cat-file", "-s", "--json", e.Operand(0)))
			}
			return runCatFile(c.Context, e, o, e.Operand(0))
		},
	}
}

func runCatFile(ctx context.Context, e *app.Env, o catFileOptions, name string) error {
	h, err := objects.ParseHash(strings.TrimPrefix(name, "b3:"))
	if err != nil || o.exists {
		return app.WithStore(e, func(m *layers.Memory) error { return catNamed(ctx, e, m, o, name) })
	}
	m, err := app.OpenObjects(e)
	if err != nil {
		return err
	}
	defer m.Close()
	return printObject(e, o, func(w io.Writer) error { return originals.WriteAnywhere(ctx, m.DB, h, w) })
}

// catNamed prints the object of a name that is not a whole hash.
func catNamed(ctx context.Context, e *app.Env, m *layers.Memory, o catFileOptions, name string) error {
	if h, err := objects.ParseHash(name); err == nil {
		name = "b3:" + h.String()
	}
	rev, err := resolveContent(ctx, e, m, name)
	var missing *state.NotFoundError
	if errors.As(err, &missing) && o.exists {
		return app.Exit(app.ExitNo)
	}
	if err != nil || o.exists {
		return err
	}
	return printObject(e, o, func(w io.Writer) error {
		return originals.WriteObject(ctx, m.DB, rev.Project.ID, rev.Hash, w)
	})
}

// printObject prints the object that write writes.
func printObject(e *app.Env, o catFileOptions, write func(io.Writer) error) error {
	if !o.size {
		return write(app.Stdout(e))
	}
	var n counter
	if err := write(&n); err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("cat-file", nil, "size", int64(n))
	}
	e.Printf("%d\n", n)
	return nil
}

// resolveContent resolves a name to an object. A hash needs no project.
func resolveContent(ctx context.Context, e *app.Env, m *layers.Memory, name string) (state.Rev, error) {
	var sc state.Scope
	if len(name) < 3 || name[:3] != "b3:" {
		var err error
		if sc, err = app.Scope(ctx, e, m); err != nil {
			return state.Rev{}, err
		}
	}
	rev, err := app.Run{Env: e, Memory: m, Scope: sc}.Resolve(ctx, name)
	if err != nil {
		return rev, err
	}
	if rev.Hash.IsZero() {
		return rev, app.WithHint(fmt.Errorf("%s has no content of its own", name),
			term.Shell("mem", "rev-parse", "--explain", name))
	}
	return rev, nil
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
