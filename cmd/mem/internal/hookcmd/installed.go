package hookcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/hooks/settings"
)

// hookScopes returns the scopes of Claude Code's settings, the narrowest last.
func hookScopes() []string { return []string{"user", "project", "local"} }

// DistinctScopes returns the scopes with a settings file of their own: in the home directory the file of the project is
// that of the user.
func DistinctScopes(e *app.Env) (out []string) {
	seen := map[string]bool{}
	for _, scope := range hookScopes() {
		f, err := SettingsOf(e, scope)
		if err == nil && seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		out = append(out, scope)
	}
	return out
}

// SettingsOf returns the settings file of a scope.
func SettingsOf(e *app.Env, scope string) (settings.SettingsFile, error) {
	store, err := e.MemoryDir()
	if err != nil {
		return settings.SettingsFile{}, err
	}
	dir, name := filepath.Join(projectRoot(e), ".claude"), "settings.json"
	switch scope {
	case "", "user":
		dir, err = e.ClaudeDir()
	case "local":
		name = "settings.local.json"
	}
	return settings.SettingsFile{Path: filepath.Join(dir, name), Store: store}, err
}

// projectRoot returns the root of the git repository that contains the working directory, else that directory.
func projectRoot(e *app.Env) string {
	for d := filepath.Clean(e.Dir); ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if filepath.Dir(d) == d {
			return e.Dir
		}
	}
}

// hooksProgram returns the program for hooks to run: this one, with the memory in use unless it is the default.
func hooksProgram(e *app.Env) (p settings.Program, err error) {
	p.Bare = runtime.GOOS == "windows"
	if p.Path, err = ownPath(e); err != nil {
		return p, err
	}
	dir, err := e.MemoryDir()
	if err != nil {
		return p, err
	}
	if usual, err := e.UnderHome(".claude-memory", "MEM_DIR"); err != nil || dir != usual {
		p.Store = dir
	}
	return p, nil
}

// ownPath returns the path of this program as settings can name it.
func ownPath(e *app.Env) (string, error) {
	self, err := e.Executable()
	if err != nil {
		return "", err
	}
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "", app.WithHint(fmt.Errorf("%s exists only while \"go run\" runs", self), "go install ./cmd/mem")
	}
	return self, nil
}

// HooksInFile is the state of mem's hooks in one settings file.
type HooksInFile struct {
	Scope string `json:"scope"`
	File  string `json:"file"`
	// installed, none, incomplete, outdated, "another program", "another memory", disabled, unreadable
	State    string   `json:"state"`
	Commands []string `json:"commands"`
	Stores   []string `json:"stores,omitempty"` // the memories in the hooks' commands
	Missing  []string `json:"missing"`
	Error    string   `json:"error,omitempty"`
}

// HooksIn returns the state of the hooks in one settings file; self is the path of this program.
func HooksIn(scope string, f settings.SettingsFile, self string) HooksInFile {
	in := HooksInFile{Scope: scope, File: f.Path, State: "none", Commands: []string{}, Missing: []string{}}
	found, disabled, err := f.Installed()
	if err != nil {
		in.State, in.Error = "unreadable", err.Error()
		return in
	}
	for _, h := range found {
		if !slices.Contains(in.Commands, h.Program.Path) {
			in.Commands = append(in.Commands, h.Program.Path)
		}
		if s := h.Program.Store; s != "" && !slices.Contains(in.Stores, s) {
			in.Stores = append(in.Stores, s)
		}
	}
	for _, ev := range settings.Events() {
		if !slices.ContainsFunc(found, func(h settings.Found) bool { return h.Event == ev && h.Answers == ev }) {
			in.Missing = append(in.Missing, string(ev))
		}
	}
	switch {
	case len(found) == 0:
		in.Missing = []string{}
	case disabled:
		in.State = "disabled"
	case len(in.Missing) > 0:
		in.State = "incomplete"
	case len(in.Commands) != 1 || in.Commands[0] != self:
		in.State = "another program"
	case slices.ContainsFunc(in.Stores, func(s string) bool { return !term.SameFile(s, f.Store) && s != f.Store }):
		in.State = "another memory"
	case slices.ContainsFunc(found, func(h settings.Found) bool { return !h.Current }):
		in.State = "outdated"
	default:
		in.State = "installed"
	}
	return in
}

// LastLines returns the last n lines of a file, none if it cannot be read.
func LastLines(file string, n int) []string {
	b, err := os.ReadFile(file)
	if err != nil {
		return []string{}
	}
	lines := strings.Split(strings.TrimRight(string(b), "\n"), "\n")
	return lines[max(0, len(lines)-n):]
}
