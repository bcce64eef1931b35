package hooks

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// pluginFiles are the plugin as it stands in the repository, where it runs the mem that the PATH has.
//
//go:embed all:plugin
var pluginFiles embed.FS

// Plugin returns the files of the plugin by name, for a mem that is found at command.
func Plugin(command string) (map[string][]byte, error) {
	quoted, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	err = fs.WalkDir(pluginFiles, "plugin", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := pluginFiles.ReadFile(name)
		if name == "plugin/hooks/hooks.json" {
			b = bytes.ReplaceAll(b, []byte(`"command": "mem"`), append([]byte(`"command": `), quoted...))
		}
		files[name[len("plugin/"):]] = b
		return err
	})
	return files, err
}

// WritePlugin writes the plugin into dir, for a mem that is found at command. Files that are as they should be are
// left alone, so a Claude Code that reads them is not disturbed.
func WritePlugin(dir, command string) error {
	files, err := Plugin(command)
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
		if err := writeFile(file, b); err != nil {
			return err
		}
	}
	return nil
}
