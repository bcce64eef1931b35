package redact

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
)

// Version is that of the built-in rules. It changes with every change of what they find.
const Version = "mem-5 gitleaks-" + gitleaksVersion

// A Config says what the rules of [New] find beside what is built in.
type Config struct {
	Known  []Known  // values that are secrets wherever they stand
	Allow  []string // rules, and fingerprints of secrets, that are left alone
	Custom []Custom
}

// A Custom rule is a user's own: what the regular expression matches, or else its first group that matched, is
// a secret.
type Custom struct {
	Name   string
	Regexp string
}

// New returns the built-in rules with what c adds. The ID says which they are; the values known go into no ID, since
// it travels. The error says which custom rule cannot be read.
func New(c Config) (Rules, error) {
	set := &ruleset{allowed: map[string]bool{}}
	for _, k := range c.Known {
		set.know(k)
	}
	for _, a := range c.Allow {
		set.allowed[a] = true
	}
	var own strings.Builder
	for _, u := range c.Custom {
		re, err := regexp.Compile(u.Regexp)
		if err != nil {
			return Rules{}, fmt.Errorf("rule %s: %w", u.Name, err)
		}
		set.custom = append(set.custom, custom{u.Name, re})
		fmt.Fprintf(&own, "rule %q %q\n", u.Name, u.Regexp)
	}
	for _, a := range slices.Sorted(slices.Values(c.Allow)) {
		fmt.Fprintf(&own, "allow %q\n", a)
	}
	id := Version
	if own.Len() > 0 {
		id += " own-" + objects.Sum([]byte(own.String())).String()[:8]
	}
	set.scans.New = func() any { return &scan{rules: set} }
	return Rules{ID: id, set: set}, nil
}

// A ruleset is the built-in rules with what a [Config] adds. It may be used by several goroutines at once.
type ruleset struct {
	values  []Known // what known holds
	known   knowns
	allowed map[string]bool
	custom  []custom
	scans   sync.Pool
}

func (r *ruleset) know(k Known) {
	r.values = append(r.values, k)
	r.known.add(k)
}

// Known returns the hashes of the values that r finds wherever they stand, sorted.
func (r Rules) Known() []objects.Hash {
	if r.set == nil {
		return nil
	}
	var out []objects.Hash
	for _, k := range r.set.values {
		out = append(out, k.sum)
	}
	slices.SortFunc(out, objects.Hash.Compare)
	return slices.Compact(out)
}

type custom struct {
	name string
	re   *regexp.Regexp
}

// Warm makes the tables of the built-in rules, which else the first look at a text makes. It takes a millisecond and may run beside
// anything.
func Warm() { builtin() }

