package settings

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Program is the program that hooks run.
type Program struct {
	Path  string // of mem, or a name in PATH
	Store string // the memory for --mem-dir, "" for the default
	Bare  bool   // run without a shell
}

// A shell runs mem, because Claude Code reads the exit status 2 as "block". A Go program exits with 2 before main if
// it gets no memory or finds a malformed GOMEMLIMIT, and a shell does if it cannot fork, hence the trap. If the
// program was deleted, the hook reads its input and exits with 0.
const (
	shell      = "/bin/sh"
	shellGuard = `trap 'case $? in 2) exit 1;; 127) exit 0;; esac' EXIT; ` +
		`command -v "$0" >/dev/null || exec cat >/dev/null; unset GOMEMLIMIT GOGC; "$0" "$@"`

	storeOption = "--mem-dir"
)

// Argv returns the command line of the hook of an event: the program and its arguments.
func (p Program) Argv(e Event) (string, []string) {
	args := []string{"hook", e.Arg()}
	if p.Store != "" {
		args = append(args, storeOption, p.Store)
	}
	if p.Bare {
		return p.Path, args
	}
	return shell, append([]string{"-c", ShellScript(e), p.Path}, args...)
}

// ShellScript returns what the shell runs at e. It begins with the name of the hook, because the list of hooks of Claude
// Code shows only the first 50 characters of a command line.
func ShellScript(e Event) string { return ": mem hook " + e.Arg() + "; " + shellGuard }

// MCP returns the command line of the MCP server.
func (p Program) MCP() (string, []string) {
	args := []string{"mcp"}
	if p.Store != "" {
		args = append(args, storeOption, p.Store)
	}
	return p.Path, args
}

// A Handler is one hook in the settings of Claude Code.
type Handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	Timeout int      `json:"timeout,omitempty"`
	Status  string   `json:"statusMessage,omitempty"` // what the client shows while the hook runs
}

// HandlerOf returns the hook that runs p at e.
func HandlerOf(p Program, e Event) Handler {
	command, args := p.Argv(e)
	return Handler{"command", command, args, timeout(e), "mem hook " + e.Arg()}
}

// program returns the program and the event in the arguments of the handler, if it is a hook of mem.
func (h Handler) program() (p Program, e Event, ok bool) {
	p, args := Program{Path: h.Command, Bare: true}, h.Args
	if filepath.Base(h.Command) == filepath.Base(shell) && len(args) > 3 && args[0] == "-c" {
		p, args = Program{Path: args[2]}, args[3:]
	}
	if len(args) == 4 && args[2] == storeOption {
		p.Store, args = args[3], args[:2]
	}
	if len(args) != 2 || args[0] != "hook" || !isMem(p.Path) {
		return p, "", false
	}
	e, ok = ParseEvent(args[1])
	return p, e, ok
}

// memHook returns the hook at n, if it is one of mem.
func memHook(n *node) (f Found, ok bool) {
	var h Handler
	if n.Kind != '{' || json.Unmarshal(n.Plain(), &h) != nil {
		return f, false
	}
	f.Program, f.Answers, ok = h.program()
	if !ok {
		return f, false
	}
	want := HandlerOf(f.Program, f.Answers)
	f.Current = h.Command == want.Command && slices.Equal(h.Args, want.Args) && h.Timeout == want.Timeout
	return f, true
}

// isMem reports whether the name of a program is mem or that of a download or copy: mem-1.2, mem_linux_amd64, mem.exe,
// mem2.
func isMem(command string) bool {
	rest, ok := strings.CutPrefix(filepath.Base(strings.ReplaceAll(command, `\`, "/")), "mem")
	r, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLetter(r))
}
