package main

import (
	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// version returns mem version.
func version(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version; with -v, the build and the path",
		Action: e.Action(0, 0, func(c *cli.Context) error {
			return runVersion(e)
		}),
	}
}

func runVersion(e *app.Env) error {
	b := app.ThisBuild()
	if e.Opt.JSON || e.Opt.Verbose {
		path, err := e.Executable()
		if err != nil {
			path = "unknown" // the file was removed while it runs
		}
		b.Path = path
	}
	if e.Opt.JSON {
		return e.PrintJSON("version", b)
	}
	e.Printf("mem %s\n", b.Version)
	if e.Opt.Verbose {
		commit := b.Commit
		if b.Modified {
			commit += " with changes"
		}
		if commit == "" {
			commit = "unknown"
		}
		e.Printf("commit    %s\ngo        %s\nplatform  %s\npath      %s\n", commit, b.Go, b.Platform, e.Safe(b.Path))
	}
	return nil
}
