package hookcmd

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/hooks"
)

// PluginPath returns mem hooks plugin-path, which writes the plugin and prints its path.
func PluginPath(e *app.Env) *cli.Command {
	return &cli.Command{
		Name:  "plugin-path",
		Usage: "write the Claude Code plugin and print its path",
		Description: "The plugin is written to the memory's directory, runs this program and is updated by\n" +
			"each run: claude --plugin-dir \"$(mem plugin-path)\". \"mem hooks install\" does the same\n" +
			"without a plugin; use one of the two.",
		Action: e.Action(0, 0, func(c *cli.Context) error {
			return runPluginPath(e)
		}),
	}
}

func runPluginPath(e *app.Env) error {
	store, err := e.MemoryDir()
	if err != nil {
		return err
	}
	p, err := hooksProgram(e)
	if err != nil {
		return err
	}
	dir := filepath.Join(store, "plugin")
	if err := hooks.WritePlugin(dir, p); err != nil {
		return err
	}
	if e.Opt.JSON {
		return e.PrintJSON("plugin-path", nil, "path", dir)
	}
	e.Printf("%s\n", e.Safe(dir))
	return nil
}
