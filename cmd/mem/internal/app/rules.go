package app

// The families of settings of redaction.
const (
	AllowKey = "redact.allow."
	RuleKey  = "redact.rule."
)
