package exchange

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/shell"
)

// An Ending is the state in which a session left the work, as far as its commands and edits prove it. What the user did
// in another window is not known.
type Ending struct {
	Commits int     // that were made
	Commit  Command // the last one
	Push    Command // the last one
	Check   Command // the last one that builds or tests and has a verdict, without the commands before it on its line
	Red     Command // the last such one between Commit and Check that failed, if nothing as wide passed and nothing was edited since, or it is wider than Check
	Made    []Said  // issues and pull requests, see [Exchange.Made]
	Changed []File  // after the last commit, or since the beginning, and not restored or removed again

	// Committed and Pushed report whether somebody says after the last commit, or without one, that it was done: in
	// another session, or in another window. Pushed is also true if a command pushes and its exit status does not prove
	// that it did. Nothing is proven then, either way.
	Committed, Pushed bool
	Told              int // the last message that says that it was committed, pushed or merged, or that may have committed it

	Waiting bool // the last request has no answer
	Planned Said // the plan that the session ends with
	Refused bool // the user refused that plan
	Asked   Said // the question to the user that the session ends with
}

// EndingOf returns the ending of a session.
func EndingOf(xs []Exchange) Ending {
	var e Ending
	for i := range xs {
		e.Made = append(e.Made, xs[i].Made()...)
		for _, c := range xs[i].Commands {
			if c.Commits {
				e.Commits++
				e.Commit, e.Pushed = c, false
			} else if c.Exit == 0 && c.Verdict != Failed && hasGit(c.Cmd) && commits().MatchString(c.Cmd) && !strings.Contains(c.Cmd, "--dry-run") {
				e.Told = c.N
			}
			if c.Pushes {
				e.Push = c
			} else if c.Exit == 0 && c.Verdict != Failed && hasGit(c.Cmd) && pushes().MatchString(c.Cmd) {
				e.Pushed = true
			}
			if check := checkOf(c.Cmd); c.Verdict != None && check != "" {
				e.Check = c
				e.Check.Cmd = check
			}
		}
	}
	e.Red = red(xs, e.Commit.N, e.Check)
	for i := range xs {
		own, _ := OwnWords(xs[i].Request.Text) // what a log in it says was done, was done elsewhere
		for _, s := range append([]Said{{xs[i].Request.N, own}}, xs[i].Texts...) {
			if s.N > e.Commit.N {
				if tells(s.Text, "commit", committed()) {
					e.Committed, e.Told = true, max(e.Told, s.N)
				}
				if tells(s.Text, "hed", pushed()) {
					e.Pushed, e.Told = true, max(e.Told, s.N)
				}
				if tells(s.Text, "merged", merged()) {
					e.Told = max(e.Told, s.N)
				}
			}
		}
	}
	within := slices.ContainsFunc(xs, func(x Exchange) bool {
		return slices.ContainsFunc(x.Edits, func(d Edit) bool { return !Outside(d.File) })
	})
	for i := range xs {
		x := xs[i]
		x.Edits = slices.DeleteFunc(slices.Clone(x.Edits), func(d Edit) bool {
			beside := !within && strings.HasPrefix(d.File, "../") && !OfClient(d.File) // the work is in another worktree
			return d.N <= e.Commit.N || Outside(d.File) && !beside
		})
		for _, f := range x.Files() {
			k := slices.IndexFunc(e.Changed, func(o File) bool { return o.Path == f.Path })
			if k < 0 {
				e.Changed = append(e.Changed, f)
				continue
			}
			c := &e.Changed[k]
			c.Last, c.Added, c.Removed = f.Last, c.Added+f.Added, c.Removed+f.Removed
		}
	}
	for i := range xs {
		for _, c := range xs[i].Commands {
			e.undo(c, false)
		}
	}
	if len(xs) > 0 {
		e.left(&xs[len(xs)-1])
	}
	return e
}

