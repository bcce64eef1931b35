package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocsPackaging checks the files of a release: the systems and formats, and that the named files exist or are
// made by a command of mem. If goreleaser is installed, it checks the whole file.
func TestDocsPackaging(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	b, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	must(t, err)
	text := string(b)
	for _, want := range []string{
		"version: 2\n", "goos: [linux, darwin, windows]", "formats: [deb, rpm]", "homebrew_casks:", "checksum:", "sboms:", "CGO_ENABLED=0",
		"help --man-dir dist-extra/man", "completion $s > dist-extra/completions/mem.$s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf(".goreleaser.yaml does not say %q", want)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+- (?:src: )?([A-Z]+(?:\.md)?)$`).FindAllStringSubmatch(text, -1) {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf(".goreleaser.yaml names %s: %v", m[1], err)
		}
	}
	for _, m := range regexp.MustCompile(`completions/mem\.([a-z]+)`).FindAllStringSubmatch(text, -1) {
		if !slices.Contains(shells(), m[1]) {
			t.Errorf(".goreleaser.yaml names the shell %s", m[1])
		}
	}
	for _, name := range []string{"test.yml", "release.yml"} {
		b, err := os.ReadFile(filepath.Join(root, ".github", "workflows", name))
		must(t, err)
		if !bytes.Contains(b, []byte("go test -timeout 30m ./...")) || !bytes.Contains(b, []byte("goreleaser/goreleaser-action")) || bytes.ContainsRune(b, '\t') {
			t.Errorf("%s does not run the tests and goreleaser, or has a tab", name)
		}
	}
	goreleaser, err := exec.LookPath("goreleaser")
	if err != nil {
		t.Skip("SKIPPED: goreleaser is not here to check .goreleaser.yaml")
	}
	cmd := exec.CommandContext(t.Context(), goreleaser, "check", "-f", ".goreleaser.yaml")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("goreleaser check: %v\n%s", err, out)
	}
}

// TestDocsMarketplace checks that the marketplace of the repository names the plugin that mem writes.
func TestDocsMarketplace(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	var market struct {
		Name    string
		Plugins []struct{ Name, Source string }
	}
	var plugin, inside struct{ Name string }
	read := func(v any, path ...string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
		must(t, err)
		must(t, json.Unmarshal(b, v))
	}
	read(&market, ".claude-plugin", "marketplace.json")
	if len(market.Plugins) != 1 || !strings.HasPrefix(market.Plugins[0].Source, "./") {
		t.Fatalf("the marketplace is %+v, want one plugin below it", market)
	}
	read(&plugin, market.Plugins[0].Source, ".claude-plugin", "plugin.json")
	read(&inside, market.Plugins[0].Source, ".claude-plugin", "marketplace.json")
	if plugin.Name != market.Plugins[0].Name || inside.Name != market.Name {
		t.Errorf("the marketplace %q offers %q; the plugin is %q of %q", market.Name, market.Plugins[0].Name, plugin.Name, inside.Name)
	}
}
