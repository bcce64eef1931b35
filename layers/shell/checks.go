package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// checks are kinds of checks: which of the commands of a line printed a summary is told by what it reports on.
type checks uint8

const (
	tests checks = 1 << iota
	lints
	types
	formats
	builds
	anything = tests | lints | types | formats | builds
)

// kinds has the words of commands that say what they check.
var kinds = sync.OnceValue(func() map[checks]*regexp.Regexp {
	return map[checks]*regexp.Regexp{
		tests:   regexp.MustCompile(`(?i)test|spec|e2e|^(jest|phpunit|pest|mocha|ava|tap|playwright|cypress|karma|bats|prove|busted|nose)$`),
		lints:   regexp.MustCompile(`(?i)lint|^(credo|clippy|ruff|biome|vet|staticcheck|rubocop|flake8|pylint|phpstan|dialyzer)$`),
		types:   regexp.MustCompile(`(?i)type|^(tsc|vue-tsc|mypy|pyright|dialyzer|svelte-check)$`),
		formats: regexp.MustCompile(`(?i)fmt|format|^(prettier|black|biome)$`),
		builds:  regexp.MustCompile(`(?i)build|compile|^(webpack|vite|next|check)$`),
	}
})

// unspecific are names of tasks that check anything.
var unspecific = strings.Fields("ci check checks verify all validate precommit pre-commit")

// idle are subcommands that check nothing.
var idle = strings.Fields("install i add cache clean fetch get download sync update upgrade deps.get deps.clean")

// checksOf returns what a command checks, as its program and subcommands say.
func checksOf(s Simple) (of checks) {
	if w := s.Runs(); len(w) > 1 && (slices.Contains(idle, w[1]) || w[0] == "npm" && w[1] == "ci") {
		return 0
	}
	for _, w := range s.Program() {
		if strings.HasPrefix(w, "-") || strings.ContainsAny(w, "=$*") {
			continue
		}
		if w == "build" && strings.HasPrefix(path.Base(s.Runs()[0]), "gradle") { // it tests, too
			return anything
		}
		if slices.Contains(unspecific, w) && !slices.Contains([]string{"ruff", "biome", "cargo"}, path.Base(s.Runs()[0])) {
			return anything
		}
		for _, k := range []checks{tests, lints, types, formats, builds} {
			if kinds()[k].MatchString(path.Base(w)) {
				of |= k
			}
		}
	}
	if of == 0 {
		return anything
	}
	return of
}

// Checks returns what a command line checks, as its first command says.
func Checks(line string) checks {
	list := Parse(line)
	if len(list) == 0 {
		return 0
	}
	return checksOf(list[0])
}

// ChecksIn returns the checks that a sentence speaks of: any if it names none.
func ChecksIn(sentence string) (of checks) {
	for _, w := range strings.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(" ,;:.`()/", r) }) {
		for k, re := range kinds() {
			if re.MatchString(w) {
				of |= k
			}
		}
	}
	if of == 0 {
		return anything
	}
	return of
}