// red returns the last check after a commit and before another check that failed and does not count as mended: see [Ending.Red].
// What failed before a commit, a hook of git may have checked again.
func red(xs []Exchange, commit int, last Command) (out Command) {
	edited := 0 // the last edit
	for i := range xs {
		for _, d := range xs[i].Edits {
			edited = max(edited, d.N)
		}
	}
	for i := range xs {
		for _, c := range xs[i].Commands {
			if c.Verdict != Failed || c.N <= commit || c.N >= last.N || !slices.ContainsFunc(xs[i].Failures, func(f Failure) bool {
				return f.N == c.N && f.Fixed == 0 && !shell.IsMisuse(f.Of, f.Lines)
			}) {
				continue
			}
			check := checkOf(c.Cmd)
			if check == "" {
				continue
			}
			this, that := run{of: subjects(check)}, run{of: subjects(last.Cmd)}
			alike := Program(check) == Program(last.Cmd)
			if !(alike && that.covers(this)) && (c.N > edited || alike && this.covers(that)) {
				out = c
				out.Cmd = check
			}
		}
	}
	return out
}

// ends reports whether a shell line that may have succeeded has a command that is meant.
func (c Command) ends(means func(words []string) bool) bool {
	return c.Exit == 0 && c.Verdict != Failed && slices.ContainsFunc(shell.Parse(c.Cmd), func(s shell.Simple) bool {
		w := s.Program()
		return len(w) > 0 && means(w)
	})
}

// Gone returns the files of an exchange that are as they were before, since a command of it restored or removed them; none if
// it made a commit.
func (x *Exchange) Gone() map[string]bool {
	e, gone := Ending{Changed: x.Files()}, map[string]bool{}
	for _, c := range x.Commands {
		if c.Commits {
			return nil
		}
		e.undo(c, true)
	}
	for _, f := range x.Files() {
		gone[f.Path] = !slices.ContainsFunc(e.Changed, func(o File) bool { return o.Path == f.Path })
	}
	return gone
}

// undo removes the files from the changed ones that a command after their last edit restored, or removed if the session
// had made them. certain: only those that it names from the root of the project, as far as that is known.
func (e *Ending) undo(c Command, certain bool) {
	moved := false // to another directory
	c.ends(func(w []string) bool {
		moved = moved || w[0] == "cd" || w[0] == "pushd"
		if certain && moved || has(w, "--cached") || has(w, "--staged", "-S") && !has(w, "--worktree", "-W") {
			return false // the file stays
		}
		verb := 0
		made := path.Base(w[0]) == "rm"
		for _, v := range []string{"rm", "restore", "checkout"} {
			if git(v)(w) {
				verb, made = slices.Index(w, v), v == "rm"
			}
		}
		if !made && (verb == 0 || w[verb] == "checkout" && !slices.Contains(w, "--")) {
			return false
		}
		e.Changed = slices.DeleteFunc(e.Changed, func(f File) bool {
			return f.Last < c.N && (f.Made || !made) && slices.ContainsFunc(w[verb+1:], func(arg string) bool {
				is, above := names(arg, f.Path, certain)
				return is || above && (made || !f.Made) // of a directory, git restores what it knows
			})
		})
		return false
	})
}

// has reports whether a command has one of some options.
func has(w []string, options ...string) bool {
	return slices.ContainsFunc(options, func(o string) bool { return slices.Contains(w, o) })
}

// names reports whether an argument of a command names a file, from the root of the project or from elsewhere, or a directory above
// it or a pattern.
func names(arg, file string, certain bool) (is, above bool) {
	if arg == "" {
		return false, false
	}
	arg = strings.TrimSuffix(path.Clean(arg), "/*")
	matches, _ := path.Match(arg, file) // a malformed pattern names nothing
	is = arg == file || !certain && (strings.HasSuffix(file, "/"+arg) || strings.HasSuffix(arg, "/"+file))
	return is, matches || arg == "." || strings.HasPrefix(file, arg+"/")
}

// left notes what the last exchange leaves without an answer. A text that announces a step, or is followed by changes or
// commands, is none.
func (e *Ending) left(x *Exchange) {
	last := x.Outcome()
	if n := len(x.Questions); n > 0 && x.Questions[n-1].N > last.N {
		e.Asked = x.Questions[n-1]
		return
	}
	after := last.N
	for _, d := range x.Edits {
		after = max(after, d.N)
	}
	for _, c := range x.Commands {
		after = max(after, c.N)
	}
	for _, d := range x.Dialogs {
		after = max(after, d.N)
	}
	for _, r := range x.Refusals {
		after = max(after, r.N)
	}
	if n := len(x.Plans); n > 0 {
		plan := x.Plans[n-1]
		end := plan.N // that of what is known of it
		for _, r := range x.Refusals {
			if r.Call == plan.N {
				end, e.Refused = max(end, r.N), true
			}
		}
		if end >= after {
			e.Planned = plan
			return
		}
		e.Refused = false
	}
	if q := lastQuestion(last.Text); q != "" && after == last.N {
		e.Asked = Said{last.N, q}
		return
	}
	line := strings.TrimSpace(last.Text)
	line = strings.TrimRight(line[strings.LastIndexByte(line, '\n')+1:], "*_` ")
	e.Waiting = (x.By == User || x.By == Script) && (after > last.N || strings.HasSuffix(line, ":") || announced().MatchString(line))
}

