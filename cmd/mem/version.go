package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
)

// release is the version of a build that does not know its own.
const release = "0.1.0"

// version is the command that says which mem this is.
func (e *Env) version() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version; with -v, the build and the path",
		Action: func(_ context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runVersion()
		},
	}
}

// A build says what this program was made of, as --json prints it.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Path     string `json:"path"`
}

func (e *Env) runVersion() error {
	b := thisBuild()
	if e.opt.json || e.opt.verbose {
		path, err := e.Executable()
		if err != nil {
			path = "unknown" // the file was removed while it runs
		}
		b.Path = path
	}
	if e.opt.json {
		return e.printJSON("version", b)
	}
	e.printf("mem %s\n", b.Version)
	if e.opt.verbose {
		commit := b.Commit
		if b.Modified {
			commit += " with changes"
		}
		if commit == "" {
			commit = "unknown"
		}
		e.printf("commit    %s\ngo        %s\nplatform  %s\npath      %s\n", commit, b.Go, b.Platform, e.safe(b.Path))
	}
	return nil
}

// thisBuild reads what the linker left in the program.
func thisBuild() build {
	b := build{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
