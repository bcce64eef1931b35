package handover

import (
	"path"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/names"
)

// inspectors are programs that read or move files. They do not show how a project is built and tested.
var inspectors = strings.Fields(
	"ls cat cd echo rm mkdir head tail sed awk wc find grep egrep fgrep rg fd cp mv touch pwd which sleep true false " +
		"test chmod chown sort uniq diff tree file stat du df ps kill pkill export source printf date ln xargs tee " +
		"less more env set unset read exit return cut tr jq open code vim nano basename dirname realpath git : [ " +
		"type command")

// prefixes may precede a command and are ignored.
var prefixes = strings.Fields("sudo time nohup nice command exec then do else env ( { !")

// runners are programs whose subcommand is part of the name of a command.
var runners = strings.Fields(
	"go npm npx pnpm yarn bun cargo make mise uv pip python python3 node docker gh task just dotnet mvn gradle poetry " +
		"deno terraform kubectl rake bundle mix swift zig rye hatch tox pytest")

// subcommandRunners are subcommands whose next word is part of the name, too.
var subcommandRunners = strings.Fields("run exec -m tool compose")

// complete are runners that do something useful without a subcommand.
var complete = strings.Fields("make just rake tox pytest yarn")

// interpreters are programs that run a script, or code from the command line or the input.
var interpreters = strings.Fields("python python3 node bun deno tsx ruby perl php")

// inlineFlags are flags of interpreters before code.
var inlineFlags = strings.Fields("-c -e -p -pe -ne --eval --print -")

// queries are subcommands that only print something.
var queries = strings.Fields(
	"--version -version -v -V version --help -h help list ls ll view info show env doc why outdated ps logs inspect")

// A call is one command of a shell line.
type call struct {
	name, args string
	part       bool // it runs only some tests
	decides    bool // the exit status of the line is that of the command
	alone      bool // the line has no command with another name
}

// maxLine is the maximal length of a shell line. A longer one writes a file, and nested quotes in it would need too
// much stack.
const maxLine = 1 << 20

// calls returns the commands of a shell line in order, without inspectors, queries and code on the command line.
func calls(line string) []call {
	if len(line) > maxLine {
		return nil
	}
	var out []call
	list := parseShell(line)
	decides := deciding(list)
	for i, s := range list {
		if i > 0 && list[i-1].next == "|" {
			continue
		}
		if c, ok := commandOf(s.words); ok {
			c.decides = decides[i]
			out = append(out, c)
		}
	}
	alone := !slices.ContainsFunc(out, func(c call) bool { return c.name != out[0].name })
	for i := range out {
		out[i].alone = alone
	}
	return out
}

// commandOf parses the words of a command.
func commandOf(w []string) (c call, ok bool) {
	for len(w) > 0 {
		switch {
		case w[0] == "timeout" && len(w) > 1:
			w = w[2:]
			continue
		case slices.Contains(prefixes, w[0]) || assigns(w[0]):
			w = w[1:]
			continue
		}
		break
	}
	if len(w) == 0 || slices.Contains(inspectors, path.Base(w[0])) {
		return c, false
	}
	n := 1
	switch {
	case slices.Contains(runners, w[0]):
		if n = runnerWords(w); n == 0 {
			return c, false
		}
	case !script(w[0]):
		return c, false
	}
	c.name = strings.Join(w[:n], " ")
	c.args = names.Args(w[n:])
	c.part = slices.ContainsFunc(w[n:], func(s string) bool {
		flag := strings.TrimLeft(s, "-")
		return flag != s && (strings.HasPrefix(flag, "run") || strings.HasPrefix(flag, "skip"))
	})
	return c, true
}

// runnerWords returns the number of words in the name of a runner's command, 0 if the command cannot be repeated or
// only prints something.
func runnerWords(w []string) int {
	n := 1
	if len(w) > 1 && names.Word(w[1]) {
		n = 2
	}
	if n == 2 && len(w) > 2 && slices.Contains(subcommandRunners, w[1]) {
		if !names.Word(w[2]) {
			return 0
		}
		n = 3
	}
	last := w[n-1]
	switch {
	case n == 1 && !slices.Contains(complete, w[0]), slices.Contains(queries, last), slices.Contains(inlineFlags, last):
		return 0
	case slices.Contains(interpreters, last) && (len(w) == n || slices.Contains(inlineFlags, w[n])):
		return 0 // code from the command line or the input
	case temporary(last):
		return 0
	}
	return n
}

// script reports whether the first word of a command is the path of a program, but not of a temporary one.
func script(s string) bool {
	return names.Word(s) && strings.Contains(s, "/") && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "//") &&
		!strings.HasSuffix(s, "/") && !temporary(s)
}

// temporary reports whether a path is that of a temporary file.
func temporary(p string) bool {
	return strings.HasPrefix(p, "/tmp/") || strings.HasPrefix(p, "/var/") || strings.HasPrefix(p, "/private/")
}

// assigns reports whether a word sets a variable for the command that follows.
func assigns(s string) bool {
	name, _, ok := strings.Cut(s, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}
