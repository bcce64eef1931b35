package config

import (
	"strings"
	"sync"
)

// A Key is one setting. A Name that ends in ".*" is a family: any last word is valid.
type Key struct {
	Name    string
	Kind    Kind
	Default string
	Usage   string // one-line description
}

func (k Key) family() bool { return strings.HasSuffix(k.Name, ".*") }

// Match reports whether name is this key or a member of this family.
func (k Key) Match(name string) bool {
	if !k.family() {
		return k.Name == name
	}
	stem := strings.TrimSuffix(k.Name, "*")
	rest, ok := strings.CutPrefix(name, stem)
	return ok && rest != "" && !strings.Contains(rest, ".")
}

// Keys returns every setting, sorted by name. The slice is shared.
func Keys() []Key { return keys() }

var keys = sync.OnceValue(func() []Key {
	return []Key{
		{"autoDecay.aggressiveAfterDays", integer(0, 36500), "30",
			"age at which a session gets a small version too; 0 for never"},
		{"autoDecay.aggressivePreset", oneOf("gentle", "standard", "aggressive"), "aggressive",
			"preset of that small version"},
		{"autoDecay.createAfterDays", integer(0, 36500), "7",
			"age at which a session without a version gets one; 0 for never"},
		{"autoDecay.createPreset", oneOf("gentle", "standard", "aggressive"), "standard", "preset of that version"},
		{"autoDecay.monthlyAfterDays", integer(1, 36500), "30",
			"age at which a session is represented by the summary of its month"},
		{"autoDecay.monthlyTokens", integer(100, 1_000_000), "8000", "maximum tokens of a monthly summary"},
		{"autoDecay.pruneIntermediateAfterDays", integer(0, 36500), "60",
			"age at which all but the last versions of a session are hidden; 0 for never"},
		{"autoDecay.run", oneOf("off", "access", "daily", "weekly"), "off",
			"when versions are created and hidden by age: on every use, once a day or once a week"},
		{"autoDecay.weeklyAfterDays", integer(1, 36500), "7",
			"age at which a session is represented by the summary of its week"},
		{"autoDecay.weeklyTokens", integer(100, 1_000_000), "4000", "maximum tokens of a weekly summary"},
		{"color.ui", oneOf("auto", "always", "never"), "auto", "when to use colour"},
		{"core.pager", text, "", "program that shows long output, instead of $PAGER and less"},
		{"defaults.autoRegisterSessions", boolean, "false", "capture sessions without a question; hooks do until you set it to false"},
		{"defaults.compressionPreset", oneOf("gentle", "standard", "aggressive"), "standard",
			"default preset of a compression"},
		{"defaults.keepitDecayEnabled", boolean, "true", "reduce the weight of keepit markers with distance and ratio"},
		{"defaults.model", text, "opus", "default model of the engines"},
		{"distill.engine", oneOf("", "claude", "anthropic", "openai", "command", "replay"), "",
			"engine that distils sessions when they end; empty for none"},
		{"engine", oneOf("extract", "claude", "anthropic", "openai", "command", "replay"), "extract",
			"engine that writes compressions"},
		{"facts.maxPerSession", integer(0, 1_000_000), "0", "maximum number of facts of one session; 0 for no limit"},
		{"hooks.action", oneOf("on", "off"), "on",
			"tell a session before a command that fails here, or an edit that the user spoke of"},
		{"hooks.ask", boolean, "false", "tell the model in a session which messages have no facts yet"},
		{"hooks.askAfterTokens", integer(1, 1_000_000), "2000",
			"tokens without facts from which hooks.ask and hooks.blocking act"},
		{"hooks.blocking", oneOf("off", "once", "strict"), "off",
			"whether the Stop hook continues a session until its facts are saved"},
		{"hooks.capture", boolean, "true", "capture sessions with hooks"},
		{"hooks.captureProject.*", boolean, "true", "capture the sessions of this project (by id) with hooks"},
		{"hooks.contextSize", integer(0, 9500), "4000",
			"maximum characters added at the start of a session; 0 for none"},
		{"hooks.every", integer(1, 999), "5", "number of tool uses between two captures by hooks"},
		{"hooks.promptSize", integer(0, 9500), "1500", "maximum characters added to a prompt; 0 for none"},
		{"keepitDecay.compressionBase.aggressive", hundredths, "0.5",
			"weight that survives an immediate aggressive compression"},
		{"keepitDecay.compressionBase.light", hundredths, "0.1", "weight that survives an immediate minimal compression"},
		{"keepitDecay.compressionBase.moderate", hundredths, "0.3", "weight that survives an immediate moderate compression"},
		{"keepitDecay.maxSessionDistance", integer(1, 1000), "10",
			"number of sessions after which the weight of a marker stays the same"},
		{"keepitDecay.pinnedWeight", hundredths, "1", "weight from which a marker is always kept"},
		{"llm.apiKeyCommand", text, "", "command that prints the API key, if no environment variable contains it"},
		{"llm.baseURL", text, "", "base URL of the model server; empty for that of the provider"},
		{"llm.command", text, "", "command of the engine \"command\": JSON on stdin and stdout"},
		{"llm.maxTokensPerDay", capTokens, "2000000", "maximum tokens of models per day (UTC), or none for no limit"},
		{"llm.maxUSDPerDay", capDollars, "10", "maximum cost of models per day (UTC) in dollars, or none for no limit"},
		{"llm.model", text, "", "model of the engines; empty for defaults.model"},
		{"llm.price", price, "", "dollars per million tokens in and out, such as 3/15; empty for the known price"},
		{"llm.timeout", duration, "10m", "maximum time for one answer of a model"},
		{"llm.window", integer(1000, 1_000_000), "60000", "maximum tokens of a session in one request to a model"},
		{"lock.timeout", duration, "10s", "maximum time to wait for another command that writes"},
		{"pager.*", boolean, "true", "use the pager for this command"},
		{"recall.enabled", boolean, "true", "add matching content of earlier sessions to prompts"},
		{"redact.allow.*", text, "", "rule or hash of a secret that is not redacted, with the reason"},
		{"redact.environment", boolean, "true",
			"redact values of secret environment variables and of .env files"},
		{"redact.rule.*", pattern, "", "regular expression of your own secrets; only its first group, if any, is replaced"},
		{"redact.rules", oneOf("on", "off"), "on", "redact secrets before sessions are stored"},
		{"remote.quiet", duration, "10s",
			"maximum time without data from a server; 30 times that before its first byte"},
		{"storage.compressionRetention", retention, "all",
			"compressions to keep: all, a number a session, or an age such as 90d"},
		{"storage.maxCacheSize", size, "1GB", "maximum size of the cache"},
		{"tokens.model", text, "", "model for token estimates; empty for that of the session"},
		{"ui.confirmDestructiveActions", boolean, "true", "ask before removals"},
		{"ui.defaultView", oneOf("timeline", "list"), "timeline", "how sessions are listed: by month, or in one list"},
		{"ui.showTokenEstimates", boolean, "true", "show estimated tokens in lists"},
		{"version", text, "1.0.0", "version of the settings file"},
	}
})

// Lookup returns the key with the given name, or its family. It fails with an [*UnknownKeyError].
func Lookup(name string) (Key, error) {
	for _, k := range Keys() {
		if k.Match(name) {
			return k, nil
		}
	}
	var names []string
	for _, k := range Keys() {
		names = append(names, k.Name)
	}
	return Key{}, &UnknownKeyError{Key: name, Keys: names}
}
