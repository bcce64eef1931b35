package redact

import (
	"slices"
	"strings"
	"sync"
)

// Warm builds the tables of the built-in rules, which the first scan would otherwise do. It takes a millisecond and
// is safe to call from any goroutine.
func Warm() { builtin() }

// A word is a keyword and the action for its occurrences.
type word struct {
	text string // in lower case, three bytes at least
	do   action
}

// An action examines the text around a keyword and reports secrets with [Scan.found].
type action func(s *Scan, at int, w *word)

// dictionary contains keywords.
type dictionary struct {
	words []word
	set   *Set // of words
}

// builtin returns the keywords of all built-in rules.
var builtin = sync.OnceValue(func() *dictionary {
	var words []word
	add := func(do action, texts ...string) {
		for _, t := range texts {
			words = append(words, word{text: t, do: do})
		}
	}
	list := tokens()
	for i := range list {
		t := &list[i]
		if prefix := strings.ToLower(t.prefix); len(prefix) > 2 {
			words = append(words, word{text: prefix, do: t.match})
			continue
		}
		for c := range 256 {
			if t.chars.Has(byte(c)) && lower[c] == byte(c) {
				words = append(words, word{text: strings.ToLower(t.prefix) + string(rune(c)), do: t.match})
			}
		}
	}
	for _, p := range uncovered() {
		for _, k := range p.Keywords {
			switch {
			case len(k) < 3: // "s." alone stands everywhere
			case p.assigns && slices.Contains(inValue, k):
				add(p.matchValue, strings.ToLower(k))
			default:
				add(p.match, strings.ToLower(k))
			}
		}
	}
	add((*Scan).pair, "passw", "passphrase", "passcode", "pwd", "psw", "_pass", "-pass", "_pw", "secret", "token", "sonar.login",
		"credential", "creds", "apikey", "api_key", "api-key",
		"accesskey", "access_key", "access-key", "private_key", "privatekey", "private-key", "encryption_key",
		"encryptionkey", "signing_key", "signingkey",
		"account_key", "accountkey", "auth_key", "authkey", "auth-key", "master_key", "masterkey", "service_key",
		"servicekey", "role_key", "rolekey", "license_key", "licensekey", "deploy_key",
		"app_key", "appkey", "client_key", "clientkey", "admin_key", "server_key", "shared_key", "sharedkey", "storage_key",
		"ingest_key", "webhook_key", "jwt_key", "management_key", "_auth",
		`auth"`, `auth\"`, "identitytoken", "client-key", "presharedkey", "preshared_key", "_pat", "secret_key_base",
		"requirepass", "masterauth", "bindpw", "rootpw", "-setcookie", "psk=", "psk =", "psk:", `psk"`, ".psk", "pass =",
		"pass=", "pass:", `pass":`, "primarykey", "secondarykey", "primary_key", "secondary_key")
	add((*Scan).userinfo, "://")
	add((*Scan).authorization, "authorization", "bearer ", "basic ", "x-api-key", "x-auth-token")
	add((*Scan).cookie, "cookie", " -b") // the option is of curl
	add((*Scan).block, "-----begin", "---- begin ssh2")
	add((*Scan).privateKeyEnd, "-----end")
	add((*Scan).kubernetes, "kind: secret", `kind: "secret`, "kind: 'secret", `kind":"secret`, `kind": "secret`,
		`kind\":\"secret`, `kind\": \"secret`)
	commands := passwordCommands()
	for i := range commands {
		add(commands[i].match, commands[i].name)
	}
	add((*Scan).foreignPassword, "kennwort", "mot de passe", "contraseñ", "contrasena", "senha", "wachtwoord",
		"пароль", "密码", "パスワード", "비밀번호")
	add((*Scan).sqlInsert, "insert into", "replace into")
	all := forms()
	for i := range all {
		add(all[i].match, all[i].words...)
	}
	slices.SortStableFunc(words, func(a, b word) int { return strings.Compare(a.text, b.text) })
	var texts []string
	for _, w := range words {
		texts = append(texts, w.text)
	}
	return &dictionary{words, newWordSet(texts)}
})

// uncovered returns the patterns of gitleaks that are not in [Covered].
func uncovered() []*pattern {
	patterns, err := parsePatterns(gitleaksData)
	if err != nil {
		panic("redact: " + err.Error()) // a test parses them
	}
	return slices.DeleteFunc(patterns, func(p *pattern) bool { return slices.Contains(Covered, p.ID) })
}

// RuleNames returns the sorted names of all built-in rules.
func RuleNames() []string {
	names := []string{"api-key", "authorization", "cookie", "database-url", envRule, "jwt", kubeRule, "private-key",
		"rails-master-key", "secret", seenRule, "token", "url-password", "url-token"}
	for _, f := range forms() {
		names = append(names, f.rule)
	}
	for _, t := range tokens() {
		names = append(names, t.rule)
	}
	for _, p := range uncovered() {
		names = append(names, p.ID)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// RulesVersion is the version of the built-in rules. It changes whenever their findings change.
const RulesVersion = "mem-19 gitleaks-" + gitleaksVersion

// newScan returns a scan with the given rules.
func newScan(rules *ruleset) *Scan {
	return &Scan{Rules: rules, words: builtin(), Names: nameCache{}}
}
