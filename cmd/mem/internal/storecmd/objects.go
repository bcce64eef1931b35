package storecmd

import (
	"context"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/objects"
)

// HashObject returns mem hash-object.
func HashObject(e *app.Env) *cli.Command {
	var stdin bool
	return &cli.Command{
		Name:      "hash-object",
		Usage:     "print the BLAKE3 hash of a file",
		ArgsUsage: "<file>...",
		Description: "The output has the format of b3sum and can be verified with b3sum --check. No memory is\n" +
			"needed.",
		Flags: []cli.Flag{app.BoolFlag(&stdin, "stdin", "name what comes from stdin")},
		Action: func(c *cli.Context) error {
			names := e.Operands
			if stdin {
				names = append([]string{"-"}, names...)
			} else if err := e.WantOperands(c, 1, -1); err != nil {
				return err
			}
			return runHashObject(c.Context, e, names)
		},
	}
}

func runHashObject(ctx context.Context, e *app.Env, names []string) error {
	allObjects := []app.Object{}
	failed := []string{}
	var first error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, size, err := hashFile(e, name)
		if err != nil {
			if first == nil {
				first = err
			}
			if len(names) > 1 && !e.Opt.JSON {
				e.Message("%s %v", e.StderrStyle().Red("error:"), err)
			}
			failed = append(failed, err.Error())
			continue
		}
		allObjects = append(allObjects, app.Object{"hash", h.String(), "name", name, "bytes", size})
		if !e.Opt.JSON {
			mark, name := escapeName(name)
			e.Printf("%s%s  %s\n", mark, h, e.Safe(name))
		}
	}
	if first != nil && len(allObjects) == 0 {
		if len(names) > 1 && !e.Opt.JSON {
			return app.Exit(app.ExitFatal) // each was named above
		}
		return first
	}
	if e.Opt.JSON {
		if err := e.PrintJSON("hash-object", nil, "objects", allObjects, "errors", failed); err != nil {
			return err
		}
	}
	if first != nil {
		return app.Exit(app.ExitPartial)
	}
	return nil
}

func hashFile(e *app.Env, name string) (objects.Hash, int64, error) {
	r := e.Stdin
	if name != "-" {
		f, err := os.Open(e.Path(name))
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

// escapeName escapes line breaks and backslashes in the name of a file, as b3sum does; prefix is a backslash if there
// were any.
func escapeName(name string) (mark, escaped string) {
	if !strings.ContainsAny(name, "\n\\") {
		return "", name
	}
	return `\`, strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(name)
}

// LsObjects returns mem ls-objects.
func LsObjects(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:   "ls-objects",
		Usage:  "list the names of all objects of the project",
		Action: app.Action(e, 0, 0, runLsObjects),
	}
}

func runLsObjects(ctx context.Context, run app.Run) error {
	projects, err := run.ListedProjects(ctx)
	if err != nil {
		return err
	}
	var names []objects.Hash
	for _, p := range projects {
		more, err := markers.Objects(ctx, run.DB, p.ID)
		if err != nil {
			return err
		}
		names = append(names, more...)
	}
	slices.SortFunc(names, objects.Hash.Compare)
	names = slices.Compact(names)
	if run.Opt.JSON {
		return run.PrintJSON("ls-objects", nil, "objects", append([]objects.Hash{}, names...))
	}
	for _, h := range names {
		run.Printf("%s\n", h)
	}
	return nil
}
