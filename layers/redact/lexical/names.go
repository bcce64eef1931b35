package lexical

import (
	"slices"
)

// SecretName says what kind of secret a thing of that name holds: "password", "token", "secret" or "api-key"; ""
// for none. What counts is the last word of the name: "db_password" is one, "password_field" is none.
func SecretName(name []byte) string {
	var words NameWords
	words.Split(name)
	n := words.Count
	for n > 1 && (neutral(string(words.At(n-1))) || Digits.Run(words.At(n-1), 64) == len(words.At(n-1))) {
		n--
	}
	if n > 2 && string(words.At(n-1)) == "data" && string(words.At(n-2)) == "key" && string(words.At(n-3)) == "client" {
		n-- // of a kubeconfig
	}
	switch n {
	case 0:
		return ""
	case 1:
		return kindOf(string(words.At(0)), "", true)
	}
	return kindOf(string(words.At(n-1)), string(words.At(n-2)), false)
}

// A nameCache remembers what kind of secret things of a name hold. Keys of JSON are the same in every line.
type NameCache map[string]string

// maxNames bounds a cache of names.
const maxNames = 4 << 10

// Kind is secretName.
func (c NameCache) Kind(name []byte) string {
	kind, ok := c[string(name)]
	if !ok {
		if kind = SecretName(name); len(c) < maxNames {
			c[string(name)] = kind
		}
	}
	return kind
}

// kindOf is secretName of a name that ends with the word last, behind before or alone.
func kindOf(last, before string, alone bool) string {
	switch last {
	case "password", "passwd", "pwd", "passphrase", "passcode", "passwort", "psw", "requirepass", "masterauth", "bindpw",
		"rootpw", "setcookie", "psk":
		return "password"
	case "pass", "pw":
		if before == "" || slices.Contains([]string{"wifi", "wlan", "oracle", "minio", "grafana", "elastic", "kibana",
			"jenkins", "nexus", "app", "service", "svc", "rpc", "default", "initial", "db", "database", "smtp", "mail", "email",
			"user", "root", "admin", "redis", "mysql",
			"pg", "postgres", "ftp", "ssh", "mongo", "rabbitmq", "mqtt", "proxy", "http", "basic", "auth", "login",
			"become", "sudo", "vault", "su", "connection", "keystore"}, before) {
			return "password"
		}
	case "secret", "secrets", "credential", "credentials", "creds":
		return "secret"
	case "token":
		if !slices.Contains([]string{"next", "page", "continuation", "sync", "resume", "cancel", "cancellation", "pad", "eos",
			"bos", "unk", "mask",
			"sep", "cls", "special", "start", "end", "stop", "max", "min", "per", "input", "output", "total", "last", "first",
			"invalid", "lexer"}, before) {
			return "token"
		}
	case "key":
		if slices.Contains([]string{"api", "access", "secret", "private", "encryption", "signing", "account", "auth",
			"master", "service",
			"license", "deploy", "app", "client", "role", "admin", "server", "shared", "storage", "ingest", "webhook", "jwt",
			"token", "management",
			"preshared", "primary", "secondary"}, before) {
			return "api-key"
		}
	case "apikey", "accesskey", "secretkey", "privatekey", "authkey", "appkey", "signingkey", "encryptionkey", "masterkey",
		"accountkey", "sharedkey":
		return "api-key"
	case "identitytoken", "refreshtoken", "sessiontoken", "authtoken", "accesstoken":
		return "token"
	case "pat":
		if slices.Contains([]string{"gh", "github", "gitlab", "azure", "devops", "ext", "ado", "git", "ci"}, before) {
			return "token"
		}
	case "auth":
		if alone || before == "basic" {
			return "token"
		}
	}
	for _, end := range [...][2]string{{"password", "password"}, {"passwd", "password"}, {"apikey", "api-key"},
		{"accesskey", "api-key"},
		{"secretkey", "api-key"}, {"secret", "secret"}, {"authtoken", "token"}, {"accesstoken", "token"},
		{"apitoken", "token"}, {"bottoken", "token"}, {"identitytoken", "token"}, {"refreshtoken", "token"},
		{"sessiontoken", "token"}} {
		if len(last) > len(end[0]) && last[len(last)-len(end[0]):] == end[0] {
			return end[1]
		}
	}
	return ""
}

// neutral reports whether a last word says nothing about what a thing holds.
func neutral(word string) bool {
	switch word {
	case "value", "val", "base64", "b64", "prod", "production", "dev", "development", "staging", "live", "old", "new",
		"current", "backup",
		"primary", "secondary", "default", "raw", "plain", "plaintext", "hex", "str", "string", "env", "literal", "a",
		"b", "base":
		return true
	}
	return false
}

// NameWords are the words of a name, in lower case.
type NameWords struct {
	text   [maxName]byte
	bounds [24][2]uint8 // of the words in text
	Count  int
}

// maxName is how much of a name is looked at: its end.
const maxName = 96

// At returns word i.
func (w *NameWords) At(i int) []byte { return w.text[w.bounds[i][0]:w.bounds[i][1]] }

// Split sets w to the words of a name, which is split at what is no letter or digit, and before a capital.
func (w *NameWords) Split(name []byte) {
	start, end := 0, 0
	flush := func() {
		if end > start && w.Count < len(w.bounds) {
			w.bounds[w.Count] = [2]uint8{uint8(start), uint8(end)}
			w.Count++
		}
		start = end
	}
	name = name[max(0, len(name)-maxName):]
	for i, c := range name {
		if !Alnum.Has(c) {
			flush()
			continue
		}
		capital := 'A' <= c && c <= 'Z'
		if capital && i > 0 && ('a' <= name[i-1] && name[i-1] <= 'z' || i+1 < len(name) && 'a' <= name[i+1] &&
			name[i+1] <= 'z') {
			flush()
		}
		w.text[end] = Lower[c]
		end++
	}
	flush()
}

var upperChars = SetOf("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_")

// UpperName reports whether a name is that of an environment variable.
func UpperName(name []byte) bool {
	return len(name) > 2 && upperChars.Run(name, len(name)) == len(name) && name[0] != '_'
}
