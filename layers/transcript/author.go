package transcript

import "strings"

// The words for the author of a text. Every list, page and answer uses these.
const (
	ByUser      = "user"
	ByScript    = "script" // typed by a script in a headless run
	ByAssistant = "assistant"
	ByPlan      = "plan"    // a plan of the assistant that the user accepted, sent back by the client
	ByAgent     = "agent"   // the prompt that an agent gave to a subagent
	ByTool      = "tool"    // a call with its result, and the report of a background agent
	BySummary   = "summary" // of a compaction
	ByNote      = "note"    // the client, a hook, another session, a teammate or a channel
)

// Accepted explains [ByPlan] where there is room.
const Accepted = "accepted by the user"

// PlanLabel is the label of a plan in a text without a column for the author.
const PlanLabel = ByPlan + ", " + Accepted

// Author returns the author of the text block s of m that nobody typed: see [Typed] for typed text.
func Author(m Message, s string) string {
	if m.Role == "assistant" && !m.Synthetic() {
		return ByAssistant
	}
	if m.CompactSummary {
		return BySummary
	}
	if _, ok := PlanSentBack(m); ok {
		return ByPlan
	}
	switch {
	case (m.Sidechain || m.AgentID != "") && !m.Meta:
		return ByAgent
	case Reported(s):
		return ByTool
	}
	return ByNote
}

// Synthetic reports whether the client wrote a record in the place of an answer: an error of the API, or that nothing was
// asked. Nobody said it.
func (m Message) Synthetic() bool { return m.Model == "<synthetic>" }

// Reported reports whether s is a notification with the report of a background agent, which stands for the result of the
// call that started it.
func Reported(s string) bool {
	s = strings.TrimSpace(s)
	_, after, _ := strings.Cut(s, "<result>")
	result, _, _ := strings.Cut(after, "</result>")
	return strings.HasPrefix(s, "<task-notification>") && strings.TrimSpace(result) != ""
}
