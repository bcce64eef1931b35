package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/brief"
)

// inspectors are programs that read or move files. They do not show how a project is built and tested.
var inspectors = strings.Fields(
	"ls cat cd echo rm mkdir head tail sed awk wc find grep egrep fgrep rg fd cp mv touch pwd which sleep true false " +
		"test chmod chown sort uniq diff tree file stat du df ps kill pkill export source printf date ln xargs tee " +
		"less more env set unset read exit return cut tr jq open code vim nano basename dirname realpath git : [ [[ " +
		"type command . cmp comm pgrep pidof ag ack zgrep fuser netstat ss pushd popd " +
		"wait trap ulimit shopt local declare let eval column nl strings xxd od lsof top " +
		"gh curl wget journalctl ssh scp rsync ping touch md5sum sha256sum tput clear alias history jobs watch script")

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
		"cabal turbo nx lerna moon bazel ./gradlew ./mvnw pre-commit pipenv pdm tsx ts-node staticcheck svelte-check vue-tsc next vite webpack")

// subcommandRunners are subcommands whose next word is part of the name, too.
var subcommandRunners = strings.Fields("run exec dlx x -m tool compose mod")

// complete are runners that do something useful without a subcommand.
var complete = strings.Fields("make just rake tox nox pytest yarn jest vitest mocha ava tap eslint tsc ruff mypy pyright " +
	"black flake8 pylint golangci-lint gotestsum rspec rubocop phpunit pest ctest ninja xcodebuild bats prove pre-commit " +
	"staticcheck svelte-check vue-tsc prettier mvn gradle ./mvnw ./gradlew")

// solo are runners that have no subcommands: the word after them is an argument.
var solo = strings.Fields("pytest jest mocha ava tap eslint tsc mypy pyright black flake8 pylint gotestsum rspec rubocop " +
	"phpunit pest ctest ninja meson xcodebuild bats prove prettier staticcheck svelte-check vue-tsc")

// interpreters are programs that run a script, or code from the command line or the input.
var interpreters = strings.Fields("python python3 node bun deno tsx ts-node ruby perl php")

// inlineFlags are flags of interpreters before code.
var inlineFlags = strings.Fields("-c -e -p -pe -ne --eval --print -")

// queries are subcommands that only print something.
var queries = strings.Fields(
	"--version -version -v -V version --help -h help list ls ll view info show env doc why outdated ps logs inspect linters")

// A Command is a simple command with a name that can be repeated.
type Command struct {
	Name string   // program and subcommand: "go test"
	Args []string // the other words
	At   int      // its place in the line

	Moved bool // it may run in another directory than the first command of the line
}

// Flags of commands that test, without their dashes.
var (
	selecting = strings.Fields("run skip k t g grep filter F only tests tests-filter testNamePattern testPathPattern e R lf last-failed " +
		"example Dtest short only-failures onlyFailures rerun-failed") // some of the tests
	excluding = strings.Fields("skip ignore exclud deselect omit invert") // parts of the names of those that leave some out
	single    = strings.Fields("lf last-failed short only-failures onlyFailures rerun-failed invert DskipTests")
	allTests  = []string{"", "run", "test", "tests", "spec", "src", "t"}       // words that select all
	elsewhere = strings.Fields("C prefix cwd dir directory workspace package") // a part of the project
	ofRunner  = strings.Fields("n p o j c r m timeout count parallel cpu reporter reporters config maxfail tb cov workers features env " +
		"color W format seed profile target jobs rootdir outputFile junitxml output loglevel") // with a value that names no test
)

// excludes reports whether a flag leaves some of the tests out.
func (c Command) excludes(flag string) bool {
	return flag == "x" && strings.Contains(c.Name, "gradle") ||
		slices.ContainsFunc(excluding, func(w string) bool { return strings.Contains(strings.ToLower(flag), w) })
}

// Excludes reports whether the command leaves some of the tests out by name: a run that passes says nothing of those.
func (c Command) Excludes() bool {
	return slices.ContainsFunc(c.Args, func(s string) bool {
		name := strings.TrimLeft(s, "-")
		flag, _, _ := strings.Cut(name, "=")
		return name != s && c.excludes(flag) || name == s && (strings.HasPrefix(s, "not ") || strings.Contains(s, "!="))
	})
}

