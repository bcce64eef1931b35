package shell

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
		"less more env set unset read exit return cut tr jq open code vim nano basename dirname realpath git : [ [[ " +
		"type command . cmp comm pgrep pidof ag ack zgrep fuser netstat ss pushd popd " +
		"wait trap ulimit shopt local declare let eval column nl strings xxd od lsof top " +
		"gh curl wget journalctl ssh scp rsync ping touch md5sum sha256sum tput clear alias history jobs")

// keywords are words of compound commands that stand where a command does.
var keywords = strings.Fields("fi done esac for case select function } ) ;; while until if elif")

// prefixes may precede a command and are ignored.
var prefixes = strings.Fields("sudo time nohup nice ionice command exec then do else env ( { ! if elif while until rtk " +
	"caffeinate unbuffer stdbuf xvfb-run cross-env setsid")

// Runners are programs whose subcommand is part of the name of a command.
var runners = strings.Fields(
	"go npm npx bunx pnpx pnpm yarn bun cargo make mise uv uvx pip python python3 node docker gh task just dotnet mvn gradle " +
		"poetry deno terraform kubectl rake bundle mix swift zig rye hatch tox nox pytest jest vitest mocha ava tap " +
		"playwright cypress eslint tsc biome prettier ruff mypy pyright black flake8 pylint golangci-lint gotestsum rspec " +
		"rubocop rails phpunit pest composer ctest cmake ninja meson xcodebuild flutter dart bats prove sbt lein stack " +
		"cabal turbo nx lerna moon bazel pre-commit pipenv pdm tsx ts-node staticcheck svelte-check vue-tsc next vite webpack")

// subcommandRunners are subcommands whose next word is part of the name, too.
var subcommandRunners = strings.Fields("run exec dlx x -m tool compose")

// complete are runners that do something useful without a subcommand.
var complete = strings.Fields("make just rake tox nox pytest yarn jest vitest mocha ava tap eslint tsc ruff mypy pyright " +
	"black flake8 pylint golangci-lint gotestsum rspec rubocop phpunit pest ctest ninja xcodebuild bats prove pre-commit " +
	"staticcheck svelte-check vue-tsc prettier mvn gradle")

// solo are runners that have no subcommands: the word after them is an argument.
var solo = strings.Fields("pytest jest mocha ava tap eslint tsc mypy pyright black flake8 pylint gotestsum rspec rubocop " +
	"phpunit pest ctest ninja meson xcodebuild bats prove prettier staticcheck svelte-check vue-tsc")

// interpreters are programs that run a script, or code from the command line or the input.
var interpreters = strings.Fields("python python3 node bun deno tsx ts-node ruby perl php")

// inlineFlags are flags of interpreters before code.
var inlineFlags = strings.Fields("-c -e -p -pe -ne --eval --print -")

// queries are subcommands that only print something.
var queries = strings.Fields(
	"--version -version -v -V version --help -h help list ls ll view info show env doc why outdated ps logs inspect")

// A Command is a simple command with a name that can be repeated.
type Command struct {
	Name string   // program and subcommand: "go test"
	Args []string // the other words
	At   int      // its place in the line
}

// Part reports whether the command may run only some of the tests.
func (c Command) Part() bool {
	return slices.ContainsFunc(c.Args, func(s string) bool {
		flag := strings.TrimLeft(s, "-")
		if flag == s {
			return strings.Contains(s, "::") || strings.Contains(s, ".test.") || strings.Contains(s, "_test.") ||
				strings.Contains(s, ".spec.") || strings.Contains(s, "_spec.") || strings.HasPrefix(path.Base(s), "test_") ||
				strings.Contains(c.Name, "test") && strings.HasPrefix(s, "./") && !strings.HasSuffix(s, "...")
		}
		for _, name := range strings.Fields("run skip k t g grep filter only tests-filter testNamePattern testPathPattern " +
			"e R lf last-failed example") {
			if flag == name || strings.HasPrefix(flag, name+"=") {
				return true
			}
		}
		return false
	})
}

// Commands returns the commands of a parsed line that have a name, in order: without inspectors, queries and code on
// the command line. Commands behind a pipe are not among them.
func Commands(list []Simple) (out []Command) {
	for i, s := range list {
		if i > 0 && list[i-1].Next == "|" {
			continue
		}
		if c, ok := commandOf(s.Words); ok {
			c.At = i
			out = append(out, c)
		}
	}
	return out
}

// Acts reports whether a command does more than read, move or print files.
func (s Simple) Acts() bool {
	w := withoutPrefixes(s.Words)
	return len(w) > 0 && !slices.Contains(inspectors, path.Base(w[0])) && !slices.Contains(keywords, w[0])
}

// Program returns the words of a command from its program on, without what precedes it, such as "sudo" and variables.
func (s Simple) Program() []string { return withoutPrefixes(s.Words) }

// withoutPrefixes removes the words before the program: variables, "time", "timeout 60".
func withoutPrefixes(w []string) []string {
	for len(w) > 0 {
		switch {
		case w[0] == "timeout" || w[0] == "gtimeout":
			w = withoutFlags(w[1:])
			if len(w) > 0 {
				w = w[1:] // the duration
			}
			continue
		case slices.Contains(prefixes, w[0]):
			w = withoutFlags(w[1:])
			continue
		case assigns(w[0]):
			w = w[1:]
			continue
		}
		break
	}
	return w
}

// withoutFlags removes the flags of a prefix, and numbers after them.
func withoutFlags(w []string) []string {
	for len(w) > 1 && strings.HasPrefix(w[0], "-") {
		w = w[1:]
		if strings.Trim(w[0], "0123456789") == "" || w[0] == "KILL" || w[0] == "TERM" || w[0] == "INT" {
			w = w[1:]
		}
	}
	return w
}

// commandOf parses the words of a command.
func commandOf(w []string) (c Command, ok bool) {
	w = withoutPrefixes(w)
	if len(w) == 0 || slices.Contains(inspectors, path.Base(w[0])) {
		return c, false
	}
	n := 1
	switch {
	case slices.Contains(runners, w[0]):
		if n = runnerWords(w); n == 0 {
			return c, false
		}
	case !isScript(w[0]):
		return c, false
	}
	return Command{Name: strings.Join(w[:n], " "), Args: w[n:]}, true
}

// runnerWords returns the number of words in the name of a runner's command, 0 if the command cannot be repeated or
// only prints something.
func runnerWords(w []string) int {
	n := 1
	if len(w) > 1 && names.Word(w[1]) && (!slices.Contains(solo, w[0]) || slices.Contains(queries, w[1])) {
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

// isScript reports whether the first word of a command is the path of a program, but not of a temporary one.
func isScript(s string) bool {
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
