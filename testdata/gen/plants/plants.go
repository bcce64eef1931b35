// Package plants makes secrets of the classes that docs/trust.md lists, and puts them where they stand in sessions, in the
// codings in which they stand there. All of them are made up.
package plants

import (
	stdbase64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// A Plant is a kind of secret as it stands in sessions: %s in Text and in Setting is where it goes.
type Plant struct {
	Name    string
	Text    string // what somebody says, or a tool prints
	Setting string // a line of YAML or of an environment file
	Make    func(r *rand.Rand) string
}

func pick(r *rand.Rand, chars string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = chars[r.IntN(len(chars))]
	}
	return string(b)
}

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	figs   = "0123456789"
	alnums = lowers + uppers + figs
	hexes  = "0123456789abcdef"
	b64s   = alnums + "+/"
	urls   = alnums + "-_"
)

// of returns a maker of prefix and n of chars.
func of(prefix, chars string, n int) func(*rand.Rand) string {
	return func(r *rand.Rand) string { return prefix + pick(r, chars, n) }
}

// password returns one of any alphabet that needs no escaping where it stands: in a configuration without quotes, and between them.
func password(r *rand.Rand) string {
	list := Alphabets()
	for {
		p := list[r.IntN(len(list))].Make(r)
		if !strings.ContainsAny(p, "\"\\'`<>&") && !strings.ContainsAny(p[:1], "#{[|=") && !strings.HasSuffix(p, ":") && strings.Trim(p, ",;.") == p {
			return p
		}
	}
}

// urlPassword returns one that needs no escaping in a URL.
func urlPassword(r *rand.Rand) string {
	list := Alphabets()
	for {
		if p := list[r.IntN(len(list))].Make(r); url.PathEscape(p) == p && !strings.ContainsAny(p, ":@/") {
			return p
		}
	}
}

func pem(kind string, lines int) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		var b strings.Builder
		fmt.Fprintf(&b, "-----BEGIN %s-----\n", kind)
		for range lines {
			b.WriteString(pick(r, b64s, 64) + "\n")
		}
		fmt.Fprintf(&b, "-----END %s-----", kind)
		return b.String()
	}
}

