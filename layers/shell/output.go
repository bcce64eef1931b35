package shell

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// A finding is what an output says.
type finding struct {
	verdict Verdict
	line    string
	passed  []bool // for each command of the line whether it is known to have passed, also by its exit status
}

// A view is how much of the output of a command is shown.
type view int

const (
	hidden   view = iota
	filtered      // some lines
	start
	end
	whole
)

// A head is a command whose output may have a summary.
type head struct {
	i  int
	of checks
}

// byOutput returns what the summaries in an output say, and the names of tests in it.
func byOutput(r Run, list []Simple) (f finding, n testNames) {
	f.passed = make([]bool, len(list))
	if r.Ended && r.Exit == 0 {
		f.passed, _ = Settles(list)
	}
	var heads []head
	sees := whole
	var ran []string
	lines := strings.Count(r.Output, "\n") + 1
	for i, s := range list {
		if !s.Acts() || i > 0 && list[i-1].Next == "|" {
			continue
		}
		if last := pipeEnd(list, i); f.passed[last] && !r.Unseen && !s.Mute && silent(s) && strings.TrimSpace(r.Output) == "" && viewOf(list, i, lines) > filtered {
			f.passed[i] = true // a failure prints something
		}
		if !summarizes(s) {
			if !silent(s) {
				return f, n // its output may contain anything
			}
			continue
		}
		if silent(s) && i+1 < len(list) && list[i].Next == "&&" {
			continue // it prints nothing if it passes
		}
		heads = append(heads, head{i, checksOf(s)})
		ran = append(ran, strings.Join(s.Program(), " "))
		if !f.passed[i] {
			sees = min(sees, viewOf(list, i, lines))
		}
	}
	if len(heads) == 0 || sees == hidden || speaks(list) {
		return f, n
	}
	retried := false
	for i, s := range list {
		retried = retried || s.Acts() && s.Next == "||" && i+1 < len(list) && list[i+1].Acts()
	}
	n = namesIn(r.Output)
	passed, failed := scan(r.Output, strings.Join(ran, "; "), sees)
	switch {
	case retried:
	case len(heads) > 1:
		f.attribute(heads, passed, failed)
	case failed.line != "":
		f.verdict, f.line = Failed, failed.line
	case len(passed) > 0:
		f.passed[heads[0].i] = true
		f.verdict, f.line = Passed, passed[len(passed)-1].line
	}
	return f, n
}

// attribute tells which of several commands of a line printed the summaries: one that reports a pass, the only command
// that checks what it reports on; one that reports a failure, the only command that is not known to have passed by its
// status, or that checks it. If a command would have passed and failed, nothing is told; nor if several can have passed.
func (f *finding) attribute(heads []head, passed []hit, failed hit) {
	credited := map[int]bool{}
	shared := false
	for _, s := range passed {
		if o := owners(heads, s.of); len(o) == 1 && o[0].of != anything {
			credited[o[0].i] = true
			if !f.passed[o[0].i] {
				f.line = s.line
			}
		} else {
			shared = true
		}
	}
	unknown := slices.DeleteFunc(slices.Clone(heads), func(h head) bool { return f.passed[h.i] })
	blamed := unknown
	if o := owners(heads, failed.of); failed.of != anything && len(o) == 1 {
		blamed = o
	}
	if failed.line != "" {
		known := len(blamed) == 1 && !credited[blamed[0].i] && !f.passed[blamed[0].i]
		left := slices.ContainsFunc(unknown, func(h head) bool { return !credited[h.i] })
		if known || left && !shared || len(passed) == 0 {
			f.verdict, f.line = Failed, failed.line
		}
		if !known || failed.of == anything {
			return
		}
	}
	for i := range credited {
		f.passed[i] = true
	}
}

// owners returns the commands that check one of some kinds.
func owners(heads []head, of checks) []head {
	return slices.DeleteFunc(slices.Clone(heads), func(h head) bool { return h.of&of == 0 })
}

// pipeEnd returns the last command of the pipe that command i is in.
func pipeEnd(list []Simple, i int) int {
	for list[i].Next == "|" && i+1 < len(list) {
		i++
	}
	return i
}

// all reports whether all that acts in a line passed.
func (f finding) all(list []Simple) bool {
	for i, s := range list {
		if s.Acts() && !f.passed[i] {
			return false
		}
	}
	return true
}

// viewOf returns how much of the output of command i is shown by the commands it is piped to, if that has so many lines.
func viewOf(list []Simple, i, lines int) view {
	see := whole
	to := list[i].To
	for ; list[i].Next == "|" && i+1 < len(list); i++ {
		see = min(see, viewer(list[i+1].Words, lines))
		if list[i+1].To != "" {
			to = list[i+1].To
		}
	}
	switch {
	case to == "" || to == "/dev/stderr" || to == "/dev/stdout":
		return see
	case to == "/dev/null":
		return hidden
	}
	for k := i + 1; k < len(list); k++ { // the file is read again
		if slices.Contains(list[k].Words, to) {
			see = min(see, viewer(list[k].Words, lines))
			for ; list[k].Next == "|" && k+1 < len(list); k++ {
				see = min(see, viewer(list[k+1].Words, lines))
			}
			return see
		}
	}
	return hidden
}

// viewer returns what a program shows of its input, if it prints so many lines.
func viewer(w []string, lines int) view {
	short := func(v view) view {
		if lines < limitOf(w) {
			return whole
		}
		return v
	}
	switch path.Base(w[0]) {
	case "cat", "tee":
		return whole
	case "tail":
		if slices.ContainsFunc(w, func(s string) bool { return strings.HasPrefix(s, "+") }) {
			return end
		}
		return short(end)
	case "head":
		return short(start)
	}
	return filtered
}