// Selects returns the arguments that select some of the tests: names, files, directories and packages, and what leaves some
// out.
func (c Command) Selects() (out []string) {
	words := strings.Fields(c.Name)
	runs := IsTester(c.Name) && slices.ContainsFunc(words, func(w string) bool { return kinds()[tests].MatchString(path.Base(w)) })
	places := runs && !slices.Contains(words, "go")
	for i := 0; i < len(c.Args); i++ {
		s := c.Args[i]
		name := strings.TrimLeft(s, "-")
		flag, _, joined := strings.Cut(name, "=")
		is := strings.Contains(s, "::") || strings.Contains(s, ".test.") || strings.Contains(s, "_test.") ||
			strings.Contains(s, ".spec.") || strings.Contains(s, "_spec.") || strings.HasPrefix(path.Base(s), "test_") ||
			strings.Contains(c.Name, "test") && strings.HasPrefix(s, "./") && !strings.HasSuffix(s, "...")
		value := !joined && i+1 < len(c.Args) && !slices.Contains(single, flag)
		switch {
		case name == s && (is || places && !slices.Contains(allTests, strings.Trim(s, "./")) && (strings.Contains(s, "/") || brief.IsSafeWord(s))):
			out = append(out, s)
		case name != s && (slices.Contains(selecting, flag) || runs && c.excludes(flag)):
			if out = append(out, s); value {
				i++
				out = append(out, c.Args[i])
			}
		case name != s && places && slices.Contains(ofRunner, flag) && value:
			i++
		}
	}
	return out
}

// Part reports whether the command may run only some of the tests.
func (c Command) Part() bool {
	return len(c.Selects()) > 0 || slices.ContainsFunc(append(strings.Fields(c.Name)[1:], c.Args...), func(s string) bool {
		name := strings.TrimLeft(s, "-")
		flag, _, _ := strings.Cut(name, "=")
		return name == s && s == "workspace" || name != s && (slices.Contains(elsewhere, flag) || slices.Contains(selecting, flag))
	})
}

// Commands returns the commands of a parsed line that have a name, in order: without inspectors, queries and code on
// the command line. Commands behind a pipe are not among them.
func Commands(list []Simple) (out []Command) {
	acts, went, moved := false, false, false
	for i, s := range list {
		goes := slices.Contains([]string{"cd", "pushd", "popd"}, s.Words[0])
		moved = moved || goes && acts || i > 0 && list[i-1].Group && went
		acts, went = acts || s.Acts(), went || goes
		if i > 0 && list[i-1].Next == "|" {
			continue
		}
		if c, ok := commandOf(s.Words); ok {
			c.At, c.Moved = i, moved
			out = append(out, c)
		}
	}
	return out
}

// Acts reports whether a command does more than read, move or print files.
func (s Simple) Acts() bool {
	w := WithoutPrefixes(s.Words)
	return len(w) > 0 && !slices.Contains(inspectors, path.Base(w[0])) && !slices.Contains(keywords, w[0])
}

// Program returns the words of a command from its program on, without what precedes it, such as "sudo" and variables.
func (s Simple) Program() []string { return WithoutPrefixes(s.Words) }

// WithoutPrefixes removes the words before the program: variables, "time", "timeout 60".
func WithoutPrefixes(w []string) []string {
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
		value := slices.Contains([]string{"-u", "-g"}, w[0])
		w = w[1:]
		if value || strings.Trim(w[0], "0123456789") == "" || w[0] == "KILL" || w[0] == "TERM" || w[0] == "INT" {
			w = w[1:]
		}
	}
	return w
}

// commandOf parses the words of a command.
func commandOf(w []string) (c Command, ok bool) {
	w = WithoutPrefixes(w)
	if len(w) == 0 || slices.Contains(inspectors, path.Base(w[0])) {
		return c, false
	}
	switch {
	case slices.Contains(runners, w[0]):
		name, args := split(w)
		return Command{Name: strings.Join(name, " "), Args: args}, len(name) > 0
	case !isScript(w[0]):
		return c, false
	}
	return Command{Name: w[0], Args: w[1:]}, true
}

// wrappers run the program that their other words name.
var wrappers = [][]string{
	{"npx"}, {"bunx"}, {"pnpx"}, {"pnpm", "exec"}, {"pnpm", "dlx"}, {"yarn", "exec"}, {"yarn", "dlx"}, {"uv", "run"}, {"uvx"},
	{"poetry", "run"}, {"pipenv", "run"}, {"hatch", "run"}, {"pdm", "run"}, {"rye", "run"}, {"bundle", "exec"},
	{"mise", "exec"}, {"mise", "x"}, {"bun", "x"}, {"doppler", "run"}, {"python", "-m"}, {"python3", "-m"},
	{"docker", "exec"}, {"docker", "run"}, {"docker", "compose", "exec"}, {"docker-compose", "exec"}, {"docker", "compose", "run"},
	{"docker-compose", "run"},
}

