package exchange

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/verdict"
)

// An Ending is the state in which a session left the work, as far as its commands and edits prove it. What the user did
// in another window is not known.
type Ending struct {
	Commits int     // that were made
	Commit  Command // the last one
	Push    Command // the last one
	Check   Command // the last one that builds or tests and has a verdict, without the commands before it on its line
	Changed []File  // after the last commit, or since the beginning

	// Committed and Pushed report whether somebody says after the last commit, or without one, that it was done: in
	// another session, or in another window. Nothing is proven then, either way.
	Committed, Pushed bool
}

// EndingOf returns the ending of a session.
func EndingOf(xs []Exchange) Ending {
	var e Ending
	for i := range xs {
		for _, c := range xs[i].Commands {
			if c.Commits {
				e.Commits++
				e.Commit = c
			}
			if c.Pushes {
				e.Push = c
			}
			if check := checkOf(c.Cmd); c.Verdict != None && check != "" {
				e.Check = c
				e.Check.Cmd = check
			}
		}
	}
	for i := range xs {
		for _, s := range append([]Said{xs[i].Request}, xs[i].Texts...) {
			if s.N > e.Commit.N {
				e.Committed = e.Committed || tells(s.Text, committed())
				e.Pushed = e.Pushed || tells(s.Text, pushed())
			}
		}
	}
	for i := range xs {
		x := xs[i]
		x.Edits = slices.DeleteFunc(slices.Clone(x.Edits), func(d Edit) bool { return d.N <= e.Commit.N || strings.HasPrefix(d.File, "/") })
		for _, f := range x.Files() {
			k := slices.IndexFunc(e.Changed, func(o File) bool { return o.Path == f.Path })
			if k < 0 {
				e.Changed = append(e.Changed, f)
				continue
			}
			e.Changed[k].Last = f.Last
		}
	}
	return e
}

// checkOf returns the part of a shell line from its first command that tests, builds or checks on, or "". What writes a
// file or asks for a version is none.
func checkOf(line string) string {
	for _, s := range shell.Parse(line) {
		w := s.Program()
		if len(w) == 0 || !verdict.Tests(Program(strings.Join(w, " "))) || slices.ContainsFunc(w, func(s string) bool {
			return strings.TrimLeft(s, "-") == "version"
		}) {
			continue
		}
		for n := len(s.Words); n > 0; n-- { // words behind a quoted one are not in the line as they are here
			if k := strings.Index(line, strings.Join(s.Words[:n], " ")); k >= 0 {
				return line[k:]
			}
		}
	}
	return ""
}

var (
	committed = pattern(`(?i)\b(already|been|was|were|are|is|I('ve)?|it's|now|all|and) (all |just |already )?committed\b|^\W*committed\b`)
	pushed    = pattern(`(?i)\b(already|been|was|were|are|is|I('ve)?|it's|now|all|and) (all |just |already )?pushed\b|^\W*pushed\b`)
	denied    = pattern(`(?i)\b(not|n't|never|un|nothing|before|once|if|when|until|after|should|would|be)\b[^.]*$`)
)

// pattern returns a regular expression that is compiled when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// tells reports whether a text says that something was done, and not that it was not, or will be.
func tells(text string, done *regexp.Regexp) bool {
	for line := range strings.Lines(text) {
		for _, m := range done.FindAllStringIndex(line, -1) {
			if !denied().MatchString(line[:m[0]]) {
				return true
			}
		}
	}
	return false
}

// Edited returns the last message in which a changed file was edited, or 0.
func (e Ending) Edited() int {
	n := 0
	for _, f := range e.Changed {
		n = max(n, f.Last)
	}
	return n
}

// git returns what recognises a subcommand of git that is carried out.
func git(subcommand string) func([]string) bool {
	return func(w []string) bool {
		if path.Base(w[0]) != "git" || slices.Contains(w, "--dry-run") || slices.Contains(w, "--help") {
			return false
		}
		for i := 1; i < len(w); i++ {
			switch {
			case w[i] == "-C" || w[i] == "-c":
				i++
			case strings.HasPrefix(w[i], "-"):
			default:
				return w[i] == subcommand
			}
		}
		return false
	}
}

// Subject returns the first line of the message of the commit that a command made, or "".
func (c Command) Subject() string {
	rest := c.Cmd
	for {
		_, after, found := strings.Cut(rest, " -")
		if !found {
			return ""
		}
		flag, message, _ := strings.Cut(after, " ")
		if rest = after; flag != "m" && flag != "am" && flag != "-message" {
			continue
		}
		message = strings.TrimLeft(message, " ")
		if _, doc, is := strings.Cut(message, "<<"); is && strings.HasPrefix(strings.TrimLeft(message, `"`), "$(cat") {
			_, message, _ = strings.Cut(doc, "\n")
			line, _, _ := strings.Cut(message, "\n")
			return strings.TrimSpace(line)
		}
		if message == "" || message[0] != '"' && message[0] != '\'' {
			return ""
		}
		text, _, _ := strings.Cut(message[1:], message[:1])
		line, _, _ := strings.Cut(text, "\n")
		return strings.TrimSpace(line)
	}
}
