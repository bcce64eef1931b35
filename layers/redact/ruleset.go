package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
)

// Version is that of the built-in rules. It changes with every change of what they find.
const Version = "mem-8 gitleaks-" + gitleaksVersion

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
	set.scans.New = func() any { return &scan{rules: set, names: nameCache{}} }
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
		"requirepass", "masterauth", "bindpw", "rootpw", "-setcookie", "psk=", "psk =", "psk:", `psk"`, ".psk", "pass =", "pass=", "pass:", `pass":`, "primarykey", "secondarykey", "primary_key", "secondary_key")
	add((*scan).jwt, "eyj")
	add((*scan).userinfo, "://")
	add((*scan).userinfoEscaped, `:\/\/`, `:\\/\\/`)
	add((*scan).userinfoProperty, `\://`)
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
	add((*scan).passwordLine, ":5432:", ":5433:", ":5434:", ":6432:", ":6543:", ":15432:", ":25060:", ":26257:", ":54321:", ":54322:", "*:*:")
	add((*scan).webhook, "/api/webhooks/")
	add((*scan).serverKey, ":apa91b")
	add((*scan).masterKey, "master.key")
	add((*scan).putty, "private-lines:")
	add((*scan).ssh2, "---- begin ssh2")
	add((*scan).botLogin, ".login('", `.login("`, `.login(\"`)
	add((*scan).thin, "jdbc:oracle:")
	add((*scan).piped, "--password-stdin", "sudo -s", "chpasswd")
	add((*scan).htpasswd, "htpasswd ")
	add((*scan).pairOfTwo, "auth=(")
	add((*scan).identified, "identified by", "identified with")
	add((*scan).amzSignature, "x-amz-signature=")
	add((*scan).cookieOption, "curl ")
	add((*scan).gemSource, "bundle config")
	add((*scan).spokenKey, "api key", "access key", "secret key", "license key")
	add((*scan).passOption, "-passin pass:", "-passout pass:", "-pass pass:")
	add((*scan).secureString, "convertto-securestring")
	add((*scan).foreign, "kennwort", "mot de passe", "contraseñ", "contrasena", "senha", "wachtwoord", "пароль", "密码", "パスワード", "비밀번호")
	add((*scan).basicAuth, "stats auth ", "login=", "proxy-user = ", "proxy-user=", `user = "`)
	add((*scan).slashed, "sqlplus ", "impdp ", "expdp ", "sqlldr ", "rman target ")
	add((*scan).redisAuth, "auth ")
	add((*scan).given, "::add-mask::", "securestring\t")
	add((*scan).storageKey, "keyname")
	add((*scan).generated, "random_password")
	add((*scan).credentials, "credentials(")
	add((*scan).third, "http-basic.")
	add((*scan).hides, unseen[:]...)
	add((*scan).tail, "-----end")
	add((*scan).insert, "insert into", "replace into")
	add((*scan).copied, "from stdin")
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