// wraps returns how many words of a command precede the program that it runs, 0 if it is no wrapper.
func wraps(w []string) int {
	for _, p := range wrappers {
		if len(w) <= len(p) || !slices.Equal(w[:len(p)], p) {
			continue
		}
		n := len(p) + flagWords(w[len(p):])
		if strings.HasPrefix(p[0], "docker") && n < len(w) { // the service or the image
			n++
		}
		if n < len(w) {
			return n
		}
	}
	return 0
}

// Runs returns the words from the program on that a command runs in the end: of "uv run pytest" it is pytest.
func (s Simple) Runs() []string {
	w := s.Program()
	for n := wraps(w); n > 0; n = wraps(w) {
		w = WithoutPrefixes(w[n:])
	}
	return w
}

// valued are flags of runners and wrappers with a value in the next word, before their subcommand.
var valued = strings.Fields("-C --prefix --filter -F --cwd --directory --dir --file -f -d --manifest-path --extra --group --only-group " +
	"--with --python --env-file -e --env -u --user -w --workdir --workspace --project --package -p -n --namespace -v --volume " +
	"--name --network --entrypoint -c --config")

// flagWords returns how many words at the start of w are flags with their values.
func flagWords(w []string) (n int) {
	for n < len(w) && (strings.HasPrefix(w[n], "-") || strings.HasPrefix(w[n], "+")) && !slices.Contains(queries, w[n]) {
		if n++; slices.Contains(valued, w[n-1]) {
			n++
		}
	}
	return min(n, len(w))
}

// split divides the words of a runner into its name and the other words. Flags before its subcommand are part of the
// name, since "make -C a test" is another command than "make -C b test"; those that only change how it runs are not, if
// they may stand behind it. The name is empty if the command cannot be repeated or only prints something.
func split(w []string) (name, args []string) {
	if n := wraps(w); n > 0 && slices.Contains(runners, w[n]) && !slices.Contains(inlineFlags, w[1]) {
		if name, args = split(w[n:]); len(name) == 0 || !plain(w[:n]) {
			return nil, nil
		}
		return slices.Concat(w[:n], name), args
	}
	name, rest := w[:1:1], w[1:]
	flags := func() {
		for len(rest) > 1 && rest[0] != "-m" && !slices.Contains(inlineFlags, rest[0]) && (w[0] == "bun" || w[0] == "deno" || !slices.Contains(interpreters, w[0])) {
			n := flagWords(rest[:min(2, len(rest))])
			switch {
			case n == 0 || n == len(rest):
				return
			case flagWords(rest[:1]) == 1 && !slices.Contains(valued, rest[0]):
				n = 1
			}
			if n == 1 && slices.Contains(complete, w[0]) {
				args = append(args, rest[0])
			} else {
				name = append(name, rest[:n]...)
			}
			rest = rest[n:]
		}
	}
	if !slices.Contains(solo, w[0]) {
		flags()
	}
	if len(rest) > 0 && brief.IsSafeWord(rest[0]) && (!slices.Contains(solo, w[0]) || slices.Contains(queries, rest[0])) {
		sub := rest[0]
		name, rest = append(name, sub), rest[1:]
		if len(rest) > 1 && sub == "workspace" { // its name, and what runs there
			name, rest = append(name, rest[:2]...), rest[2:]
		}
		if slices.Contains(subcommandRunners, sub) && len(rest) > 0 && !strings.HasSuffix(rest[0], "...") { // a pattern of packages names no task
			if flags(); !brief.IsSafeWord(rest[0]) {
				return nil, nil
			}
			name, rest = append(name, rest[0]), rest[1:]
		}
	}
	last := name[len(name)-1]
	switch {
	case len(name) == 1 && !slices.Contains(complete, w[0]), slices.Contains(queries, last), slices.Contains(inlineFlags, last):
		return nil, nil
	case slices.Contains(interpreters, last) && (len(rest) == 0 || slices.Contains(inlineFlags, rest[0])):
		return nil, nil // code from the command line or the input
	case temporary(last) || !plain(name):
		return nil, nil
	}
	return name, append(args, rest...)
}

// maxName is the size of the name of a command.
const maxName = 70

// plain reports whether words can be the name of a command: names that together hold no sentence.
func plain(name []string) bool { return brief.SafeCommand(name, maxName) == strings.Join(name, " ") }

// isScript reports whether the first word of a command is the path of a program, but not of a temporary one.
func isScript(s string) bool {
	return brief.IsSafeWord(s) && strings.Contains(s, "/") && !strings.HasPrefix(s, "-") && !strings.HasPrefix(s, "//") &&
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
