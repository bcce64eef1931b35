package scanner

import (
	"slices"
)

// SecretName returns the kind of secret that something with this name contains: "password", "token", "secret",
// "api-key", or "" for none. The last word of the name decides: "db_password" is a password, "password_field" is not.
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

// NameCache caches the results of [SecretName]: the keys of JSON objects repeat in every line.
type NameCache map[string]string

// maxNames is the maximum number of names in a cache.
const maxNames = 4 << 10

// Kind returns SecretName(name).
func (c NameCache) Kind(name []byte) string {
	kind, ok := c[string(name)]
	if !ok {
		if kind = SecretName(name); len(c) < maxNames {
			c[string(name)] = kind
		}
	}
	return kind
}

// kindOf returns the kind of a name that ends with the word last. before is the word before it; alone reports that
// there is none.
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
	case "login": // the name of SonarQube's token
		if before == "sonar" {
			return "token"
		}
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

// neutral reports whether word, the last one of a name, does not affect the kind of the name.
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

// maxName is the number of bytes at the end of a name that are split into words.
const maxName = 96

// At returns word i.
func (w *NameWords) At(i int) []byte { return w.text[w.bounds[i][0]:w.bounds[i][1]] }

// Split sets w to the words of a name. Words are separated by characters other than letters and digits, and begin at
// a capital.
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

// UpperName reports whether name looks like the name of an environment variable.
func UpperName(name []byte) bool {
	return len(name) > 2 && upperChars.Run(name, len(name)) == len(name) && name[0] != '_'
}
