package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Verdict is "passed", "failed" or "", which is not known.
type Verdict string

// The verdicts that are known.
const (
	Passed Verdict = "passed"
	Failed Verdict = "failed"
)

// A Run is what is known of one run of a shell line.
type Run struct {
	Line   string
	Ended  bool // Exit is the exit status of the line; it did not run in the background and was not interrupted
	Exit   int
	Output string // without colours
	Unseen bool   // it is not known what it printed
}

// A judgement is a verdict with its proof.
type judgement struct {
	Verdict Verdict
	Proof   string   // the line of the output that proves it; "" if the exit status does
	Done    []string // names of commands of the line that passed although the line is not known to have passed; of git, see [gitDone]
	Failed  []string // names of tests that failed
	Passed  []string // names of tests that passed
}

// readLimit is the size of an output that is searched: its start and its end.
const readLimit = 1 << 20

// maxList is the number of commands above which a line is not judged: nobody wrote it.
const maxList = 1000

// Judge judges a run of a shell line. It passed if everything in it that builds, tests, checks or otherwise acts passed. It
// failed if something of that failed.
func Judge(r Run) (j judgement) {
	if len(r.Output) > readLimit {
		r.Output = r.Output[:readLimit/2] + "\n" + r.Output[len(r.Output)-readLimit/2:]
	}
	j.Done = gitDone(r.Line, r.Output)
	if failed := gitFailed(r.Line, r.Output); failed != "" {
		j.Verdict, j.Proof = Failed, failed
		return j
	}
	list := Parse(r.Line)
	acting := slices.ContainsFunc(list, Simple.Acts)
	if !acting || len(list) > maxList {
		return j
	}
	own := byStatus(r, list)
	said, names := byOutput(r, list)
	j.Failed, j.Passed = names.failed, names.passed
	switch {
	case own == Passed && (said.verdict == Failed || reportsFailure(r.Output)):
		return j // a script that hides the status of its runner
	case own != Failed && said.verdict != Failed && ranNothing(r.Output):
		return j
	case own != "":
		j.Verdict = own
		if said.verdict == own {
			j.Proof = said.line
		}
	case said.verdict == "" && said.all(list):
		j.Verdict, j.Proof = Passed, said.line
	case said.verdict != "":
		j.Verdict, j.Proof = said.verdict, said.line
	}
	if j.Verdict != Passed {
		j.Done = append(j.Done, doneOf(list, said.passed)...)
	}
	return j
}

// doneOf returns the names of the commands of a line of which each run passed.
func doneOf(list []Simple, passed []bool) (out []string) {
	commands := Commands(list)
	for _, c := range commands {
		if !slices.Contains(out, c.Name) && !slices.ContainsFunc(commands, func(o Command) bool { return o.Name == c.Name && !passed[o.At] }) {
			out = append(out, c.Name)
		}
	}
	return out
}

// reportsFailure reports whether a line of an output is the summary of a runner that failed, whoever printed it.
func reportsFailure(out string) bool {
	_, failed := scan(out, "", hidden)
	return failed.line != ""
}

// ranNothing reports whether an output says that a runner of tests found none to run, and not that another one ran some.
func ranNothing(out string) bool {
	found := false
	for line := range strings.SplitSeq(out, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line == "" || len(line) > maxSummary {
			continue
		}
		if nothing().MatchString(line) {
			found = true
		} else if k, _, ok := match(line, ""); ok && k != failsRun && line != "OK" {
			return false
		}
	}
	return found
}

// nothing matches the line with which a runner says that it ran no test.
var nothing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ok\s.*\[no tests to run\]$|^\?\s.*\[no test files\]$|^test result: ok\. 0 passed|^\s*0 passing\b|^Ran 0 tests\b|` +
		`\bno tests ran in\b|^No tests? (files? )?found\b|^No tests (executed|were found)!|^No test is available\b|^There are no tests to run|` +
		`^(\d+ doctests?, )?0 (tests|examples|runs)\b|^\s*Executed 0 tests\b|^ok \| 0 passed\b|^1\.\.0\b|^Result: NOTESTS`)
})

// harmless are programs that hardly ever fail, before or after the command that counts.
var harmless = strings.Fields("cd pushd popd export set unset source . mkdir echo printf true sleep : touch rm cp wait local")

// broken matches the message of a harmless program that failed.
var broken = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)(^|[: ])(cd|pushd|source|\.|rm|mkdir|cp|touch)(: .*)?: .*(No such file|[Nn]ot a directory|Permission denied|not found|cannot)`)
})

// byStatus returns the verdict of the exit status.
func byStatus(r Run, list []Simple) Verdict {
	if !r.Ended {
		return ""
	}
	ok, bad := Settles(list)
	if r.Exit == 0 {
		for i, s := range list {
			if s.Acts() && !ok[i] {
				return ""
			}
		}
		return Passed
	}
	if r.Exit == 124 || r.Exit > 128 { // a time limit or a signal ended it
		return ""
	}
	found := false
	for i, s := range list {
		switch w := s.Program(); {
		case !bad[i]:
		case s.Acts():
			found = true
		case len(w) > 0 && !slices.Contains(harmless, path.Base(w[0])):
			return "" // it may be the one that failed
		}
	}
	if !found || broken().MatchString(r.Output) {
		return ""
	}
	return Failed
}

// JudgedCommands returns the named commands of a line with the verdict of each: done are those that passed although the line is
// not known to have passed. Of the others of a line that failed it is known only if one remains, or if names of failed
// tests tell that it was the one that tests.
func JudgedCommands(line string, v Verdict, done []string, tests bool) (list []Command, verdicts []Verdict) {
	parsed := Parse(line)
	list = Commands(parsed)
	verdicts = make([]Verdict, len(list))
	unknown := 0
	for _, s := range parsed {
		if s.Acts() {
			unknown++
		}
	}
	var left []int
	for i, c := range list {
		if v == Passed || slices.Contains(done, c.Name) {
			verdicts[i] = Passed
			unknown--
		} else {
			left = append(left, i)
		}
	}
	alone := unknown <= len(left) && !slices.ContainsFunc(left, func(i int) bool { return list[i].Name != list[left[0]].Name })
	for _, i := range left {
		if v == Failed && (alone || tests && i == len(list)-1 && strings.Contains(list[i].Name, "test")) {
			verdicts[i] = Failed
		}
	}
	return list, verdicts
}
