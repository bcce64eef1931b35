package main

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// hashObject is the command that names content, as b3sum does.
func (e *Env) hashObject() *cli.Command {
	var stdin bool
	return &cli.Command{
		Name:        "hash-object",
		Usage:       "print the BLAKE3 hash of a file",
		ArgsUsage:   "<file>...",
		Description: "The output is that of b3sum, and can be checked with b3sum --check. No memory is needed.",
		Flags:       []*cli.Flag{cli.Bool(&stdin, "stdin", "name what comes from stdin")},
		Action: func(ctx context.Context, c *cli.Command) error {
			names := e.operands
			if stdin {
				names = append([]string{"-"}, names...)
			} else if err := e.wantOperands(c, 1, -1); err != nil {
				return err
			}
			return e.runHashObject(ctx, names)
		},
	}
}

// A hashAnswer is the name of some content as --json prints it.
type hashAnswer struct {
	Hash  string `json:"hash"`
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}

func (e *Env) runHashObject(ctx context.Context, names []string) error {
	answer := struct {
		Objects []hashAnswer `json:"objects"`
		Errors  []string     `json:"errors"`
	}{[]hashAnswer{}, []string{}}
	var first error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, size, err := e.hashFile(name)
		if err != nil {
			if first == nil {
				first = err
			}
			if len(names) > 1 && !e.opt.json {
				e.say("%s %v", e.stderrStyle().red("error:"), err)
			}
			answer.Errors = append(answer.Errors, err.Error())
			continue
		}
		answer.Objects = append(answer.Objects, hashAnswer{h.String(), name, size})
		if !e.opt.json {
			mark, name := escapeName(name)
			e.printf("%s%s  %s\n", mark, h, e.safe(name))
		}
	}
	if first != nil && len(answer.Objects) == 0 {
		if len(names) > 1 && !e.opt.json {
			return exit(exitFatal) // each was named above
		}
		return first
	}
	if e.opt.json {
		if err := e.printJSON("hash-object", answer); err != nil {
			return err
		}
	}
	if first != nil {
		return exit(exitPartial)
	}
	return nil
}

func (e *Env) hashFile(name string) (objects.Hash, int64, error) {
	r := e.Stdin
	if name != "-" {
		f, err := os.Open(e.path(name))
		if err != nil {
			return objects.Hash{}, 0, err
		}
		defer f.Close()
		r = f
	}
	h := objects.NewHasher()
	n, err := io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{r}, make([]byte, 1<<20))
	if err != nil {
		return objects.Hash{}, n, err
	}
	return h.Sum(), n, nil
}

// escapeName writes the name of a file as b3sum does: one with a line break or a backslash is escaped, and
// the line starts with a backslash.
func escapeName(name string) (mark, escaped string) {
	if !strings.ContainsAny(name, "\n\\") {
		return "", name
	}
	return `\`, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(name)
}

// lsObjects is the command that lists the names of objects.
func (e *Env) lsObjects() *cli.Command {
	return &cli.Command{
		Name:  "ls-objects",
		Usage: "list the names of all objects of the project",
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runLsObjects(ctx)
		},
	}
}

func (e *Env) runLsObjects(ctx context.Context) error {
	return e.withMemory(ctx, func(m *layers.Memory, sc state.Scope) (err error) {
		projects := []state.Project{sc.Project}
		if e.opt.allProjects {
			if projects, err = m.Trusted().Projects(ctx); err != nil {
				return err
			}
		}
		var names []objects.Hash
		for _, p := range projects {
			more, err := m.Markers().Objects(ctx, p.ID)
			if err != nil {
				return err
			}
			names = append(names, more...)
		}
		slices.SortFunc(names, objects.Hash.Compare)
		names = slices.Compact(names)
		if e.opt.json {
			return e.printJSON("ls-objects", struct {
				Objects []objects.Hash `json:"objects"`
			}{append([]objects.Hash{}, names...)})
		}
		for _, h := range names {
			e.printf("%s\n", h)
		}
		return nil
	})
}
