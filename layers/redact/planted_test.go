package redact

import (
	"bytes"
	stdbase64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// A plant is a kind of secret as it stands in sessions: %s in text and in setting is where it goes.
type plant struct {
	name    string
	text    string // what somebody says, or a tool prints
	setting string // a line of YAML or of an environment file
	make    func(r *rand.Rand) string
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

// password returns one that a person or a generator of passwords would make.
func password(r *rand.Rand) string {
	p := []byte(pick(r, alnums, 8+r.IntN(12)) + pick(r, figs, 1) + pick(r, "!#%&*+-_?@$^~", 1) + pick(r, lowers, 1) + pick(r, uppers, 1))
	r.Shuffle(len(p)-4, func(i, j int) { p[i+2], p[j+2] = p[j+2], p[i+2] })
	return string(p)
}

// urlPassword returns one that needs no escaping in a URL.
func urlPassword(r *rand.Rand) string { return pick(r, alnums, 10+r.IntN(10)) + pick(r, figs, 2) }

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

// plants are the classes that docs/trust.md lists.
func plants() []plant {
	return []plant{
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
	}
}

// A coding is a way in which a secret stands in a session: the line of a transcript, and what of it must not be
// left in the clean bytes.
type coding struct {
	name string
	line func(p plant, secret string) (line string, bare []string)
}

func asText(content string) string {
	b, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return `{"type":"user","uuid":"u1","message":{"role":"user","content":` + string(b) + `}}` + "\n"
}

func fill(format, secret string) string { return strings.Replace(format, "%s", secret, 1) }

func codings() []coding {
	return []coding{
		{"text", func(p plant, secret string) (string, []string) { return asText(fill(p.text, secret)), lines(secret) }},
		{"tool input", func(p plant, secret string) (string, []string) {
			inner, _ := json.Marshal(map[string]string{"command": fill(p.text, secret)}) // strings marshal
			b, _ := json.Marshal(map[string]any{"type": "tool_use", "name": "Bash", "input": map[string]string{"file_path": "/tmp/x", "content": string(inner)}})
			return `{"type":"assistant","message":{"role":"assistant","content":[` + string(b) + `]}}` + "\n", lines(secret)
		}},
		{"setting", func(p plant, secret string) (string, []string) {
			return asText("$ cat .config\n# written by hand\nport: 8080\n" + fill(p.setting, secret) + "\ndebug: true\n"), lines(secret)
		}},
		{"base64", func(p plant, secret string) (string, []string) {
			text := fill(p.setting, secret) + "\n"
			enc := stdbase64.StdEncoding.EncodeToString([]byte(text))
			at := strings.Index(text, secret)
			from, to := (at*4+2)/3+1, (at+len(secret))*4/3-1 // characters that hold nothing but the secret
			return asText("data: " + enc + " end"), []string{enc[from:to]}
		}},
		{"percent", func(p plant, secret string) (string, []string) {
			enc := url.QueryEscape(fill(p.setting, secret))
			return asText("GET /save?text=" + strings.ReplaceAll(enc, "+", "%20") + " 200"), lines(url.QueryEscape(secret))
		}},
	}
}

// lines are the pieces of a secret that must not be left: each of its lines that is more than a headline.
func lines(secret string) (out []string) {
	for l := range strings.Lines(strings.ReplaceAll(secret, "%0A", "\n")) {
		if l = strings.TrimSuffix(l, "\n"); !strings.HasPrefix(l, "-----") {
			out = append(out, l)
		}
	}
	return out
}

// TestPlanted plants 1,000 secrets of the classes that are listed, each in every coding, and counts what is left of
// them. What is found once must not be found again, and valid JSON stays valid.
func TestPlanted(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(5, 1))
	missed, all := map[string]int{}, 0
	kinds := plants()
	for i := range 1000 {
		p := kinds[i%len(kinds)]
		secret := p.make(rnd)
		for _, c := range codings() {
			line, bare := c.line(p, secret)
			var n Numbers
			clean, cuts := rules.Redact([]byte(line), &n)
			all++
			if left := leftOf(clean, bare); left != "" {
				if missed[p.name+" as "+c.name]++; missed[p.name+" as "+c.name] < 3 {
					t.Logf("%s as %s: left %q of %q", p.name, c.name, left, line)
				}
			}
			if undo(clean, cuts) != line {
				t.Fatalf("%s as %s: the cuts do not give the line back", p.name, c.name)
			}
			if !json.Valid(clean) || bytes.Count(clean, []byte("\n")) != 1 {
				t.Fatalf("%s as %s: %s is no JSON", p.name, c.name, clean)
			}
			if again := rules.Find(clean); len(again) > 0 {
				t.Errorf("%s as %s: a second look at %q finds %v", p.name, c.name, clean, again)
			}
		}
	}
	total := 0
	for what, n := range missed {
		total += n
		t.Logf("missed %d of %s", n, what)
	}
	t.Logf("%d classes, %d secrets, %d places, %d missed: recall %.2f %%", len(kinds), 1000, all, total, 100-100*float64(total)/float64(all))
	if total*100 > all {
		t.Errorf("%d of %d were missed, want at most 1 in 100", total, all)
	}
}

func leftOf(clean []byte, bare []string) string {
	for _, b := range bare {
		if bytes.Contains(clean, []byte(b)) || bytes.Contains(clean, []byte(strings.ReplaceAll(b, "&", `\u0026`))) {
			return b
		}
	}
	return ""
}