// builtin returns the keywords of all built-in rules.
var builtin = sync.OnceValue(func() *keywords {
	var words []word
	add := func(do action, texts ...string) {
		for _, t := range texts {
			words = append(words, word{t, do})
		}
	}
	list := tokens()
	for i := range list {
		t := &list[i]
		if prefix := strings.ToLower(t.prefix); len(prefix) > 2 {
			add(t.match, prefix)
			continue
		}
		for c := range 256 {
			if t.chars.has(byte(c)) && lower[c] == byte(c) {
				add(t.match, strings.ToLower(t.prefix)+string(rune(c)))
			}
		}
	}
	patterns, err := parsePatterns(gitleaksData)
	if err != nil {
		panic("redact: " + err.Error()) // a test reads them
	}
	for _, p := range patterns {
		if slices.Contains(covered, p.ID) {
			continue
		}
		for _, k := range p.Keywords {
			if len(k) > 2 { // "s." alone stands everywhere
				add(p.match, strings.ToLower(k))
			}
		}
	}
	add((*scan).pair, "passw", "passphrase", "passcode", "pwd", "psw", "_pass", "-pass", "_pw", "secret", "token", "credential", "creds", "apikey", "api_key", "api-key",
		"accesskey", "access_key", "access-key", "private_key", "privatekey", "private-key", "encryption_key", "encryptionkey", "signing_key", "signingkey",
		"account_key", "accountkey", "auth_key", "authkey", "auth-key", "master_key", "masterkey", "service_key", "servicekey", "role_key", "rolekey", "license_key", "licensekey", "deploy_key",
		"app_key", "appkey", "client_key", "clientkey", "admin_key", "server_key", "shared_key", "sharedkey", "storage_key", "ingest_key", "webhook_key", "jwt_key", "management_key", "_auth",
		`auth"`, `auth\"`, "identitytoken", "client-key", "presharedkey", "preshared_key", "_pat", "secret_key_base",
		"requirepass", "masterauth", "bindpw", "rootpw", "-setcookie", "psk=")
	add((*scan).jwt, "eyj")
	add((*scan).userinfo, "://")
	add((*scan).userinfoEscaped, `:\/\/`, `:\\/\\/`)
	add((*scan).dsn, "@tcp(")
	add((*scan).authorization, "authorization", "bearer ", "basic ", "x-api-key", "x-auth-token")
	add((*scan).cookie, "cookie")
	add((*scan).block, "-----begin")
	add((*scan).signature, "sig=")
	add((*scan).chatToken, ":aa")
	add((*scan).kubernetes, "kind: secret", `kind: "secret`, "kind: 'secret", `kind":"secret`, `kind": "secret`, `kind\":\"secret`, `kind\": \"secret`)
	commands := flaggeds()
	for i := range commands {
		add(commands[i].match, commands[i].name)
	}
	add((*scan).awsSecret, "akia", "asia")
	add((*scan).awsPrompt, "secret access key")
	add((*scan).passwordLine, ":5432:", ":5433:", ":6432:", "*:*:")
	add((*scan).webhook, "/api/webhooks/")
	add((*scan).serverKey, ":apa91b")
	add((*scan).masterKey, "master.key")
	add((*scan).putty, "private-lines:")
	add((*scan).ssh2, "---- begin ssh2")
	add((*scan).botLogin, ".login('", `.login("`, `.login(\"`)
	add((*scan).thin, "jdbc:oracle:")
	add((*scan).piped, "--password-stdin", "sudo -s")
	add((*scan).htpasswd, "htpasswd ")
	add((*scan).pairOfTwo, "auth=(")
	add((*scan).identified, "identified by", "identified with")
	add((*scan).amzSignature, "x-amz-signature=")
	add((*scan).cookieOption, "curl ")
	add((*scan).gemSource, "bundle config")
	add((*scan).spokenKey, "api key", "access key", "secret key", "license key")
	add((*scan).passOption, "-passin pass:", "-passout pass:", "-pass pass:")
	add((*scan).secureString, "convertto-securestring")
	for _, d := range "0123456789" {
		add((*scan).azureSecret, string(d)+"q~")
	}
	return newKeywords(words)
})

