package permanent

import (
	"slices"
	"strings"
	"time"
)

// A Run is a command of a session and how it ended.
type Run struct {
	Message int
	Command string
	Failed  bool
	Time    time.Time
}

// checks are words of commands whose failure means that something does not work yet, rather than that a search found nothing.
var checks = []string{
	"test", "tests", "build", "check", "lint", "vet", "compile", "make", "pytest", "tsc", "jest", "vitest", "mypy", "clippy", "typecheck", "run", "bench", "tox", "rspec", "ctest", "verify", "validate", "deploy",
}

// Trials returns the commands among the runs of a session that failed again and again and then went well.
func Trials(runs []Run) []Trial {
	open := map[string]*Trial{}
	var out []Trial
	for _, r := range runs {
		cmd := Command(r.Command)
		if cmd == "" {
			continue
		}
		t := open[cmd]
		switch {
		case r.Failed && t == nil:
			open[cmd] = &Trial{Command: cmd, Failures: 1, From: r.Message, To: r.Message, Time: r.Time}
		case r.Failed:
			t.Failures++
		case t != nil:
			t.To, t.Time = r.Message, r.Time
			if t.Failures >= minFailures {
				out = append(out, *t)
			}
			delete(open, cmd)
		}
	}
	return out
}

// Command returns the part of a shell line that checks something, without directories, variables and what only shortens
// its output; "" if there is none.
func Command(line string) string {
	for _, part := range strings.FieldsFunc(strings.ReplaceAll(strings.ReplaceAll(line, "&&", "\n"), "||", "\n"), func(r rune) bool { return r == '\n' || r == ';' || r == '|' }) {
		w := strings.Fields(part)
		for len(w) > 0 && (strings.Contains(w[0], "=") || w[0] == "time" || w[0] == "timeout" || len(w[0]) > 0 && strings.Trim(w[0], "0123456789s") == "") {
			w = w[1:]
		}
		if i := slices.IndexFunc(w, func(s string) bool { return strings.ContainsAny(s, "<>") }); i >= 0 {
			w = w[:i]
		}
		if len(w) == 0 || len(w) > 12 || slices.Contains([]string{"cd", "grep", "rg", "find", "ls", "cat", "head", "tail", "echo", "sed", "git", "mkdir", "rm", "cp", "mv", "for", "if", "while"}, w[0]) {
			continue
		}
		if slices.ContainsFunc(w[:min(3, len(w))], checking) {
			return strings.Join(w, " ")
		}
	}
	return ""
}

// checking reports whether a word of a command says that it checks something.
func checking(w string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return r < 'a' || r > 'z' }), func(s string) bool { return slices.Contains(checks, s) })
}
