package redact

import (
	"bytes"
	"slices"
)

// secretName says what kind of secret a thing of that name holds: "password", "token", "secret" or "api-key"; ""
// for none. What counts is the last word of the name: "db_password" is one, "password_field" is none.
func secretName(name []byte) string {
	var room [192]byte
	words := splitName(name, room[:0])
	for len(words) > 1 && (neutral(string(words[len(words)-1])) || digits.run(words[len(words)-1], 64) == len(words[len(words)-1])) {
		words = words[:len(words)-1]
	}
	if n := len(words); n > 2 && string(words[n-1]) == "data" && string(words[n-2]) == "key" && string(words[n-3]) == "client" {
		words = words[:n-1] // of a kubeconfig
	}
	if len(words) == 0 {
		return ""
	}
	last, before := string(words[len(words)-1]), ""
	if len(words) > 1 {
		before = string(words[len(words)-2])
	}
	return kindOf(last, before, words)
}

func kindOf(last, before string, words [][]byte) string {
	switch last {
	case "password", "passwd", "pwd", "passphrase", "passcode", "passwort", "psw", "requirepass", "masterauth", "bindpw", "rootpw", "setcookie", "psk":
		return "password"
	case "pass", "pw":
		if before == "" || slices.Contains([]string{"wifi", "wlan", "oracle", "minio", "grafana", "elastic", "kibana", "jenkins", "nexus", "app", "service", "svc", "rpc", "default", "initial", "db", "database", "smtp", "mail", "email", "user", "root", "admin", "redis", "mysql",
			"pg", "postgres", "ftp", "ssh", "mongo", "rabbitmq", "mqtt", "proxy", "http", "basic", "auth", "login",
			"become", "sudo", "vault", "su", "connection", "keystore"}, before) {
			return "password"
		}
	case "secret", "secrets", "credential", "credentials", "creds":
		return "secret"
	case "token":
		if !slices.Contains([]string{"next", "page", "continuation", "sync", "resume", "cancel", "cancellation", "pad", "eos", "bos", "unk", "mask",
			"sep", "cls", "special", "start", "end", "stop", "max", "min", "per", "input", "output", "total", "last", "first", "invalid", "lexer"}, before) {
			return "token"
		}
	case "key":
		if slices.Contains([]string{"api", "access", "secret", "private", "encryption", "signing", "account", "auth", "master", "service",
			"license", "deploy", "app", "client", "role", "admin", "server", "shared", "storage", "ingest", "webhook", "jwt", "token", "management",
			"preshared", "primary", "secondary"}, before) {
			return "api-key"
		}
	case "apikey", "accesskey", "secretkey", "privatekey", "authkey", "appkey", "signingkey", "encryptionkey", "masterkey", "accountkey", "sharedkey":
		return "api-key"
	case "identitytoken", "refreshtoken", "sessiontoken", "authtoken", "accesstoken":
		return "token"
	case "pat":
		if slices.Contains([]string{"gh", "github", "gitlab", "azure", "devops", "ext", "ado", "git", "ci"}, before) {
			return "token"
		}
	case "auth":
		if len(words) == 1 || before == "basic" {
			return "token"
		}
	}
	for _, end := range [...][2]string{{"password", "password"}, {"passwd", "password"}, {"apikey", "api-key"}, {"accesskey", "api-key"},
		{"secretkey", "api-key"}, {"secret", "secret"}, {"authtoken", "token"}, {"accesstoken", "token"}, {"apitoken", "token"}, {"bottoken", "token"}, {"identitytoken", "token"}, {"refreshtoken", "token"},
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
	case "value", "val", "base64", "b64", "prod", "production", "dev", "development", "staging", "live", "old", "new", "current", "backup",
		"primary", "secondary", "default", "raw", "plain", "plaintext", "hex", "str", "string", "env", "literal", "a", "b", "base":
		return true
	}
	return false
}

// splitName splits a name into its words in lower case: at what is no letter or digit, and before a capital.
func splitName(name, room []byte) [][]byte {
	var list [24][]byte
	words, start := list[:0], 0
	flush := func() {
		if len(room) > start && len(words) < cap(list) {
			words = append(words, room[start:len(room):len(room)])
		}
		start = len(room)
	}
	if len(name) > 96 {
		name = name[len(name)-96:]
	}
	for i, c := range name {
		if !alnum.has(c) {
			flush()
			continue
		}
		capital := 'A' <= c && c <= 'Z'
		if capital && i > 0 && ('a' <= name[i-1] && name[i-1] <= 'z' || i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z') {
			flush()
		}
		room = append(room, lower[c])
	}
	flush()
	return slices.Clone(words)
}

// upperName reports whether a name is that of an environment variable.
func upperName(name []byte) bool {
	return len(name) > 2 && bytes.Equal(bytes.ToUpper(name), name) && !bytes.ContainsAny(name, ".-") && alnum.has(name[0])
}
