package redact

import (
	"bytes"
	"slices"
	"strings"
)

// secretName returns the kind of secret that something with this name contains: "password", "token", "secret",
// "api-key", or "" for none. The last word of the name decides: "db_password" is a password, "password_field" is not.
func secretName(name []byte) string {
	words := nameWords(name)
	n := len(words)
	for n > 1 && (neutral(words[n-1]) || strings.Trim(words[n-1], "0123456789") == "") {
		n--
	}
	if n > 2 && slices.Equal(words[n-3:n], []string{"client", "key", "data"}) {
		n-- // of a kubeconfig
	}
	switch n {
	case 0:
		return ""
	case 1:
		return kindOf(words[0], "", true)
	}
	return kindOf(words[n-1], words[n-2], false)
}

// nameCache caches the results of [secretName]: the keys of JSON objects repeat in every line.
type nameCache map[string]string

// maxNames is the maximum number of names in a cache.
const maxNames = 4 << 10

// Kind returns secretName(name).
func (c nameCache) Kind(name []byte) string {
	kind, ok := c[string(name)]
	if !ok {
		if kind = secretName(name); len(c) < maxNames {
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

// maxName is the number of bytes at the end of a name that are split into words.
const maxName = 96

// nameWords returns the words of a name, in lower case. Words are separated by characters other than letters and digits,
// and begin at a capital.
func nameWords(name []byte) (words []string) {
	name = name[max(0, len(name)-maxName):]
	start := 0
	for i := 0; i <= len(name); i++ {
		part := i < len(name) && Alnum.Has(name[i])
		capital := part && 'A' <= name[i] && name[i] <= 'Z' && i > 0 &&
			('a' <= name[i-1] && name[i-1] <= 'z' || i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z')
		if (!part || capital) && i > start {
			words = append(words, string(bytes.ToLower(name[start:i])))
		}
		if !part {
			start = i + 1
		} else if capital {
			start = i
		}
	}
	return words
}

var upperChars = setOf("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_")

// upperName reports whether name looks like the name of an environment variable.
func upperName(name []byte) bool {
	return len(name) > 2 && upperChars.Run(name, len(name)) == len(name) && name[0] != '_'
}
