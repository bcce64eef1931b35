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

// scopesOf returns the named scope, or all scopes with a settings file of their own: in the home directory the file of the
// project is that of the user.
func scopesOf(e *app.Env, only string) (out []string) {
	if only != "" {
		return []string{only}
	}
	seen := map[string]bool{}
	for _, scope := range hookScopes() {
		if f, err := SettingsOf(e, scope); err != nil || !seen[f.Path] {
			seen[f.Path] = true
			out = append(out, scope)
		}
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

	Problem string `json:"-"` // "" for none
	Fix     string `json:"-"` // the command or edit that fixes it
	Grave   bool   `json:"-"` // sessions are lost, not just older hooks
}

func (in *HooksInFile) wrong(state string, grave bool, fix, format string, args ...any) {
	in.State, in.Grave, in.Fix, in.Problem = state, grave, fix, fmt.Sprintf(format, args...)
}

// hooksIn returns the state of the hooks in one settings file; self is the path of this program.
func hooksIn(scope string, f settings.SettingsFile, self string) HooksInFile {
	in := HooksInFile{Scope: scope, File: f.Path, State: "none", Commands: []string{}, Missing: []string{}}
	found, disabled, err := f.Installed()
	if err != nil {
		in.Error = err.Error()
		in.wrong("unreadable", true, app.EditCommand(f.Path, "make it valid JSON"), "%s: %v", f.Path, err)
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
	again := "mem hooks install --scope " + scope
	switch {
	case len(found) == 0:
		in.Missing = []string{}
	case disabled:
		in.wrong("disabled", false, app.EditCommand(f.Path, "remove \"disableAllHooks\""), "all hooks are disabled in %s", f.Path)
	case len(in.Missing) > 0:
		in.wrong("incomplete", true, again, "hooks are missing in %s: %s", f.Path, strings.Join(in.Missing, ", "))
	case len(in.Commands) != 1 || in.Commands[0] != self:
		in.wrong("another program", true, again, "the hooks in %s run %s, this program is %s", f.Path, strings.Join(in.Commands, ", "), self)
	case slices.ContainsFunc(in.Stores, func(s string) bool { return !term.SameFile(s, f.Store) && s != f.Store }):
		in.wrong("another memory", true, again, "the hooks in %s write to %s, this memory is %s", f.Path, strings.Join(in.Stores, ", "), f.Store)
	case slices.ContainsFunc(found, func(h settings.Found) bool { return !h.Current }):
		in.wrong("outdated", false, again, "the hooks in %s are of another version of mem", f.Path)
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
