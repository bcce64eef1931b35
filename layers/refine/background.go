package refine

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/shell"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// A task is a command that runs in the background.
type task struct{ cmd, line, dir string }

// Limits of the commands in the background that are known at a time.
const (
	maxBackground = 100
	maxTaskLine   = 8 << 10
)

// inBackground matches the result of a call whose command goes on in the background.
var inBackground = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Command (?:running in background|was manually backgrounded)\b[^\n]*? with ID: (\w+)`)
})

// leaves notes that the command of a call goes on in the background.
func (r *refiner) leaves(x *entry, b transcript.Block) {
	id := gjson.GetBytes(r.m.ToolUseResult, "backgroundTaskId").String()
	if m := inBackground().FindStringSubmatch(Clean(b.Result())); id == "" && m != nil {
		id = m[1]
	}
	if id != "" && len(r.background) < maxBackground && len(x.line) < maxTaskLine {
		r.background[strings.Clone(id)] = task{strings.Clone(x.Cmd), strings.Clone(x.line), x.Dir}
	}
}

// fetched sets the command and its verdict in the call x that fetched the output of one that ended in the background.
func (r *refiner) fetched(x *entry, b transcript.Block) {
	text := Clean(b.Result())
	exit, err := strconv.Atoi(between(text, "exit_code"))
	if between(text, "status") == "completed" && err == nil {
		r.finished(&x.Entry, strings.TrimSpace(x.Target), exit, shell.Run{
			Output: between(text, "output") + between(text, "stdout") + between(text, "stderr")})
	}
}

// exited matches the summary of a notice that a command in the background ended.
var exited = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^Background command ".*" (?:completed \(exit code (\d+)\)|failed with exit code (\d+))$`)
})

// notified sets the command and its verdict in the note e of a notice that it ended in the background.
func (r *refiner) notified(e *Entry, notice string) {
	m := exited().FindStringSubmatch(strings.ReplaceAll(between(notice, "summary"), "\n", " "))
	if m == nil {
		return
	}
	exit, _ := strconv.Atoi(m[1] + m[2]) // 0 if it is too great for a status: then it is not believed below
	if len(m[1]+m[2]) < 4 {
		r.finished(e, between(notice, "task-id"), exit, shell.Run{Unseen: true})
	}
}

// finished sets the command of a task in the background that ended, and what it proves.
func (r *refiner) finished(e *Entry, id string, exit int, run shell.Run) {
	t, known := r.background[id]
	if !known {
		return
	}
	delete(r.background, id)
	e.Cmd, e.Dir, e.Exit, e.Target = t.cmd, t.dir, exit, ""
	run.Line, run.Ended, run.Exit = t.line, true, exit
	r.verdict(e, run)
}
