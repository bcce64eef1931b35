package hooks

import (
	"fmt"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/layers/handover"
)

// A Purpose describes what the hook of an event does, what it costs in context or tokens of a model, and how long it
// may take.
type Purpose struct {
	Event   settings.Event `json:"event"`
	Does    string         `json:"does"`
	Costs   string         `json:"costs"`
	LimitMS int64          `json:"limitMs"`
	MS      float64        `json:"ms,omitempty"` // that it took, where it was measured
}

// Purposes returns the purposes of all hooks under settings, in the order of a session.
func Purposes(s Settings) []Purpose {
	const capture = "nothing"
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
	if s.Distill != "" {
		end, endCosts = end+"; a model distils the session", "tokens of that model, within llm.maxTokensPerDay"
	}
	start, startCosts := "captures", capture
	compact, compactCosts := "captures; names pinned text to the compaction", capture
	if s.ContextSize > 0 {
		start, startCosts = start+"; adds context", upTo(s.ContextSize)
		compact, compactCosts = "captures; adds pinned text", startCosts
	}
	prompt, promptCosts := "marks a request", capture
	if s.Recall && s.PromptSize > 0 {
		prompt += "; adds matches"
		promptCosts = upTo(s.PromptSize)
	}
	action, agent, actionCosts, agentCosts := "nothing", "nothing", "nothing", "nothing"
	if s.Action {
		action, actionCosts = "names what fails here, and what the user said of a file", upTo(handover.MaxActionText)
	}
	if s.ContextSize > 0 {
		agent, agentCosts = "adds rules and pinned text", upTo(subagentSize)
	}
	list := []Purpose{
		{Event: settings.SessionStart, Does: start, Costs: startCosts},
		{Event: settings.UserPromptSubmit, Does: prompt, Costs: promptCosts},
		{Event: settings.PreToolUse, Does: action, Costs: actionCosts},
		{Event: settings.PostToolUse, Does: tool, Costs: toolCosts},
		{Event: settings.PostToolUseFailure, Does: tool, Costs: toolCosts},
		{Event: settings.SubagentStart, Does: agent, Costs: agentCosts},
		{Event: settings.SubagentStop, Does: "captures the subagent", Costs: capture},
		{Event: settings.PreCompact, Does: compact, Costs: compactCosts},
		{Event: settings.Stop, Does: stop, Costs: stopCosts},
		{Event: settings.StopFailure, Does: "captures", Costs: capture},
		{Event: settings.SessionEnd, Does: end, Costs: endCosts},
	}
	for i, p := range list {
		list[i].LimitMS = limitOf(p.Event).Milliseconds()
	}
	return list
}

// upTo returns the most characters that a hook adds to the context.
func upTo(n int) string { return fmt.Sprintf("up to %d characters", n) }
