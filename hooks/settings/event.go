package settings

import (
	"strings"
)

// An Event is a moment at which Claude Code runs a hook, by its own name.
type Event string

// The events that mem takes part in.
const (
	SessionStart       Event = "SessionStart"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	SubagentStop       Event = "SubagentStop"
	PreCompact         Event = "PreCompact"
	Stop               Event = "Stop"
	SessionEnd         Event = "SessionEnd"
)

// Events returns the events that mem takes part in, in the order of a session.
func Events() []Event {
	return []Event{SessionStart, UserPromptSubmit, PostToolUse, PostToolUseFailure, SubagentStop, PreCompact, Stop,
		SessionEnd}
}

// ParseEvent returns the event of a name as Claude Code writes it, or as a command line does: session-start.
func ParseEvent(name string) (Event, bool) {
	plain := strings.ToLower(strings.ReplaceAll(name, "-", ""))
	for _, e := range Events() {
		if strings.ToLower(string(e)) == plain {
			return e, true
		}
	}
	return "", false
}

// Arg returns the name of the event as a command line writes it.
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

// Brief reports whether the event's payload may be huge and is not worth reading whole.
func (e Event) Brief() bool { return e == PostToolUse || e == PostToolUseFailure }