// Names returns the names of all built-in rules, sorted.
func Names() []string {
	names := []string{"api-key", "authorization", "aws-secret-key", "aws-signature", "azure-client-secret", "azure-sas", "cookie", "database-url", "discord-bot-token", "discord-webhook", envRule, "firebase-server-key", "jwt",
		kubeRule, "password", "private-key", "rails-master-key", "secret", seen,
		"telegram-bot-token", "token", "url-password", "url-token"}
	for _, t := range tokens() {
		names = append(names, t.rule)
	}
	patterns, err := parsePatterns(gitleaksData)
	if err != nil {
		panic("redact: " + err.Error()) // a test reads them
	}
	for _, p := range patterns {
		if !slices.Contains(covered, p.ID) {
			names = append(names, p.ID)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// allows reports whether the user said that this is no secret.
func (r *ruleset) allows(rule string, secret []byte) bool {
	return len(r.allowed) > 0 && (r.allowed[rule] || r.allowed[Fingerprint(secret)])
}

// users finds what the custom rules say.
func (s *scan) users() {
	for _, u := range s.rules.custom {
		for _, m := range u.re.FindAllSubmatchIndex(s.text, -1) {
			lo, hi := m[0], m[1]
			for g := 1; 2*g < len(m); g++ {
				if m[2*g+1] > m[2*g] {
					lo, hi = m[2*g], m[2*g+1]
					break
				}
			}
			s.found(lo, hi, u.name)
		}
	}
}

// find returns the secrets of a value, or of a part of one, in no order. session are the values known from what came before.
func (r *ruleset) find(value []byte, session *knowns, part bool) []span {
	f := finder{scan: r.scans.Get().(*scan), value: value, part: part}
	defer r.scans.Put(f.scan)
	f.scan.session = session
	if !f.walk() {
		f.spans = append([]span(nil), f.scan.run(value, 0)...)
	}
	return f.spans
}

// A finder walks over the strings of a JSON value.
type finder struct {
	scan  *scan
	value []byte
	part  bool // the value is a part of one, with its strings whole
	spans []span
	text  []byte // of the string that is looked at
	key   []byte // whose value comes next, decoded; nil if none
	keys  []byte // memory of key
	outer []byte // the name that the value of {"name": ..., "value": ...} and of name: {"value": ...} goes by; empty if none
	list  string // what kind of secrets the strings of this list are
}

// walk finds the secrets in the strings and keys of the value, and reports false if it is no JSON: then what it
// found counts for nothing.
func (f *finder) walk() bool {
	depth, v := 0, f.value
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case '"':
			end, ok := endOfString(v, i+1)
			if !ok {
				return false
			}
			next := end + 1 + blank(v[end+1:])
			f.string(i+1, end, next < len(v) && v[next] == ':')
			i = end + 1
			continue
		case '{', '[':
			depth++
			f.open(c)
		case '}', ']':
			depth--
			f.key, f.outer, f.list = nil, f.outer[:0], ""
		case ',':
			f.key = nil
		case ':', ' ', '\t', '\r', '\n':
		default:
			n := outside.run(v[i:], len(v))
			if n == 0 {
				return false
			}
			f.number(i, i+n)
			i += n
			continue
		}
		if i++; depth < 0 && !f.part {
			return false
		}
	}
	return depth == 0 || f.part
}

// outside is what numbers, true, false and null are written with.
var outside = setOf("0123456789+-.eEtrufalsn")

// string looks at the string whose inside is value[start:end].
func (f *finder) string(start, end int, isKey bool) {
	raw := f.value[start:end]
	text := raw
	if bytes.IndexByte(raw, '\\') >= 0 {
		f.text = unquote(f.text[:0], raw)
		text = f.text
	}
	from := len(f.spans)
	if len(text) >= 8 {
		f.spans = append(f.spans, f.scan.run(text, 0)...)
	}
	if isKey {
		f.keys = append(f.keys[:0], text...)
		f.key = f.keys
	} else {
		f.named(text)
		f.key = nil
	}
	if len(f.spans) == from {
		return
	}
	f.place(f.spans[from:], raw, start, len(text) != len(raw))
}

// open begins an object or a list, the value of f.key.
func (f *finder) open(bracket byte) {
	f.outer, f.list = f.outer[:0], ""
	switch {
	case f.key == nil || len(f.key) > 96:
	case bracket == '[':
		f.list = plural(f.key)
	case secretName(f.key) != "":
		f.outer = append(f.outer, f.key...)
	}
	f.key = nil
}

// named takes the whole of text, a string that is no key, for a secret if its name says so.
func (f *finder) named(text []byte) {
	kind := f.list
	switch string(f.key) {
	case "":
	case "name", "Name", "key", "Key", "ParameterKey":
		if len(text) <= 96 && secretName(text) != "" {
			f.outer = append(f.outer[:0], text...)
		}
	case "value", "Value", "ParameterValue":
		if len(f.outer) > 0 {
			kind = secretName(f.outer)
		}
	}
	if f.key != nil && kind == "" && len(f.key) <= 96 && len(text) >= 6 {
		kind = secretName(f.key)
	}
	if kind != "" && plausible(kind, text, quoted) && !f.scan.rules.allows(kind, text) {
		f.spans = append(f.spans, span{start: 0, end: len(text), rule: kind})
	}
}

// place turns offsets in the text of the string raw into offsets in the value.
func (f *finder) place(spans []span, raw []byte, start int, escapes bool) {
	if escapes {
		for i := range spans {
			at := rawOffsets(raw, []int{spans[i].start, spans[i].end})
			spans[i].start, spans[i].end = at[0], at[1]
		}
	}
	for i := range spans {
		spans[i].start += start
		spans[i].end += start
	}
}

// number looks at a number, or a word, that may stand for a password.
func (f *finder) number(start, end int) {
	if f.key == nil || end-start < 8 {
		return
	}
	text := f.value[start:end]
	if secretName(f.key) == "password" && plausible("password", text, quoted) && !f.scan.rules.allows("password", text) {
		f.spans = append(f.spans, span{start: start, end: end, rule: "password"})
	}
}
