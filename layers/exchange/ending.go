package exchange

import (
	"path"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/verdict"
)

// An Ending is the state in which a session left the work, as far as its commands and edits prove it. What the user did
// in another window is not known.
type Ending struct {
	Commits int     // that were made
	Commit  Command // the last one
	Push    Command // the last one
	Check   Command // the last one that builds or tests and has a verdict
	Changed []File  // after the last commit, or since the beginning
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
			if c.Verdict != None && verdict.Tests(Program(c.Cmd)) && !strings.Contains(c.Cmd, "version") {
				e.Check = c
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
