package hooks

import (
	"fmt"

	"github.com/memvcs/mem/hooks/settings"
)

// A Purpose describes what the hook of an event does and costs.
type Purpose struct {
	Event settings.Event `json:"event"`
	Does  string         `json:"does"`
	Costs string         `json:"costs"`
}

// Milliseconds is the cost of a hook that costs nothing but time.
const Milliseconds = "milliseconds"

// Purposes returns the purposes of all hooks under settings, in the order of a session.
func Purposes(s Settings) []Purpose {
	const capture = Milliseconds
	tool, stop, end := "captures now and then", "captures", "captures in the background"
	toolCosts, stopCosts, endCosts := capture, capture, capture
	if s.Ask {
		tool, toolCosts = tool+"; names messages without facts", "input tokens, once a prompt"
	}
	if s.Blocking != "off" {
		stop, stopCosts = stop+"; asks for missing facts", "up to one more turn of the model"
		if s.Blocking == "strict" {
			stopCosts = "turns of the model until nothing is missing"
		}
	}
	if s.Distill {
		end, endCosts = end+"; a model distils the session", "tokens of that model, within llm.maxTokensPerDay"
	}
	start, startCosts := "captures", "at most 3 s"
	compact, compactCosts := "captures; names pinned text to the compaction", capture
	if s.ContextSize > 0 {
		start, startCosts = start+"; adds context", fmt.Sprintf("up to %d characters; 3 s",
			s.ContextSize)
		compact, compactCosts = "captures; adds pinned text",
			fmt.Sprintf("up to %d characters", s.ContextSize)
	}
	prompt, promptCosts := "marks a request", capture
	if s.Recall && s.PromptSize > 0 {
		prompt += "; adds matches"
		promptCosts = fmt.Sprintf("up to %d characters", s.PromptSize)
	}
	action, agent := "nothing", "nothing"
	if s.Action {
		action = "names what fails here, and what the user said of a file"
	}
	if s.ContextSize > 0 {
		agent = "adds rules and pinned text"
	}
	return []Purpose{
		{settings.SessionStart, start, startCosts},
		{settings.UserPromptSubmit, prompt, promptCosts},
		{settings.PreToolUse, action, "up to 700 characters, once for each"},
		{settings.PostToolUse, tool, toolCosts},
		{settings.PostToolUseFailure, tool, toolCosts},
		{settings.SubagentStart, agent, "up to 1500 characters"},
		{settings.SubagentStop, "captures the subagent", capture},
		{settings.PreCompact, compact, compactCosts},
		{settings.Stop, stop, stopCosts},
		{settings.StopFailure, "captures", capture},
		{settings.SessionEnd, end, endCosts},
	}
}
