package main

import (
	"context"
	"path/filepath"

	"github.com/memvcs/mem/cmd/mem/internal/cli"
	"github.com/memvcs/mem/hooks"
)

// pluginPath is the command that writes the plugin out and says where it is.
func (e *Env) pluginPath() *cli.Command {
	return &cli.Command{
		Name:  "plugin-path",
		Usage: "write the Claude Code plugin and print its path",
		Description: "It is in the memory's directory, runs this program, and is brought up to date by each run:\n" +
			"claude --plugin-dir \"$(mem plugin-path)\". \"mem hooks install\" does the same without a plugin; use one of the two.",
		Action: func(_ context.Context, c *cli.Command) error {
			if err := e.wantOperands(c, 0, 0); err != nil {
				return err
			}
			return e.runPluginPath()
		},
	}
}

func (e *Env) runPluginPath() error {
	store, err := e.memoryDir()
	if err != nil {
		return err
	}
	p, err := e.hooksProgram()
	if err != nil {
		return err
	}
	dir := filepath.Join(store, "plugin")
	if err := hooks.WritePlugin(dir, p); err != nil {
		return err
	}
	if e.opt.json {
		return e.printJSON("plugin-path", struct {
			Path string `json:"path"`
		}{dir})
	}
	e.printf("%s\n", e.safe(dir))
	return nil
}
