package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

type catFileOptions struct {
	size   bool
	exists bool
}

// catFile is the command that prints an object.
func (e *Env) catFile() *cli.Command {
	var o catFileOptions
	return &cli.Command{
		Name:      "cat-file",
		Usage:     "print the content of an object",
		ArgsUsage: "<object>",
		Description: "An object is named b3:HASH, or the start of it, or by any revision that names content. What is printed has been\n" +
			"checked against its name.",
		Flags: []*cli.Flag{
			cli.Bool(&o.size, "size,s", "print its size only"),
			cli.Bool(&o.exists, "exists,e", "print nothing; the exit status says whether it is there"),
		},
		Action: func(ctx context.Context, c *cli.Command) error {
			if len(e.operands) == 0 && e.opt.project != "" {
				return withHint(usagef("mem cat-file wants <object>"), "-p is --project here; it prints without it: mem cat-file "+e.opt.project)
			}
			if err := e.wantOperands(c, 1, 1); err != nil {
				return err
			}
			if e.opt.json && !o.size && !o.exists {
				return withHint(usagef("mem cat-file prints the bytes of an object, which are no JSON"), shell("mem", "cat-file", "-s", "--json", e.operand(0)))
			}
			return e.runCatFile(ctx, o, e.operand(0))
		},
	}
}

func (e *Env) runCatFile(ctx context.Context, o catFileOptions, name string) error {
	h, err := objects.ParseHash(strings.TrimPrefix(name, "b3:"))
	if err != nil || o.exists {
		return e.withStore(func(m *layers.Memory) error { return e.catNamed(ctx, m, o, name) })
	}
	m, err := e.objectsOnly()
	if err != nil {
		return err
	}
	defer m.Close()
	return e.printObject(o, func(w io.Writer) error { return m.Originals().WriteAnywhere(ctx, h, w) })
}

// catNamed is cat-file of what need not be named by its whole hash.
func (e *Env) catNamed(ctx context.Context, m *layers.Memory, o catFileOptions, name string) error {
	if h, err := objects.ParseHash(name); err == nil {
		name = "b3:" + h.String()
	}
	rev, err := e.resolveContent(ctx, m, name)
	var missing *state.NotFoundError
	if errors.As(err, &missing) && o.exists {
		return exit(exitNo)
	}
	if err != nil || o.exists {
		return err
	}
	return e.printObject(o, func(w io.Writer) error { return m.Originals().WriteObject(ctx, rev.Project.ID, rev.Hash, w) })
}

// printObject prints what write gives of an object.
func (e *Env) printObject(o catFileOptions, write func(io.Writer) error) error {
	if !o.size {
		return write(e.outlet())
	}
	var n counter
	if err := write(&n); err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("cat-file", struct {
			Size int64 `json:"size"`
		}{int64(n)})
	}
	e.printf("%d\n", n)
	return nil
}

// resolveContent finds the object that a name stands for. An object's own name needs no project.
func (e *Env) resolveContent(ctx context.Context, m *layers.Memory, name string) (state.Rev, error) {
	var sc state.Scope
	if len(name) < 3 || name[:3] != "b3:" {
		var err error
		if sc, err = e.scope(ctx, m); err != nil {
			return state.Rev{}, err
		}
	}
	rev, err := e.resolve(ctx, m, sc, name)
	if err != nil {
		return rev, err
	}
	if rev.Hash.IsZero() {
		return rev, withHint(fatalf("%s has no content of its own", name), shell("mem", "rev-parse", "--explain", name))
	}
	return rev, nil
}

// A counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
