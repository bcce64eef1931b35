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
	Usage   string // one line for people
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
		{"autoDecay.monthlyAfterDays", integer(1, 36500), "30", "age at which the summary of its month stands for a session"},
		{"autoDecay.monthlyTokens", integer(100, 1_000_000), "8000", "tokens of a monthly summary at most"},
		{"autoDecay.pruneIntermediateAfterDays", integer(0, 36500), "60",
			"age at which all but the last versions of a session are hidden; 0 for never"},
		{"autoDecay.run", oneOf("off", "access", "daily", "weekly"), "off",
			"when sessions age by themselves: whenever memory is used, once a day or once a week"},
		{"autoDecay.weeklyAfterDays", integer(1, 36500), "7", "age at which the summary of its week stands for a session"},
		{"autoDecay.weeklyTokens", integer(100, 1_000_000), "4000", "tokens of a weekly summary at most"},
		{"color.ui", oneOf("auto", "always", "never"), "auto", "when to use colour"},
		{"core.pager", text, "", "program that shows long output, instead of $PAGER and less"},
		{"defaults.autoRegisterSessions", boolean, "false", "capture sessions without being asked"},
		{"defaults.compressionPreset", oneOf("gentle", "standard", "aggressive"), "standard",
			"preset of a compression that names none"},
		{"defaults.keepitDecayEnabled", boolean, "true", "let keepit markers fade with distance and ratio"},
		{"defaults.model", text, "opus", "model that an engine asks if it needs one"},
		{"distill.engine", oneOf("", "claude", "anthropic", "openai", "command", "replay"), "",
			"engine that distils sessions when they end; empty asks no model"},
		{"engine", oneOf("extract", "claude", "anthropic", "openai", "command", "replay"), "extract",
			"engine that writes compressions"},
		{"facts.maxPerSession", integer(0, 1_000_000), "0", "facts that may be saved of one session; 0 for no limit"},
		{"hooks.ask", boolean, "false", "tell the model in a session which of its messages have no facts yet"},
		{"hooks.askAfterTokens", integer(1, 1_000_000), "2000",
			"tokens without facts from which hooks.ask and hooks.blocking act"},
		{"hooks.blocking", oneOf("off", "once", "strict"), "off",
			"whether the Stop hook keeps a session going until its facts are saved"},
		{"hooks.capture", boolean, "true", "let hooks capture sessions"},
		{"hooks.captureProject.*", boolean, "true", "let hooks capture the sessions of this project, by id"},
		{"hooks.contextSize", integer(0, 9500), "4000",
			"characters that a session is given at its start at most; 0 for nothing"},
		{"hooks.every", integer(1, 999), "5", "uses of tools after which a hook captures what is new"},
		{"hooks.promptSize", integer(0, 9500), "1500", "characters that a prompt is given at most; 0 for nothing"},
		{"keepitDecay.compressionBase.aggressive", hundredths, "0.5",
			"weight that survives an aggressive compression at once"},
		{"keepitDecay.compressionBase.light", hundredths, "0.1", "weight that survives a minimal compression at once"},
		{"keepitDecay.compressionBase.moderate", hundredths, "0.3", "weight that survives a moderate compression at once"},
		{"keepitDecay.maxSessionDistance", integer(1, 1000), "10", "sessions after which a marker fades no further"},
		{"keepitDecay.pinnedWeight", hundredths, "1", "weight from which a marker never fades"},
		{"llm.apiKeyCommand", text, "", "command that prints the key of a model's server, if no variable holds it"},
		{"llm.baseURL", text, "", "address of a model's server; empty for the one of its maker"},
		{"llm.command", text, "", "command that the engine command asks, JSON in and JSON out"},
		{"llm.maxTokensPerDay", capTokens, "2000000", "tokens that models may take on one day (UTC), or none for no cap"},
		{"llm.maxUSDPerDay", capDollars, "10", "dollars that models may cost on one day (UTC), or none for no cap"},
		{"llm.model", text, "", "model that an engine asks; empty for defaults.model"},
		{"llm.price", price, "", "dollars per million tokens in and out, such as 3/15; empty for what is known of the model"},
		{"llm.timeout", duration, "10m", "how long a model has for one answer"},
		{"llm.window", integer(1000, 1_000_000), "60000", "tokens of a session that a model is shown at once"},
		{"lock.timeout", duration, "10s", "how long a command waits for another one to finish writing"},
		{"pager.*", boolean, "true", "use the pager for this command"},
		{"recall.enabled", boolean, "true", "hand over with a prompt what earlier sessions have that fits it"},
		{"redact.allow.*", text, "", "rule, or hash of a secret, that is left alone, and why"},
		{"redact.environment", boolean, "true",
			"take out the secrets of the environment and of .env files wherever they stand"},
		{"redact.rule.*", pattern, "", "regular expression of a secret of your own; its first group, if any, is replaced"},
		{"redact.rules", oneOf("on", "off"), "on", "take secrets out of sessions before they are stored"},
		{"remote.quiet", duration, "10s",
			"how long a server may send nothing at all; 12 times that before it begins to answer"},
		{"storage.compressionRetention", retention, "all",
			"compressions to keep: all, a number a session, or an age such as 90d"},
		{"storage.maxCacheSize", size, "1GB", "space that the cache may take"},
		{"tokens.model", text, "", "model whose tokens are estimated; empty for the one that a session used"},
		{"ui.confirmDestructiveActions", boolean, "true", "ask before something is removed"},
		{"ui.defaultView", oneOf("timeline", "list"), "timeline", "how sessions are listed: by month, or in one list"},
		{"ui.showTokenEstimates", boolean, "true", "show estimated tokens in lists"},
		{"version", text, "1.0.0", "version of the settings file"},
	}
})

// Lookup returns the key that name belongs to. It fails with an [*UnknownKeyError].
func Lookup(name string) (Key, error) { return find(name) }

func find(name string) (Key, error) {
	for _, k := range Keys() {
		if k.Match(name) {
			return k, nil
		}
	}
	var near []string
	for _, k := range Keys() {
		near = append(near, k.Name)
	}
	return Key{}, &UnknownKeyError{Key: name, Near: near}
}