// limitOf returns how many lines tail and head print at most, 0 if that is not known.
func limitOf(w []string) int {
	n := 10
	for i, s := range w[1:] {
		switch digits := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "n"); {
		case s == "-n" && i+2 < len(w):
			n, _ = strconv.Atoi(w[i+2]) // 0 if it is no number
		case strings.HasPrefix(s, "-"):
			n, _ = strconv.Atoi(digits)
		}
	}
	return n
}

// printers are programs that print files, or anything.
var printers = strings.Fields("cat head tail less more grep egrep fgrep rg sed awk jq git curl wget ssh diff find")

// speaks reports whether a command of the line could itself print what looks like the summary of a runner: a literal
// text, or the content of a file that no command of the line wrote.
func speaks(list []Simple) bool {
	for i, s := range list {
		w := s.Program()
		if len(w) == 0 || s.To != "" || i > 0 && list[i-1].Next == "|" {
			continue
		}
		switch name := path.Base(w[0]); {
		case name == "echo" || name == "printf":
			text := strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(strings.Join(w[1:], " "))
			if passed, failed := scan(text, "", whole); len(passed) > 0 || failed.line != "" {
				return true
			}
		case name == "git" && len(w) > 1 && !slices.Contains([]string{"log", "show", "diff", "grep", "blame"}, w[1]):
		case slices.Contains(printers, name):
			written := slices.ContainsFunc(list[:i], func(o Simple) bool {
				return o.To != "" && slices.Contains(w, o.To)
			})
			if !written && s.Next != "|" || !written && i+1 < len(list) && !list[i+1].Acts() {
				return true
			}
		}
	}
	return false
}

// silents are commands that print nothing unless they fail.
var silents = [][]string{{"go", "build"}, {"go", "vet"}, {"go", "mod"}, {"go", "install"}, {"gofmt"}, {"tsc"}, {"npx", "tsc"},
	{"mix", "compile"}, {"mix", "format"}}

func silent(s Simple) bool {
	w := s.Program()
	return slices.ContainsFunc(silents, func(p []string) bool { return len(w) >= len(p) && slices.Equal(w[:len(p)], p) })
}

// summarizers are programs whose output is that of a build, a test or a check.
var summarizers = strings.Fields("npm pnpm yarn bun make just task rake mise tox nox hatch turbo nx lerna moon jest vitest " +
	"mocha ava tap tape playwright cypress karma pytest py.test unittest ruff black mypy pyright flake8 pylint mix cargo go " +
	"gotestsum golangci-lint dotnet rspec phpunit pest phpstan gradle gradlew mvn mvnw ctest cmake ninja swift xcodebuild " +
	"deno eslint tsc vue-tsc biome prettier svelte-check stylelint rubocop rails sbt zig flutter dart bazel bats prove " +
	"busted stack cabal lein clj composer pre-commit node tsx ts-node next vite webpack staticcheck oxlint standard xo c8 nyc")

// runs are subcommands that run the program itself, whose output may be anything.
var runs = map[string]string{"go": "run", "cargo": "run", "dotnet": "run", "swift": "run", "zig": "run", "deno": "run",
	"mix": "run", "flutter": "run", "dart": "run"}

// summarizes reports whether the output of a command is that of a build, a test or a check.
func summarizes(s Simple) bool {
	w := s.Runs()
	if len(w) == 0 {
		return false
	}
	name := path.Base(w[0])
	switch {
	case name == "node" || name == "tsx" || name == "ts-node":
		return slices.Contains(w, "--test") || IsTester(strings.Join(w, " "))
	case strings.HasPrefix(name, "python") || name == "php" || name == "ruby" || name == "perl":
		return IsTester(strings.Join(w, " "))
	case known(w[0]):
		return len(w) < 2 || runs[name] != w[1]
	}
	return strings.Contains(w[0], "/") && IsTester(w[0])
}

func known(program string) bool { return slices.Contains(summarizers, path.Base(program)) }

// testers are words of commands that build, test or check.
var testers = strings.Fields("build test tests lint check checks vet fmt format compile typecheck tsc verify ci install " +
	"generate e2e unit integration spec specs jest mocha ava tap rspec phpunit pest cypress playwright karma bats prove busted tox nox")

// IsTester reports whether the name of a command says that it builds, tests or checks.
//
// The name of a file that a program runs is not that of a task: "node assets/build.js" is a program like any other. It is one
// if it is named for tests or a linter. A subcommand that installs, fetches or clears something checks nothing.
func IsTester(name string) bool {
	if words := strings.Fields(name); len(words) > 1 && slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(idle, w) || w == "ci" && words[0] == "npm" }) {
		return false
	}
	for i, word := range strings.Fields(strings.ToLower(name)) {
		isFile := i > 0 && path.Ext(word) != "" && !strings.HasPrefix(word, "-") && !strings.Contains(path.Ext(word), ":")
		for w := range strings.FieldsFuncSeq(word, func(r rune) bool { return strings.ContainsRune(":-_/.", r) }) {
			tests := strings.HasSuffix(w, "test") || strings.HasSuffix(w, "lint") || w == "tests" || w == "spec" || w == "specs"
			if tests || slices.Contains(testers, w) && !isFile {
				return true
			}
		}
	}
	return false
}
