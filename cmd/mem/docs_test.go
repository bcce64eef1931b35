package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/refs/config"
)

// TestDocs checks that the tests and paths named by the pages exist, and the files that they link to.
func TestDocs(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	must(t, err)
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md"))
	tests := testNames(t, root)
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(?:/([A-Za-z]+))?`")
	link := regexp.MustCompile(`\]\(([^):#]+)\)`)
	path := regexp.MustCompile("`((?:cmd|docs|hooks|layers|lineage|objects|refs|testdata)/[A-Za-z0-9_/.-]+)`")
	for _, page := range pages {
		b, err := os.ReadFile(page)
		must(t, err)
		for _, m := range path.FindAllStringSubmatch(string(b), -1) {
			if strings.Contains(m[1], "/greet.") || filepath.Base(page) == "formats.md" {
				continue // the example of CONTRIBUTING.md, and paths inside a store
			}
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names the path %s: %v", page, m[1], err)
			}
		}
		for _, m := range name.FindAllStringSubmatch(string(b), -1) {
			if !tests[m[1]] || m[2] != "" && !tests[`"`+m[2]+`"`] {
				t.Errorf("%s names %s, which is no test", page, m[0])
			}
		}
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

// TestArchitecture checks that docs/architecture.md names each package, except those of single commands.
func TestArchitecture(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "architecture.md"))
	must(t, err)
	for _, p := range slices.Sorted(maps.Keys(imports())) {
		if !strings.HasSuffix(p, "cmd") && !strings.HasPrefix(p, "testdata") && !bytes.Contains(page, []byte("`"+p+"`")) {
			t.Errorf("architecture.md does not name %s", p)
		}
	}
}

// testNames returns the names of all tests and fuzz targets, and in quotes those of parts in tables.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(|^\s*\{("\w+"), `)
	must(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
			names[m[1]+m[2]] = true
		}
		return err
	}))
	return names
}

// TestSettingsAreRead checks that each setting that can be set is asked for somewhere.
func TestSettingsAreRead(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	must(t, err)
	inner, err := filepath.Glob("internal/*/*.go")
	must(t, err)
	files = append(files, inner...)
	var code strings.Builder
	for _, f := range files {
		if !strings.HasSuffix(f, "_test.go") {
			b, err := os.ReadFile(f)
			must(t, err)
			code.Write(b)
		}
	}
	for _, k := range config.Keys() {
		word := k.Name[strings.LastIndexByte(strings.TrimSuffix(k.Name, ".*"), '.')+1:]
		if word = strings.TrimSuffix(word, "*"); !strings.Contains(code.String(), `"`+word) && !strings.Contains(code.String(), "."+word) {
			t.Errorf("nothing reads the setting %s", k.Name)
		}
	}
}
