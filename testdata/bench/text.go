package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// material is what the generated sessions talk about: the source files of a project and sentences
// in plain English. Both come from the Go source tree, which every machine that can build mem has.
type material struct {
	name      string
	files     map[string]string // path -> text
	paths     []string
	sentences []string
}

// sources are the parts of the Go tree that stand for the user's projects.
var sources = []string{"net/http", "go/types", "crypto", "encoding", "runtime", "cmd/go/internal", "text", "database"}

// gather reads the material of every project.
func gather() ([]*material, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	var all []*material
	for _, dir := range sources {
		m := &material{name: filepath.Base(dir), files: map[string]string{}}
		if err := m.read(filepath.Join(strings.TrimSpace(string(root)), "src", dir)); err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// read takes the Go files under root that are neither tiny nor huge, at most 250 of them.
func (m *material) read(root string) error {
	seen := map[string]bool{}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || len(m.paths) == 250 {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || len(text) < 1500 || len(text) > 80_000 {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		m.paths = append(m.paths, rel)
		m.files[rel] = strings.ToValidUTF8(string(text), "?")
		for _, s := range comments(m.files[rel]) {
			if !seen[s] {
				seen[s] = true
				m.sentences = append(m.sentences, s)
			}
		}
		return nil
	})
}

// comments returns the sentences of a Go file's line comments.
func comments(text string) []string {
	var found []string
	var para strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "// "); ok {
			para.WriteString(rest + " ")
			continue
		}
		for s := range strings.SplitAfterSeq(para.String(), ". ") {
			if s = strings.TrimSpace(s); len(s) > 40 && len(s) < 400 {
				found = append(found, s)
			}
		}
		para.Reset()
	}
	return slices.Clip(found)
}