func token3(r *rand.Rand) string {
	enc := stdbase64.RawURLEncoding.EncodeToString
	return enc([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + enc(fmt.Appendf(nil, `{"sub":"%s","iat":%d}`, pick(r, figs, 10), 1700000000)) + "." + pick(r, urls, 43)
}

// All returns the classes that docs/trust.md lists.
func All() []Plant {
	return []Plant{
		{"aws-access-key", "the key id is %s, use it", "AWS_ACCESS_KEY_ID=%s", of("AKIA", uppers+"234567", 16)},
		{"aws-secret-key", "aws_secret_access_key = %s", "AWS_SECRET_ACCESS_KEY=%s", of("", b64s, 40)},
		{"github-classic", "push with %s please", "GITHUB_TOKEN=%s", of("ghp_", alnums, 36)},
		{"github-fine", "I made %s for you", "GH_PAT: %s", func(r *rand.Rand) string { return "github_pat_" + pick(r, alnums, 22) + "_" + pick(r, alnums, 59) }},
		{"gitlab", "use %s.", "CI_PAT: %s", of("glpat-", urls, 20)},
		{"slack-bot", "the bot has %s", "SLACK: %s", func(r *rand.Rand) string {
			return "xoxb-" + pick(r, figs, 12) + "-" + pick(r, figs, 13) + "-" + pick(r, alnums, 24)
		}},
		{"slack-webhook", "curl -X POST %s -d x", "HOOK=%s", func(r *rand.Rand) string {
			return "https://hooks.slack.com/services/T" + pick(r, uppers+figs, 10) + "/B" + pick(r, uppers+figs, 10) + "/" + pick(r, alnums, 24)
		}},
		{"stripe", "charge with %s (live)", "STRIPE: %s", of("sk_live_", alnums, 24)},
		{"openai", "OpenAI gave me %s", "OPENAI_API_KEY=%s", of("sk-proj-", urls, 120)},
		{"anthropic", "key: %s", "ANTHROPIC_API_KEY=%s", func(r *rand.Rand) string { return "sk-ant-api03-" + pick(r, urls, 93) + "AA" }},
		{"gcp-api-key", "maps?key=%s&v=3", "MAPS: %s", of("AIza", urls, 35)},
		{"gcp-oauth", "client secret %s", "GOOGLE_CLIENT_SECRET=%s", of("GOCSPX-", urls, 28)},
		{"azure-storage", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=%s;EndpointSuffix=core.windows.net", "AZURE_STORAGE_ACCOUNT_KEY=%s",
			func(r *rand.Rand) string { return pick(r, b64s, 86) + "==" }},
		{"azure-client", "az login -p %s", "ARM_CLIENT_SECRET=%s", func(r *rand.Rand) string {
			return pick(r, alnums, 3) + pick(r, figs, 1) + "Q~" + pick(r, alnums+"-_.~", 33) + "x"
		}},
		{"npm", "//registry.npmjs.org/:_authToken=%s", "NPM: %s", of("npm_", alnums, 36)},
		{"pypi", "twine upload -u __token__ -p %s", "PYPI: %s", of("pypi-AgEIcHlwaS5vcmc", urls, 150)},
		{"sendgrid", "mail goes out with %s now", "MAIL: %s", func(r *rand.Rand) string { return "SG." + pick(r, urls, 22) + "." + pick(r, urls, 43) }},
		{"huggingface", "hub login %s", "HF: %s", of("hf_", alnums, 34)},
		{"digitalocean", "doctl auth init -t %s", "DO: %s", of("dop_v1_", hexes, 64)},
		{"jwt", "got %s back", "SESSION: %s", token3},
		{"private-key", "here it is:\n%s\nsave it", "KEY: \"%s\"", pem("RSA PRIVATE KEY", 12)},
		{"ssh-key", "cat id_ed25519\n%s\n", "DEPLOY: |\n%s\n", pem("OPENSSH PRIVATE KEY", 5)},
		{"age", "age-keygen printed %s", "AGE: %s", of("AGE-SECRET-KEY-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)},
		{"url-password", "wget https://deploy:%s@files.shop.internal/x.tar", "MIRROR=https://deploy:%s@files.shop.internal/", urlPassword},
		{"git-remote", "origin\thttps://x-access-token:%s@git.shop.internal/shop.git (fetch)", "REMOTE: https://ci:%s@git.shop.internal/shop.git", urlPassword},
		{"database-url", "psql postgres://shop:%s@db.internal:5432/shop", "DATABASE_URL=postgres://shop:%s@db.internal:5432/shop?sslmode=require", urlPassword},
		{"bearer", "curl -H 'Authorization: Bearer %s' https://api.shop.internal", "header: \"Authorization: Bearer %s\"", of("", alnums, 40)},
		{"cookie", "curl --header 'Cookie: theme=dark; session=%s; x=1' u", "cookie: sid=%s", of("", alnums, 32)},
		{"password", `config = {"user": "shop", "password": "%s"}`, "  password: %s", password},
		{"password-env", "mysql --password=%s shop", "DB_PASSWORD=%s", password},
		{"api-key", `client = Client(api_key="%s")`, "api_key: %s", of("", alnums, 32)},
		{"secret", `"client_secret": "%s",`, "SHOP_SECRET=%s", of("", hexes, 40)},
		{"kubernetes", `{"apiVersion":"v1","data":{"blob":"%s","user":"YWRtaW4="},"kind":"Secret","type":"Opaque"}`, "apiVersion: v1\nkind: Secret\ndata:\n  user: YWRtaW4=\n  blob: %s", of("", b64s, 32)},
	}
}

// A Coding is a way in which a secret stands in a session: the line of a transcript, and what of it must not be
// left in the clean bytes.
type Coding struct {
	Name string
	Line func(p Plant, secret string) (line string, bare []string)
}

// AsText returns the line of a message that the user typed.
func AsText(content string) string {
	b, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return `{"type":"user","uuid":"u1","message":{"role":"user","content":` + string(b) + `}}` + "\n"
}

// Fill puts a secret into its place.
func Fill(format, secret string) string { return strings.Replace(format, "%s", secret, 1) }

// Codings returns all of them.
func Codings() []Coding {
	return []Coding{
		{"text", func(p Plant, secret string) (string, []string) { return AsText(Fill(p.Text, secret)), Lines(secret) }},
		{"tool input", func(p Plant, secret string) (string, []string) {
			inner, _ := json.Marshal(map[string]string{"command": Fill(p.Text, secret)}) // strings marshal
			b, _ := json.Marshal(map[string]any{"type": "tool_use", "name": "Bash", "input": map[string]string{"file_path": "/tmp/x", "content": string(inner)}})
			return `{"type":"assistant","message":{"role":"assistant","content":[` + string(b) + `]}}` + "\n", Lines(secret)
		}},
		{"setting", func(p Plant, secret string) (string, []string) {
			return AsText("$ cat .config\n# written by hand\nport: 8080\n" + Fill(p.Setting, secret) + "\ndebug: true\n"), Lines(secret)
		}},
		{"base64", func(p Plant, secret string) (string, []string) {
			text := Fill(p.Setting, secret) + "\n"
			enc := stdbase64.StdEncoding.EncodeToString([]byte(text))
			at := strings.Index(text, secret)
			from, to := (at*4+2)/3+1, (at+len(secret))*4/3-1 // characters that hold nothing but the secret
			return AsText("data: " + enc + " end"), []string{enc[from:to]}
		}},
		{"percent", func(p Plant, secret string) (string, []string) {
			enc := url.QueryEscape(Fill(p.Setting, secret))
			return AsText("GET /save?text=" + strings.ReplaceAll(enc, "+", "%20") + " 200"), Lines(url.QueryEscape(secret))
		}},
	}
}

// Lines returns the pieces of a secret that must not be left: each of its lines that is more than a headline.
func Lines(secret string) (out []string) {
	for l := range strings.Lines(strings.ReplaceAll(secret, "%0A", "\n")) {
		if l = strings.TrimSuffix(l, "\n"); !strings.HasPrefix(l, "-----") {
			out = append(out, l)
		}
	}
	return out
}
