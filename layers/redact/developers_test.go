package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// developers are secrets where developers leave them: in commands, configurations, code and prose. %s is a password, %40 is 40
// letters and digits, and with h, b, l, u and a before the number those of hexadecimal, base64, lower case, upper case and base32.
var developers = [][2]string{
	{"anthropic api03", "sk-ant-api03-%s"},
	{"anthropic admin", "sk-ant-admin01-%s"},
	{"anthropic oat", "CLAUDE_CODE_OAUTH_TOKEN sk-ant-oat01-%s"},
	{"anthropic ort", "sk-ant-ort01-%s"},
	{"anthropic sid", "sk-ant-sid01-%s"},
	{"openai legacy", "sk-%48"},
	{"openai proj", "sk-proj-%s"},
	{"openai svc", "sk-svcacct-%s"},
	{"openai sess", "sess-%40"},
	{"aws pair csv", "Access key ID,Secret access key\nAKIA%a16,%b40\n"},
	{"aws pair prose", "AKIA%a16 / %b40"},
	{"aws json", `{"AccessKeyId": "AKIA%a16", "SecretAccessKey": "%b40", "SessionToken": "x"}`},
	{"aws session token", `aws_session_token = IQoJb3JpZ2luX2VjE%b300`},
	{"aws configure prompt", "AWS Secret Access Key [None]: %b40"},
	{"aws configure set", "aws configure set aws_secret_access_key %b40"},
	{"azure conn", "Server=tcp:x.database.windows.net;Database=d;User ID=u;Password=%s;Encrypt=true"},
	{"azure servicebus", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=%b43="},
	{"azure sb env", "CONN=\"Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=%b43=\""},
	{"azure iothub", "HostName=h.azure-devices.net;DeviceId=d;SharedAccessKey=%b43="},
	{"azure cosmos", "AccountEndpoint=https://x.documents.azure.com:443/;AccountKey=%b86==;"},
	{"azure devops pat", "AZURE_DEVOPS_EXT_PAT=%52"},
	{"slack config", "xoxe-1-%s"},
	{"slack cookie", "xoxd-%s"},
	{"discord webhook", "https://discord.com/api/webhooks/123456789012345678/%68"},
	{"discordapp webhook", "https://discordapp.com/api/webhooks/123456789012345678/%68"},
	{"discord bot", "client.login('MTIzNDU2Nzg5MDEyMzQ1Njc4.GaBcDe.%38')"},
	{"telegram", "https://api.telegram.org/bot123456789:AA%33/sendMessage"},
	{"telegram env", "TELEGRAM_BOT_TOKEN=123456789:AA%33"},
	{"twilio auth", "TWILIO_AUTH_TOKEN=%h32"},
	{"twilio curl", "curl -u AC0123456789abcdef0123456789abcdef:%h32 https://api.twilio.com"},
	{"npm legacy uuid", "//registry.npmjs.org/:_authToken=%h8-%h4-%h4-%h4-%h12"},
	{"npm _auth", "_auth=%b40"},
	{"npmrc _password", "//npm.corp/:_password=%b32"},
	{"pypirc", "[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc%100"},
	{"pypirc pw", "[pypi]\nusername = me\npassword = Tr0ub4dor&3x"},
	{"jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.%43"},
	{"curl -u", "curl -u admin:%s https://x.internal"},
	{"curl --user", "curl --user 'admin:%s' https://x.internal"},
	{"curl -uadmin", "curl -uadmin:%s https://x"},
	{"wget", "wget --user=me --password=%s https://x"},
	{"curl header token", `curl -H "PRIVATE-TOKEN: %20" https://gitlab.internal`},
	{"x-vault", `curl -H "X-Vault-Token: s.%24" u`},
	{"api key header", `-H "X-Api-Key: %32"`},
	{"apikey header", `-H "apikey: %32"`},
	{"kubeconfig token", "users:\n- name: admin\n  user:\n    token: %s\n"},
	{"kube client cert pw", "    password: %s\n    username: admin"},
	{"docker auths", `{"auths": {"ghcr.io": {"auth": "bWU6%b32"}}}`},
	{"docker login -p", "docker login -u me -p %s registry.corp"},
	{"docker identitytoken", `{"auths":{"x":{"identitytoken":"%40"}}}`},
	{"pgpass", "db.internal:5432:shop:shop_user:%s"},
	{"pgpass star", "*:*:*:postgres:%s"},
	{"PGPASSWORD", "PGPASSWORD=%s psql -h db"},
	{"netrc", "machine api.heroku.com login me@x.org password %s"},
	{"netrc multi", "machine api.heroku.com\n  login me@x.org\n  password %s"},
	{"my.cnf", "[client]\nuser=root\npassword=%s\n"},
	{"my.cnf quoted", "[client]\npassword=\"%s\""},
	{"mysql -p", "mysql -u root -p%s shop"},
	{"mysqldump -p", "mysqldump -uroot -p'%s' shop"},
	{"rails master", "$ cat config/master.key\n%h32\n"},
	{"RAILS_MASTER_KEY", "RAILS_MASTER_KEY=%h32"},
	{"secret_key_base", "secret_key_base: %h128"},
	{"SECRET_KEY django", "SECRET_KEY = 'django-insecure-%50'"},
	{"SECRET_KEY2", "SECRET_KEY = \"%50\""},
	{"laravel APP_KEY", "APP_KEY=base64:%b43="},
	{"tf state", `"attributes": {"password": "%s", "username": "admin"}`},
	{"tf state2", `"value": {"db_password": "%s"}`},
	{"tfvars", `db_password = "%s"`},
	{"tf output", `db_password = %s`},
	{"tf cloud", "%14.atlasv1.%66"},
	{"dsa", "-----BEGIN DSA PRIVATE KEY-----\n%b64\n%b64\n-----END DSA PRIVATE KEY-----"},
	{"ec", "-----BEGIN EC PRIVATE KEY-----\n%b64\n%b64\n-----END EC PRIVATE KEY-----"},
	{"pkcs8", "-----BEGIN PRIVATE KEY-----\n%b64\n-----END PRIVATE KEY-----"},
	{"enc", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n%b64\n-----END ENCRYPTED PRIVATE KEY-----"},
	{"pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n%b64\n%b64\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----"},
	{"ssh2", "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n%b64\n%b64\n---- END SSH2 ENCRYPTED PRIVATE KEY ----"},
	{"ppk", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n%b64\nPrivate-MAC: 00"},
	{"wireguard", "[Interface]\nPrivateKey = %b43="},
	{"preshared", "PresharedKey = %b43="},
	{"ps env", "$env:API_TOKEN = \"%s\""},
	{"ps env2", "$env:DB_PASSWORD='%s'"},
	{"ps secure", "ConvertTo-SecureString \"%s\" -AsPlainText -Force"},
	{"setx", "setx API_TOKEN %s"},
	{"cmd set", "set DB_PASSWORD=%s"},
	{"export", "export X_TOKEN=%s"},
	{"fish", "set -x API_TOKEN %s"},
	{"fish gx", "set -gx GITHUB_TOKEN %s"},
	{"dockerfile ENV sp", "ENV API_TOKEN %s"},
	{"sshpass", "sshpass -p '%s' ssh me@h"},
	{"sshpass2", "sshpass -p %s ssh me@h"},
	{"redis-cli -a", "redis-cli -a %s ping"},
	{"ldap -w", "ldapsearch -D cn=admin -w %s"},
	{"sqlcmd -P", "sqlcmd -S h -U sa -P %s"},
	{"psql conninfo", "psql \"host=db user=shop password=%s dbname=x\""},
	{"openssl passin", "openssl rsa -passin pass:%s -in k"},
	{"jdbc", "jdbc:mysql://db/shop?user=root&password=%s"},
	{"jdbc oracle", "jdbc:oracle:thin:scott/%s@db:1521/x"},
	{"mongodb srv", "mongodb+srv://u:%s@c.mongodb.net"},
	{"sqlalchemy", "postgresql+psycopg2://u:%s@h/d"},
	{"ftp", "ftp://me:%s@h/x"},
	{"redis no user", "redis://:%s@h:6379/0"},
	{"amqp", "amqp://u:%s@h"},
	{"hvs", "hvs.%90"},
	{"vault old", "VAULT_TOKEN=s.%24"},
	{"gh action", "ghs_%36"},
	{"glpat", "glpat-%20"},
	{"gl runner", "glrt-%20"},
	{"gl feed", "glft-%20"},
	{"gl ci job", "glcbt-64_%20"},
	{"gitea", "GITEA_TOKEN=%h40"},
	{"bitbucket app", "ATBB%32"},
	{"atlassian", "ATATT3xFfGF0%180"},
	{"linear", "lin_api_%40"},
	{"figma", "figd_%40"},
	{"notion old", "secret_%43"},
	{"dropbox", "sl.%130"},
	{"datadog", "DD_API_KEY=%h32"},
	{"newrelic", "NRAK-%u27"},
	{"sentry", "sntrys_%100"},
	{"pagerduty", "PAGERDUTY_TOKEN=%20"},
	{"cloudflare", "CLOUDFLARE_API_TOKEN=%40"},
	{"heroku", "HEROKU_API_KEY=%h8-%h4-%h4-%h4-%h12"},
	{"fly", "FlyV1 fm2_%b120"},
	{"supabase jwt", "SUPABASE_SERVICE_ROLE_KEY=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.%43"},
	{"planetscale", "pscale_tkn_%43"},
	{"planetscale pw", "pscale_pw_%43"},
	{"doppler", "dp.pt.%43"},
	{"pulumi", "pul-%h40"},
	{"grafana", "glsa_%32_%h8"},
	{"grafana cloud", "glc_%60"},
	{"postman", "PMAK-%h24-%h34"},
	{"rubygems", "rubygems_%h48"},
	{"nuget", "oy2%l43"},
	{"crates token toml", "[registry]\ntoken = \"cio%32\""},
	{"hex", "HEX_API_KEY=%h32"},
	{"square", "sq0csp-%43"},
	{"square at", "EAAA%60"},
	{"paypal", "access_token$production$%l16$%h32"},
	{"shopify", "shpat_%h32"},
	{"stripe wh", "whsec_%32"},
	{"twitch", "oauth:%l30"},
	{"google refresh", "1//0g%60-%30"},
	{"google oauth", "ya29.a0%150"},
	{"firebase", "AAAA%7:APA91b%134"},
	{"mapbox", "sk.eyJ1IjoibWUiLCJhIjoi%20In0.%22"},
	{"algolia", "ALGOLIA_ADMIN_KEY=%h32"},
	{"deepseek", "DEEPSEEK_API_KEY=sk-%h32"},
	{"deepseek bare", "use sk-%h32 please"},
	{"gemini", "GEMINI_API_KEY=AIza%35"},
	{"mistral", "MISTRAL_API_KEY=%32"},
	{"cohere", "CO_API_KEY=%40"},
	{"replicate", "r8_%37"},
	{"together", "TOGETHER_API_KEY=%h64"},
	{"openrouter", "sk-or-v1-%h64"},
	{"langsmith", "lsv2_pt_%h32_%h10"},
	{"pinecone", "pcsk_%70"},
	{"elevenlabs", "sk_%h48"},
	{"tavily", "tvly-dev-%32"},
	{"exa", "EXA_API_KEY=%h8-%h4-%h4-%h4-%h12"},
	{"firecrawl", "fc-%h32"},
	{"resend", "re_%8_%24"},
	{"clerk", "sk_live_%40"},
	{"neon", "postgresql://neondb_owner:npg_%12@ep-x.neon.tech/neondb"},
	{"databricks", "dapi%h32"},
	{"snowflake", "SNOWFLAKE_PASSWORD=%s"},
	{"okta", "SSWS 00%40"},
	{"bearer", "Authorization: Bearer %40"},
	{"set-cookie", "Set-Cookie: session=%40; Path=/; HttpOnly"},
	{"git credentials", "https://me:%s@github.com"},
	{"gh hosts.yml", "github.com:\n    oauth_token: gho_%36\n"},
	{"aws ecr login", "docker login --username AWS --password eyJ%300 x"},
	{"ansible", "ansible_become_pass: %s"},
	{"ansible ssh", "ansible_ssh_pass=%s"},
	{"smtp", "SMTP_PASS=%s"},
	{"mail", "EMAIL_HOST_PASSWORD = '%s'"},
	{"java props", "spring.datasource.password=%s"},
	{"xml", "<password>%s</password>"},
	{"web.config", `<add key="ApiSecret" value="%s" />`},
	{"web.config conn", `connectionString="Server=x;User Id=sa;Password=%s;"`},
	{"nuget config", `<add key="ClearTextPassword" value="%s" />`},
	{"maven settings", "<server><username>me</username><password>%s</password></server>"},
	{"gradle props", "signing.password=%s"},
	{"keystore", "storePassword=%s"},
	{"keyPassword", "keyPassword '%s'"},
	{"composer auth", `{"http-basic": {"repo": {"username": "u", "password": "%s"}}}`},
	{"wp-config", "define('DB_PASSWORD', '%s');"},
	{"wp salt", "define('AUTH_KEY', '%64');"},
	{"php array", "'password' => '%s',"},
	{"ruby hash", ":password => \"%s\""},
	{"python kwarg", "connect(host='h', password='%s')"},
	{"go struct", "Password: \"%s\","},
	{"elixir", "secret_key_base: \"%64\""},
	{"ansible vault id", "vault_password: %s"},
	{"chef", "encrypted_data_bag_secret: %b64"},
	{"passwort prose", "the password is %s"},
	{"password prose colon", "password: %s (changed today)"},
	{"new password prose", "I set the password to `%s`"},
	{"github-fine", "token github_pat_%22_%59"},
	{"1password", "ops_eyJ%200"},
	{"slack xoxc", "xoxc-918273645546-918273645546-%h64"},
}

// innocent is what looks like it and is none.
var innocent = []string{
	"curl -u $USER:$PASSWORD https://x", "curl -u admin:password https://x", "curl -u me https://x", "curl --user \"${U}:${P}\" u", "curl -U x -O https://h/f.tar.gz",
	"mysql -p shop", "mysql -u root -ppassword shop", "mysql -P 3306 -p", "mysqldump --all-databases > backup-20260115.sql", "docker login -u me -p $TOKEN ghcr.io",
	"docker login --password-stdin", "docker run -p 8080:80 img", "sshpass -p \"$PW\" ssh me@h", "sshpass -f file ssh", "redis-cli -a \"$REDIS_PASSWORD\" ping", "sqlcmd -S host -Q 'select 1'",
	"the password is required", "The password is set to the default", "set the token to null", "your password is incorrect, try again", "password is stored as bcrypt in users.password_hash",
	"the secret is that it reads commit 9f2c61ab04e8d7f35a1b2c3d4e5f60718293a4b5c", "token is refreshed every 15 minutes by refreshToken2Session()",
	"ports:\n  - \"5432:5432\"\n", "db:5432:5432", "listening on 0.0.0.0:5432: ok", "host:5432:shop:shop_user:$PGPASSWORD", "SELECT *:*:*",
	"config/master.key is missing, so credentials cannot be read", "AKIAIOSFODNN7EXAMPLE wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"re_compile_the_pattern_of_all_names", "secret_scanning_push_protection_is_on",
	"sk_session_keys_are_rotated_daily", "fc-list | grep mono", "oauth:authorization", "lsv2_pipeline_configuration_of_the_runner", "client.login('admin', pw)",
	"define('DB_PASSWORD', getenv('DB_PASSWORD'));", "define('AUTH_KEY', 'put your unique phrase here');", "<add key=\"ApiSecret\" value=\"%API_SECRET%\" />",
	"-H \"PRIVATE-TOKEN: $TOKEN\"", "-H 'X-Api-Key: <your key>'", "ENV API_TOKEN $TOKEN", "set -x API_TOKEN (pass show api)", "ENV NODE_VERSION 20.11.1", "https://discord.com/api/webhooks/$ID/$TOKEN",
	"openssl rsa -passin pass:$PASS -in k", "ConvertTo-SecureString $pw -AsPlainText -Force", "Private-Lines: 14 are read by load_key()", "password: string (at least 12 characters)",
	"{\"auth\": \"required\"}", "password: z.string().min(8)", "l.password = f[i+1]",
}

// TestDevelopers finds all of the former, as text and in the input of a tool, and nothing in the latter.
func TestDevelopers(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(11, 3))
	for _, c := range developers {
		text, secrets := grown(c[1], rnd)
		var inner strings.Builder
		enc := json.NewEncoder(&inner)
		enc.SetEscapeHTML(false) // as JavaScript does it
		if err := enc.Encode(map[string]string{"command": text}); err != nil {
			t.Fatal(err)
		}
		for coding, line := range map[string]string{"text": plants.AsText(text), "tool input": plants.AsText(inner.String())} {
			var n Numbers
			clean, cuts := rules.Redact([]byte(line), &n)
			for _, s := range secrets {
				if left := leftOf(clean, []string{s}); left != "" {
					t.Errorf("%s as %s: %q is left of %s", c[0], coding, left, line)
				}
			}
			if undo(clean, cuts) != line || !json.Valid(clean) {
				t.Errorf("%s as %s: %s", c[0], coding, clean)
			}
			if again := rules.Find(clean); len(again) > 0 {
				t.Errorf("%s as %s: a second look at %s finds %v", c[0], coding, clean, again)
			}
		}
	}
	for _, text := range innocent {
		for _, f := range rules.Find([]byte(plants.AsText(text))) {
			t.Errorf("%s finds %q", f.Rule, plants.AsText(text)[f.Start:f.End])
		}
	}
	if len(developers) < 150 {
		t.Errorf("%d kinds", len(developers))
	}
}

// grown fills in what a format asks for, and returns what of it must not be left.
func grown(format string, rnd *rand.Rand) (text string, secrets []string) {
	const al = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	chars := map[byte]string{'h': "0123456789abcdef", 'b': al + "+/", 'l': "abcdefghijklmnopqrstuvwxyz0123456789", 'u': "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 'a': "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}
	pick := func(from string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[rnd.IntN(len(from))]
		}
		return string(b)
	}
	first, rest, _ := strings.Cut(format, "%")
	out := first
	for part := range strings.SplitSeq(rest, "%") {
		if part == "" {
			continue
		}
		if part[0] == 's' {
			s := pick(al, 8) + "7a!" + pick(al, 5) + "4K"
			if strings.HasSuffix(out, "-") && !strings.HasSuffix(out, " -") {
				s = pick(al, 90)
			}
			out, secrets = out+s+part[1:], append(secrets, s)
			continue
		}
		from, digits := al, part
		if c, ok := chars[part[0]]; ok {
			from, digits = c, part[1:]
		}
		end := 0
		for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(digits[:end])
		if err != nil {
			panic(format)
		}
		s := pick(from, n)
		if out += s + digits[end:]; n >= 12 && part[0] != 'a' {
			secrets = append(secrets, s)
		}
	}
	return out, secrets
}
