package settings

import (
	"strings"
)

// An Event is an event at which Claude Code runs hooks, by Claude Code's name.
type Event string

// The events that have hooks of mem.
const (
	SessionStart       Event = "SessionStart"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	Stop               Event = "Stop"
	StopFailure        Event = "StopFailure"
	SessionEnd         Event = "SessionEnd"
)

// Events returns the events that have hooks of mem, in the order of a session.
func Events() []Event {
	return []Event{SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, PostToolUseFailure, SubagentStart, SubagentStop,
		PreCompact, Stop, StopFailure, SessionEnd}
}

// ParseEvent parses the name of an event, in the form of Claude Code (SessionStart) or of a command line
// (session-start).
func ParseEvent(name string) (Event, bool) {
	plain := strings.ToLower(strings.ReplaceAll(name, "-", ""))
	for _, e := range Events() {
		if strings.ToLower(string(e)) == plain {
			return e, true
		}
	}
	return "", false
}

// Arg returns the name of the event on the command line: session-start.
func (e Event) Arg() string {
	var b strings.Builder
	for i, r := range string(e) {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('-')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Matcher returns the tools for which the event runs a hook, "" for all.
func (e Event) Matcher() string {
	if e == PreToolUse {
		return "Bash|Edit|MultiEdit|Write|NotebookEdit"
	}
	return ""
}

// Brief reports whether the event's payload may be huge, so that only its first members are read.
func (e Event) Brief() bool { return e == PostToolUse || e == PostToolUseFailure }