// checkOf returns the part of a shell line from its first command that tests, builds or checks on, or "". What writes a
// file or asks for a version is none.
func checkOf(line string) string {
	for _, s := range shell.Parse(line) {
		w := slices.DeleteFunc(slices.Clone(s.Program()), func(s string) bool { return strings.Contains(s, " ") }) // a sentence
		if len(w) == 0 || !shell.IsTester(Program(strings.Join(w, " "))) || slices.ContainsFunc(w, func(s string) bool {
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
	committed = pattern(`(?i)\b(already|been|was|were|are|is|I('ve)?|it's|now|all|and) (all |just |already )?committed\b|^\W*committed\b|\bcommit (has )?(succeeded|landed|went through)\b`)
	pushed    = pattern(`(?i)\b(already|been|was|were|are|is|I('ve)?|it's|now|all|and) (all |just |already )?pushed\b|^\W*pushed\b`)
	merged    = pattern(`(?i)\b(already|been|was|were|are|is|I('ve)?|it's|now|all|and) (all |just |already )?(squash[- ])?merged (to|into|in)\b|^\W*merged\b`)
	commits   = pattern(`\bgit\b[^\n;&|]*\scommit\b`)
	pushes    = pattern(`\bgit\b[^\n;&|]*\spush\b|\bgh pr create\b|\bgt (submit|ss)\b`)
	announced = pattern(`(?i)(^|[.!?:] )\W*(now |first,? |next,? |then |ok(ay)?[.,] )?let me (check|look|see|find|read|search|explore|run|try|verify|trace|fix|update|add|start|begin|first|also|now|get|examine|investigate|understand|review|test|create|write|implement)\b[^.?!]*[.:…]?$`)
	denied    = pattern(`(?i)\b(not|n't|never|un|nothing|before|once|if|when|until|after|should|would|be)\b[^.]*$`)
)

// hasGit reports whether a command may match commits or pushes, which are slow on a long line.
func hasGit(cmd string) bool {
	return strings.Contains(cmd, "git") || strings.Contains(cmd, "gh") || strings.Contains(cmd, "gt")
}

// pattern returns a regular expression that is compiled when it is first used.
func pattern(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

// tells reports whether a text says that something was done, and not that it was not, or will be. The expression is slow on a
// long line, and matches only those with the letters word, of which none has another form that it takes for the same.
func tells(text, word string, done *regexp.Regexp) bool {
	for line := range strings.Lines(text) {
		if !strings.Contains(strings.ToLower(line), word) {
			continue
		}
		for _, m := range done.FindAllStringIndex(line, -1) {
			if !denied().MatchString(line[:m[0]]) {
				return true
			}
		}
	}
	return false
}

// Uncommitted returns the changed files with a change after which no commit was seen, nobody says that there was one, and
// no command ran that may have made one.
func (e Ending) Uncommitted() (out []File) {
	for _, f := range e.Changed {
		if f.Last > e.Told {
			out = append(out, f)
		}
	}
	return out
}

// Outside reports whether a path, as L1 has it, is not below the root of its session.
func Outside(p string) bool {
	p = strings.ReplaceAll(p, `\`, "/")
	return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "../") || p == ".." || strings.HasPrefix(p, "~") ||
		len(p) > 2 && p[1:3] == ":/"
}

// OfClient reports whether a file is of Claude Code, such as that of a plan.
func OfClient(file string) bool {
	return strings.Contains(strings.ReplaceAll(file, `\`, "/"), "/.claude/")
}

// Edited returns the last message in which one of the files was edited, or 0.
func Edited(files []File) (n int) {
	for _, f := range files {
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
