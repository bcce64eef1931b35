package hooks

import (
	"github.com/memvcs/mem/hooks/settings"
)

// A Purpose is what the hook of an event does, and what it costs, in words.
type Purpose struct {
	Event settings.Event `json:"event"`
	Does  string         `json:"does"`
	Costs string         `json:"costs"`
}

// Purposes returns what the hooks do and cost under settings, in the order of a session.
func Purposes(s Settings) []Purpose {
	const capture = "milliseconds"
	tool, stop, end := "captures now and then", "captures", "captures in the background"
	toolCosts, stopCosts, endCosts := capture, capture, capture
	if s.Ask {
		tool, toolCosts = tool+"; names messages without facts", "input tokens, once a prompt"
	}
	if s.Blocking != "off" {
		stop, stopCosts = stop+"; asks for missing facts", "up to one turn of the model more"
		if s.Blocking == "strict" {
			stopCosts = "turns of the model until nothing is missing"
		}
	}
	if s.Distill {
		end, endCosts = end+"; a model distils the session", "tokens of that model, within llm.maxTokensPerDay"
	}
	return []Purpose{
		{settings.SessionStart, "captures what earlier sessions left; hands over context", "input tokens of that context; at most 3 s"},
		{settings.UserPromptSubmit, "marks where an exchange begins", capture},
		{settings.PostToolUse, tool, toolCosts},
		{settings.PostToolUseFailure, tool, toolCosts},
		{settings.SubagentStop, "captures the subagent", capture},
		{settings.PreCompact, "captures; names pinned text to the compaction", capture},
		{settings.Stop, stop, stopCosts},
		{settings.SessionEnd, end, endCosts},
	}
}
