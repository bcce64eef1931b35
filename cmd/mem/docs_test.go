package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
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

// TestReadme runs the blocks of docs/tour.md that are marked console, one after the other, as a user types them at a
// terminal, and compares the output. In the page "..." stands for any text, and alone on a line for any lines.
func TestReadme(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: the tour is typed into a Unix shell")
	}
	tour := newTour(t)
	for _, block := range fenced(t, filepath.Join("..", "..", "docs", "tour.md"), "console") {
		for _, part := range strings.Split("\n"+block, "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			if got := tour.run(command); !like(want, got) {
				t.Errorf("$ %s\n--- got\n%s--- want\n%s", command, got, want)
			}
		}
	}
}

// A tour is a user at a terminal with an empty home and a copy of testdata/transcripts.
type tour struct {
	t    *testing.T
	dir  string
	vars map[string]string
}

func newTour(t *testing.T) *tour {
	t.Helper()
	r := &tour{t: t, dir: t.TempDir()}
	home := filepath.Join(r.dir, "home")
	must(t, os.Mkdir(home, 0o700))
	must(t, os.CopyFS(filepath.Join(r.dir, "testdata", "transcripts"), os.DirFS(filepath.Join("..", "..", "testdata", "transcripts"))))
	r.vars = map[string]string{
		"HOME": home, "TMPDIR": r.dir, "PATH": os.Getenv("PATH"), "TZ": "UTC", "LC_ALL": "C.UTF-8",
		"MEM_NOW": "2026-09-01T12:00:00Z", "NO_COLOR": "1",
	}
	return r
}

// run returns the output of a command: mem runs in this process, other commands run in the shell.
func (r *tour) run(command string) string {
	words := strings.Fields(command)
	if words[0] != "mem" {
		return r.shell(command)
	}
	var out bytes.Buffer
	env := app.OsEnv()
	env.Stdin, env.Stdout, env.Stderr = strings.NewReader(""), &out, &out
	env.Dir, env.Getenv = r.dir, func(name string) string { return r.vars[name] }
	env.Hostname = func() (string, error) { return "desk", nil }
	env.Uptime = func() time.Duration { return 0 } // nothing takes long enough for a progress bar
	env.Term = app.Term{Stdout: true, Stderr: true, Width: func() int { return 110 }}
	if code := run(r.t.Context(), env, append([]string{"--no-pager"}, words[1:]...)); code != app.ExitDone {
		r.t.Errorf("$ %s: exit status %d", command, code)
	}
	return out.String()
}

// shell runs a command in sh. Its directory and the variables that it exports are those of the next command.
func (r *tour) shell(command string) string {
	var out bytes.Buffer
	after := filepath.Join(r.vars["HOME"], "after")
	script := command + "\n{ pwd; echo \"$MEM_DIR\"; echo \"$CLAUDE_CONFIG_DIR\"; } >" + after
	cmd := exec.CommandContext(r.t.Context(), "sh", "-ec", script)
	cmd.Dir, cmd.Stdout, cmd.Stderr = r.dir, &out, &out
	for name, value := range r.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.Run(); err != nil {
		r.t.Errorf("$ %s: %v", command, err)
		return out.String()
	}
	b, err := os.ReadFile(after)
	must(r.t, err)
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	r.dir = lines[0]
	if len(lines) == 3 {
		r.vars["MEM_DIR"], r.vars["CLAUDE_CONFIG_DIR"] = lines[1], lines[2]
	}
	return out.String()
}

// like reports whether text matches pattern.
func like(pattern, text string) bool {
	p := regexp.QuoteMeta(strings.TrimRight(pattern, "\n"))
	p = regexp.MustCompile(`(?m)^\\\.\\\.\\\.$`).ReplaceAllString(p, `(?s:.*)`)
	p = strings.ReplaceAll(p, `\.\.\.`, `[^\n]*`)
	return regexp.MustCompile(`^` + p + `\n*$`).MatchString(text)
}

func TestLike(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, text string
		want          bool
	}{
		{"a b\n", "a b\n", true},
		{"a b", "a c\n", false},
		{"a ... c", "a b c\n", true},
		{"a...", "a\nb\n", false},
		{"a\n...\nd", "a\nb\nc\nd\n", true},
		{"a\n...", "a\nb\nc\n", true},
		{"a.", "ab\n", false},
	} {
		if got := like(tt.pattern, tt.text); got != tt.want {
			t.Errorf("like(%q, %q) = %v, want %v", tt.pattern, tt.text, got, tt.want)
		}
	}
}

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

// TestDocsRecording checks that the recording of the README shows the commands that mem demo runs, is an XML file and is small.
func TestDocsRecording(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "images", "demo.svg"))
	must(t, err)
	if len(b) > 200_000 {
		t.Errorf("the recording has %d bytes, want at most 200,000", len(b))
	}
	for d := xml.NewDecoder(bytes.NewReader(b)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	var out, errs bytes.Buffer
	env := testEnv(t, t.TempDir(), &out, &errs)
	if code := run(t.Context(), env, []string{"demo", "--sample"}); code != 0 {
		t.Fatalf("mem demo: exit status %d: %s", code, errs.String())
	}
	shown := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(b), ""))
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSuffix(line, "\n"); (strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "- ")) && !strings.Contains(shown, line) {
			t.Errorf("the recording does not show %q: go run ./testdata/record", line)
		}
	}
}
