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

// checkWords are words of commands whose failure means that something does not work yet, rather than that a search
// found nothing.
var checkWords = []string{
	"test", "tests", "build", "check", "lint", "vet", "compile", "make", "pytest", "tsc", "jest", "vitest", "mypy",
	"clippy", "typecheck", "run", "bench", "tox", "rspec", "ctest", "verify", "validate", "deploy",
}

// Trials returns the commands of a session that failed at least [minFailures] times in a row and then succeeded.
func Trials(runs []Run) []Trial {
	open := map[string]*Trial{}
	var out []Trial
	for _, r := range runs {
		cmd := checkIn(r.Command)
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

// checkIn returns the first command of a shell line that checks something, without directories, variables and what only
// shortens its output; "" if there is none.
func checkIn(line string) string {
	for _, part := range shellCommands(line) {
		w := strings.Fields(part)
		for len(w) > 0 && isPrefix(w[0]) {
			w = w[1:]
		}
		if i := slices.IndexFunc(w, func(s string) bool { return strings.ContainsAny(s, "<>") }); i >= 0 {
			w = w[:i]
		}
		if len(w) > 0 && len(w) <= 12 && !isInspection(w[0]) && slices.ContainsFunc(w[:min(3, len(w))], isCheck) {
			return strings.Join(w, " ")
		}
	}
	return ""
}

// shellCommands splits a line at separators outside quotes.
func shellCommands(line string) []string {
	var out []string
	quote, start := rune(0), 0
	for i, r := range line {
		switch {
		case r == quote:
			quote = 0
		case quote != 0:
		case r == '"' || r == '\'':
			quote = r
		case strings.ContainsRune("\n;|&", r):
			out, start = append(out, line[start:i]), i+1
		}
	}
	return append(out, line[start:])
}

// isPrefix reports whether a word only precedes a command: a variable, time, timeout 60.
func isPrefix(w string) bool {
	return strings.Contains(w, "=") || w == "time" || w == "timeout" || w == "sudo" ||
		strings.Trim(w, "0123456789sm") == ""
}

// isInspection reports whether a command only reads or moves files, so that its failure means little.
func isInspection(w string) bool {
	switch w {
	case "cd", "grep", "rg", "find", "ls", "cat", "head", "tail", "echo", "sed", "awk", "git", "mkdir", "rm", "cp",
		"mv", "for", "if", "while", "test":
		return true
	}
	return false
}

// isCheck reports whether a word of a command names a check.
func isCheck(w string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(w), func(r rune) bool { return r < 'a' || r > 'z' }),
		func(s string) bool { return slices.Contains(checkWords, s) })
}
