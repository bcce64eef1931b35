package hooks

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/memvcs/mem/hooks/settings"
)

// pluginFiles are the plugin as it stands in the repository, where it runs the mem that the PATH has.
//
//go:embed all:plugin
var pluginFiles embed.FS

// hooksFile is the file of the plugin that says which hooks there are.
const hooksFile = "plugin/hooks/hooks.json"

// Plugin returns the files of the plugin by name, with hooks that run p.
func Plugin(p settings.Program) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(pluginFiles, "plugin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := pluginFiles.ReadFile(name)
		if name == hooksFile && err == nil {
			b, err = pluginHooks(p)
		}
		files[name[len("plugin/"):]] = b
		return err
	})
	return files, err
}

// pluginHooks returns the hooks of the plugin.
func pluginHooks(p settings.Program) ([]byte, error) {
	b := []byte("{\n  \"description\": \"Capture sessions, and say what memory knows\",\n  \"hooks\": {}\n}\n")
	for _, e := range settings.Events() {
		var err error
		if b, err = settings.InstallOne(b, p, e); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// WritePlugin writes the plugin into dir, for p. Files that are as they should be are
// left alone, so a Claude Code that reads them is not disturbed.
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
		if err := settings.WriteFile(file, b); err != nil {
			return err
		}
	}
	return nil
}
