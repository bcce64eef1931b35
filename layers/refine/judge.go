package refine

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// Limits of the names of tests of an entry.
const (
	maxFailedTests = 40
	maxPassedTests = 12
	maxSeenFailed  = 400 // names that are kept for the whole session
)

// judge sets the verdict of a shell command and the names of its tests. Of the tests that passed, an entry has those
// that failed before, and all if they are few.
func (r *refiner) judge(x *entry, b transcript.Block) {
	if strings.HasPrefix(x.Result, refused) {
		return
	}
	out := Clean(b.Result())
	exit := x.Exit
	if exit == 0 && b.IsError && r.untold(b) {
		exit = 1
	}
	r.verdict(&x.Entry, shell.Run{Line: x.line, Ended: r.ended(exit, b, out), Exit: exit, Output: out})
}

// verdict sets what a run of a command proves.
func (r *refiner) verdict(e *Entry, run shell.Run) {
	j := shell.Judge(run)
	e.Verdict, e.Proof = string(j.Verdict), cut(j.Proof, lineLimit)
	e.Done, e.Tasks = j.Done, shell.Tasks(run.Line, run.Output)
	e.Failed = j.Failed[:min(len(j.Failed), maxFailedTests)]
	if len(j.Passed) > maxPassedTests {
		j.Passed = slices.DeleteFunc(j.Passed, func(name string) bool { return !r.failedTests[name] })
	}
	e.Passed = j.Passed[:min(len(j.Passed), maxFailedTests)]
	for _, name := range e.Failed {
		if len(r.failedTests) < maxSeenFailed {
			r.failedTests[name] = true
		}
	}
}

// untold reports whether the error b says that a command failed, of which the client does not tell the exit status: those
// up to 2.0.9 told of none.
func (r *refiner) untold(b transcript.Block) bool {
	s, v := b.Result(), r.m.Version
	old := strings.HasPrefix(v, "1.") || strings.HasPrefix(v, "2.0.") && len(v) == len("2.0.9")
	return old && !strings.HasPrefix(s, "<tool_use_error>") && !strings.HasPrefix(s, "[Request interrupted") &&
		!strings.HasPrefix(s, "Claude requested permissions")
}

// ended reports whether the exit status of a command is known: it ran to its end in the foreground.
func (r *refiner) ended(exit int, b transcript.Block, out string) bool {
	for _, start := range []string{"Command running in background", "Command was manually backgrounded", "Command timed out"} {
		if strings.HasPrefix(out, start) {
			return false
		}
	}
	result := gjson.ParseBytes(r.m.ToolUseResult)
	if result.Get("interrupted").Bool() || result.Get("backgroundTaskId").Exists() ||
		result.Get("returnCodeInterpretation").Exists() { // the status was not 0, which the client takes for an answer
		return false
	}
	return exit != 0 || !b.IsError
}
