package shell

import (
	"regexp"
	"strings"
	"sync"
)

// expression returns a regular expression that is compiled when it is first used.
func expression(s string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(s) })
}

var (
	gitCommit = expression(`\bgit\b[^\n;&|]*\scommit\b`)
	gitPush   = expression(`\bgit\b[^\n;&|]*\spush\b`)
	fetches   = expression(`\bgit\b[^\n;&|]*\s(pull|fetch)\b`)
	messages  = expression(`\s(-[a-z]*m|--message)\b`)
	committed = expression(`^\[[^\[\]]* [0-9a-f]{7,40}\] (.*)$`)
	updated   = expression(`^ [ +*] (\[new (branch|tag)\]|[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40}) +\S+ +-> \S`)
	wrapped   = expression(`^FAILED: git (commit|push)\b`)
)

// commits and pushes report whether a shell line contains "git commit" and "git push". The expressions are slow on a long line.
func commits(line string) bool {
	return strings.Contains(line, "commit") && gitCommit().MatchString(line)
}
func pushes(line string) bool { return strings.Contains(line, "push") && gitPush().MatchString(line) }

// gitDone returns which of "git commit" and "git push" a shell line contains, in whatever form, and its output shows to
// be done: by the line with which git names the commit, with the message that the shell line gives, and by those with
// which it names the updated branches of the remote. The exit status need not belong to them.
func gitDone(line, out string) (done []string) {
	commit, push := commits(line), pushes(line)
	if !commit && !push {
		return nil
	}
	plain := func(s string) string { return strings.ReplaceAll(s, `\`, "") }
	made, sent, rejected := false, false, false
	received := fetches().MatchString(line)
	for s := range strings.Lines(out) {
		s = strings.TrimRight(s, " \t\r\n")
		switch m := committed().FindStringSubmatch(s); {
		case m != nil:
			made = made || !messages().MatchString(line) || m[1] != "" && strings.Contains(plain(line), plain(m[1]))
		case strings.HasPrefix(s, "From "):
			received = true
		case strings.HasPrefix(s, "To "):
			received = false
		case strings.HasPrefix(s, " ! ["):
			rejected = true
		case !received && updated().MatchString(s):
			sent = true
		}
	}
	if commit && made {
		done = append(done, "git commit")
	}
	if push && sent && !rejected {
		done = append(done, "git push")
	}
	return done
}

// gitFailed returns the line with which a wrapper of git says that it failed, whose exit status is 0 all the same, or "".
func gitFailed(line, out string) string {
	if commits(line) || pushes(line) {
		for s := range strings.Lines(out) {
			if s = strings.TrimRight(s, "\r\n"); wrapped().MatchString(s) {
				return s
			}
		}
	}
	return ""
}
