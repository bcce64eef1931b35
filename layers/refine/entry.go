package refine

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
)

// An Entry is one line of L1. Role is one of
//
//	user       Said was typed by the user (Side: by another agent; Script: by a script): a request, or with Name
//	           "answer" the answers in a dialog, with Name "refusal" the reason for refusing the call Target
//	assistant  Said was written by the model
//	tool       a call of the tool Name, with its result; the report of a background agent is the result of an "Agent"
//	summary    Said is a compact summary; Name "boundary" is the place of the compaction
//	note       Said was written by the client or another agent; Name says what it is: "plan" is a plan that the client
//	           sent back, "message" the text of another session, a teammate or a channel, which Target names
//	opaque     an unreadable record of Bytes bytes
type Entry struct {
	N    int    `json:"n"` // number of its message
	TS   string `json:"ts,omitempty"`
	Role string `json:"role"`
	// in a sidechain, the conversation of an agent; in the file of a subagent, only its prompts have it
	Side bool `json:"side,omitempty"`
	// the run was headless: a script wrote Said of a user
	Script bool `json:"script,omitempty"`
	// on a branch that the user withdrew; see [transcript.Tree]
	Rewound bool   `json:"rewound,omitempty"`
	Name    string `json:"name,omitempty"`
	Said    string `json:"text,omitempty"`
	// file (:line of the first change), pattern, question; a file in the first working directory or in a sibling of it is
	// relative to it
	Target string `json:"target,omitempty"`
	Lines  string `json:"lines,omitempty"` // of a read: "from-to"
	// of a shell; of a note "notice" and a call that fetched its output, that which ended in the background
	Cmd  string `json:"cmd,omitempty"`
	Dir  string `json:"dir,omitempty"`  // in which Cmd ran, relative to the first working directory; "" if that is it
	Exit int    `json:"exit,omitempty"` // of Cmd
	// of Cmd: "passed", "failed", or "" if that is not proven; see [shell.Judge]. An exit status of 0 proves nothing
	Verdict string   `json:"verdict,omitempty"`
	Proof   string   `json:"proof,omitempty"`  // the line of the output that proves it, "" if the exit status does
	Done    []string `json:"done,omitempty"`   // commands of Cmd that passed although Verdict does not say so
	Tasks   []string `json:"tasks,omitempty"`  // what tasks of Cmd stand for, as its output says; see [shell.Tasks]
	Failed  []string `json:"failed,omitempty"` // names of tests that Cmd saw fail
	Passed  []string `json:"passed,omitempty"` // and pass: those that failed before, and all if they are few
	// changed lines, each after "-" or "+"; "@@" is a gap
	Diff    string   `json:"diff,omitempty"`
	Symbols []string `json:"symbols,omitempty"` // that the diff defines, changes or adds
	Errors  []string `json:"errors,omitempty"`  // lines of the output that report a failure
	Result  string   `json:"result,omitempty"`  // "ok", the first lines of the error, or "" without a result
	Dialog  []Answer `json:"dialog,omitempty"`  // of an "answer": the questions with the answers, which Said repeats
	Images  int      `json:"images,omitempty"`
	Bytes   int64    `json:"bytes,omitempty"` // of opaque
	At      int      `json:"at,omitempty"`    // number of the message with Said, if that is another one; see [transcript.Said]

	UUID string `json:"-"` // of its record; not in L1
	To   int    `json:"-"` // the message with the result of a call; not in L1
}

// An Answer is a question of a dialog with the user's answer.
type Answer transcript.Answer

// Author returns the author of e in the words of [transcript.Author]; "opaque" is no author.
func (e Entry) Author() string {
	switch {
	case e.Role == "user" && e.Side:
		return transcript.ByAgent
	case e.Role == "user" && e.Script:
		return transcript.ByScript
	case e.Role == "note" && e.Name == "plan":
		return transcript.ByPlan
	}
	return e.Role
}

// Typed reports whether e contains words of the user: a request, an answer or the reason for a refusal.
func (e Entry) Typed() bool { return e.Prompt() && !e.Script }

// Prompt reports whether e was typed, by the user or by a script.
func (e Entry) Prompt() bool { return e.Role == "user" && !e.Side }

// Request reports whether e was typed at a prompt, by the user or by a script: it begins an exchange. Answers and
// refusals continue one.
func (e Entry) Request() bool { return e.Prompt() && e.Name == "" }

// Input returns what the model wrote in the call e of a tool: its target, command, change and plan.
func (e Entry) Input() string {
	if e.Role != "tool" || e.Name == "result" {
		return ""
	}
	e.Exit, e.Verdict, e.Result, e.Errors, e.Symbols = 0, "", "", nil, nil
	return e.Text()
}

// Output returns what the tool of the call e answered: the result and the lines that report a failure.
func (e Entry) Output() string {
	if e.Role != "tool" {
		return ""
	}
	return Entry{Exit: e.Exit, Verdict: e.Verdict, Result: e.Result, Errors: e.Errors}.Text()
}

// Entries yields the entries of an L1 that hold: without those that the user withdrew. An error ends the sequence and
// names the line.
func Entries(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for e, err := range WithRewound(r) {
			if (err != nil || !e.Rewound) && !yield(e, err) {
				return
			}
		}
	}
}

// WithRewound is [Entries] with those that the user withdrew.
func WithRewound(r io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Entry{}, fmt.Errorf("read L1: line %d: %w", n, err))
				return
			}
			if len(line) == 0 {
				return
			}
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				yield(Entry{}, fmt.Errorf("read L1: line %d: %w", n, err))
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// String returns e for display: its number, its role, and Text.
func (e Entry) String() string {
	who := e.Role
	if e.Side {
		who = "agent " + who
	}
	return fmt.Sprintf("#%d %s: %s", e.N, who, e.Text())
}

// Text returns all of e except number, time and role, for display or search. It may have several lines.
func (e Entry) Text() string {
	var b strings.Builder
	put := func(sep, s string) {
		if s == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
	}
	put("", e.Name)
	put(" ", e.Target)
	put(":", e.Lines)
	put(" ", e.Cmd)
	if len(e.Symbols) > 0 {
		put(" ", "[symbols: "+strings.Join(e.Symbols, " ")+"]")
	}
	if e.Exit != 0 {
		put(" ", "[exit "+strconv.Itoa(e.Exit)+"]")
	}
	if e.Verdict != "" && e.Exit == 0 {
		put(" ", "["+e.Verdict+"]")
	}
	if e.Images > 0 {
		put(" ", "["+strconv.Itoa(e.Images)+" image(s)]")
	}
	if e.Bytes > 0 {
		put(" ", "["+strconv.FormatInt(e.Bytes, 10)+" bytes]")
	}
	for _, a := range e.Dialog {
		put("\n", a.Question)
		put("\n", a.Answer)
		put("\n", a.Notes)
	}
	if len(e.Dialog) == 0 {
		put("\n", e.Said)
	}
	put("\n", e.Diff)
	if e.Result != "ok" {
		put("\n=> ", e.Result)
	}
	put("\n! ", strings.Join(e.Errors, "\n! "))
	return b.String()
}
