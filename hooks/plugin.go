package hooks

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/refs/disk"
)

// pluginFiles is the plugin of the repository. It runs the mem in the PATH.
//
//go:embed all:plugin
var pluginFiles embed.FS

// The files of the plugin that name the program: its hooks and its MCP server.
const (
	hooksFile = "plugin/hooks/hooks.json"
	mcpFile   = "plugin/.mcp.json"
)

// Plugin returns the files of the plugin by name, with hooks and an MCP server that run p.
func Plugin(p settings.Program) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(pluginFiles, "plugin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := pluginFiles.ReadFile(name)
		switch {
		case err != nil:
		case name == hooksFile:
			b, err = pluginHooks(p)
		case name == mcpFile:
			b, err = pluginMCP(p)
		}
		files[name[len("plugin/"):]] = b
		return err
	})
	return files, err
}

// pluginHooks returns the hooks of the plugin.
func pluginHooks(p settings.Program) ([]byte, error) {
	b := []byte("{\n  \"description\": \"Capture sessions, and show what memory knows\",\n  \"hooks\": {}\n}\n")
	for _, e := range settings.Events() {
		var err error
		if b, err = settings.InstallOne(b, p, e); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// pluginMCP returns the list of MCP servers of the plugin: p, read-only. It needs no shell, because Claude Code ignores
// the exit code of a server.
func pluginMCP(p settings.Program) ([]byte, error) {
	type server struct {
		Command string   `json:"command"`
		Args    []string `json:"args"`
	}
	command, args := p.MCP()
	servers := map[string]server{settings.PluginName: {command, args}}
	b, err := json.MarshalIndent(map[string]any{"mcpServers": servers}, "", "  ")
	return append(b, '\n'), err
}

// WritePlugin writes the plugin for p to dir. It does not touch files that have the right content, so it does not
// disturb a Claude Code that reads them.
func WritePlugin(dir string, p settings.Program) error {
	files, err := Plugin(p)
	if err != nil {
		return err
	}
	for name, b := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		old, err := os.ReadFile(file)
		if err == nil && bytes.Equal(old, b) {
			continue
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := withDir(file, func() error { return disk.WriteFile(file, b) }); err != nil {
			return err
		}
	}
	return nil
}
