package main

import (
	"cmp"
	"runtime"

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
	b, platform := app.ThisBuild(), runtime.GOOS+"/"+runtime.GOARCH
	path, err := e.Executable()
	if err != nil {
		path = "unknown" // the file was removed while it runs
	}
	if e.Opt.JSON {
		return e.PrintJSON("version", nil, "version", b.Version, "commit,omitempty", b.Commit, "modified,omitempty", b.Modified,
			"go", runtime.Version(), "platform", platform, "path", path)
	}
	e.Printf("mem %s\n", b.Version)
	if e.Opt.Verbose {
		commit := b.Commit
		if b.Modified {
			commit += " with changes"
		}
		e.Printf("commit    %s\ngo        %s\nplatform  %s\npath      %s\n", cmp.Or(commit, "unknown"), runtime.Version(), platform, e.Safe(path))
	}
	return nil
}
