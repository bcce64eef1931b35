package hooks

// A Purpose is what the hook of an event does, and what it costs, in words.
type Purpose struct {
	Event Event  `json:"event"`
	Does  string `json:"does"`
	Costs string `json:"costs"`
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
		{SessionStart, "captures what earlier sessions left; hands over context", "input tokens of that context; at most 3 s"},
		{UserPromptSubmit, "marks where an exchange begins", capture},
		{PostToolUse, tool, toolCosts},
		{PostToolUseFailure, tool, toolCosts},
		{SubagentStop, "captures the subagent", capture},
		{PreCompact, "captures; names pinned text to the compaction", capture},
		{Stop, stop, stopCosts},
		{SessionEnd, end, endCosts},
	}
}
