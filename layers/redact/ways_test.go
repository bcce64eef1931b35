package redact

import (
	"bytes"
	b64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/testdata/gen/plants"
)

// ways are the ways in which secrets get into a session: what tools print, files that are read, edited, compared and searched, and
// commands. Their letters are those of [developers].
var ways = [][2]string{
	{"read, env", "     1→# settings\n     2→DB_PASSWORD=%s\n     3→PORT=80"},
	{"read, yaml", "    11→db:\n    12→  password: %s\n    13→  host: db"},
	{"read, ini", "    12→password = %s"},
	{"read, json", "    12→  \"dbPassword\": \"%s\","},
	{"read, netrc", "     1→machine api.corp\n     2→  login me\n     3→  password %s\n"},
	{"read, pgpass", "     1→db.internal:5432:shop:shop_user:%s\n"},
	{"read, pem cut off", "     1→-----BEGIN RSA PRIVATE KEY-----\n     2→%b64\n     3→%b64\n     4→%b64"},
	{"read, pem", "     1→-----BEGIN RSA PRIVATE KEY-----\n     2→%b64\n     3→%b64\n     4→-----END RSA PRIVATE KEY-----"},
	{"read, aws", "     1→[default]\n     2→aws_access_key_id = AKIA%a16\n     3→aws_secret_access_key = %b40"},
	{"grep -n pem", "k.pem:1:-----BEGIN PRIVATE KEY-----\nk.pem:2:%b64\nk.pem:3:%b64\n"},
	{"grep -rn yaml", "config/db.yml:12:  password: %s\nconfig/db.yml:13:  host: x"},
	{"grep -rn env", ".env:3:DB_PASSWORD=%s"},
	{"grep env", "deploy/.env.prod:STRIPE_SECRET=%40"},
	{"grep context", "config/db.yml-12-  password: %s\n"},
	{"rg heading", "config/db.yml\n12:  password: %s\n"},
	{"cat -n", "     1\tAPI_TOKEN=%s\n     2\tx"},
	{"cat -A", "DB_PASSWORD=%s$\nPORT=80$"},
	{"diff yaml", "@@ -1,3 +1,3 @@\n db:\n-  password: %s\n+  password: %s\n"},
	{"diff env", "-DB_PASSWORD=%s\n+DB_PASSWORD=%s\n PORT=80"},
	{"diff json", "+    \"password\": \"%s\",\n"},
	{"diff pem", "+-----BEGIN PRIVATE KEY-----\n+%b64\n+%b64\n+-----END PRIVATE KEY-----"},
	{"diff pem cut off", "+-----BEGIN PRIVATE KEY-----\n+%b64\n+%b64\n+%b64"},
	{"heredoc", "cat > .env <<'EOF'\nDB_PASSWORD=%s\nPORT=80\nEOF"},
	{"heredoc yaml", "cat <<EOF | kubectl apply -f -\nkind: ConfigMap\ndata:\n  db_password: %s\nEOF"},
	{"yaml block", "password: |\n  %s\nuser: me\n"},
	{"yaml folded", "api_token: >-\n    %40\n"},
	{"yaml quoted", "password: '%s'"},
	{"yaml anchor", "password: &pw %s\n"},
	{"yaml tag", "password: !!str %s\n"},
	{"k8s env yaml", "env:\n- name: DB_PASSWORD\n  value: %s\n"},
	{"k8s env yaml quoted", "env:\n- name: DB_PASSWORD\n  value: \"%s\"\n"},
	{"k8s env json", `{"env":[{"name": "API_TOKEN", "value": "%s"}]}`},
	{"terraform output", `{"db_password": {"sensitive": true, "type": "string", "value": "%s"}}`},
	{"terraform output 2", "{\n  \"db_password\": {\n    \"value\": \"%s\",\n    \"type\": \"string\"\n  }\n}"},
	{"arm parameters", `{"adminPassword": {"value": "%s"}}`},
	{"cloudformation", `[{"ParameterKey": "DBPassword", "ParameterValue": "%s"}]`},
	{"cloudformation cli", "aws cloudformation deploy --parameters ParameterKey=DBPassword,ParameterValue=%s"},
	{"cloudformation overrides", "sam deploy --parameter-overrides DBPassword=%s Stage=x"},
	{"secrets manager", `{"SecretString": "{\"username\":\"u\",\"password\":\"%s\"}"}`},
	{"tfstate", `{"instances":[{"attributes":{"master_password":"%s","name":"x"}}]}`},
	{"docker inspect", `"Env": ["DB_PASSWORD=%s", "PATH=/usr/bin"]`},
	{"docker -e", "docker run -d -e POSTGRES_PASSWORD=%s postgres:16"},
	{"docker -e quoted", "docker run -e 'POSTGRES_PASSWORD=%s' -p 80:80 postgres:16"},
	{"docker --env", "docker run --env API_TOKEN=%s img"},
	{"docker config", "{\n\t\"auths\": {\n\t\t\"ghcr.io\": {\n\t\t\t\"auth\": \"%b40\"\n\t\t}\n\t}\n}"},
	{"compose list", "    environment:\n      - POSTGRES_PASSWORD=%s\n"},
	{"compose map", "    environment:\n      POSTGRES_PASSWORD: %s\n"},
	{"build arg", "docker build --build-arg NPM_TOKEN=%40 ."},
	{"systemd", "Environment=\"DB_PASSWORD=%s\"\n"},
	{"from-literal", "kubectl create secret generic db --from-literal=password=%s"},
	{"from-literal 2", "kubectl create secret generic db --from-literal password='%s' --from-literal=user=x"},
	{"helm set", "helm upgrade x y --set db.password=%s --set a=b"},
	{"helm set list", "helm upgrade x y --set a=b,db.password=%s,c=d"},
	{"ssm", "aws ssm put-parameter --name /db/password --type SecureString --value %s"},
	{"gh secret", "gh secret set DEPLOY_TOKEN --body \"%s\""},
	{"gh secret -b", "gh secret set DEPLOY_TOKEN -b %s"},
	{"heroku", "heroku config:set STRIPE_SECRET_KEY=%40 -a x"},
	{"fly", "fly secrets set DATABASE_PASSWORD=%s"},
	{"password-stdin", "echo %s | docker login -u me --password-stdin ghcr.io"},
	{"password-stdin quoted", "echo \"%s\" | docker login -u me --password-stdin ghcr.io"},
	{"sudo -S", "echo '%s' | sudo -S apt update"},
	{"htpasswd", "htpasswd -bc .htpasswd admin %s"},
	{"mysql long", "mysql --user=root --password=%s shop"},
	{"mongosh", "mongosh --host h -u admin -p %s --authenticationDatabase admin"},
	{"httpie", "http -a me:%s https://h/api"},
	{"http auth", "http --auth me:%s https://h/api"},
	{"wget", "wget --http-user=me --http-password=%s https://h"},
	{"gpg", "gpg --batch --passphrase %s -d x.gpg"},
	{"openssl enc", "openssl enc -d -aes-256-cbc -k %s -in x"},
	{"zip", "zip -P %s a.zip b"},
	{"unzip", "unzip -P %s a.zip"},
	{"7z", "7z x -p%s a.7z"},
	{"az sp", "az login --service-principal -u x --password %s --tenant t"},
	{"az client secret", "terraform apply -var client_secret=%40"},
	{"terraform var", "terraform apply -var 'db_password=%s'"},
	{"keytool", "keytool -list -keystore k.jks -storepass %s"},
	{"clickhouse", "clickhouse-client --user u --password %s"},
	{"vault kv", "vault kv put secret/db password=%s"},
	{"npm config", "npm config set //registry.npmjs.org/:_authToken %40"},
	{"cargo login", "cargo login cio%32"},
	{"bundle config", "bundle config gems.corp me:%s"},
	{"dotnet", "dotnet user-secrets set \"Db:Password\" \"%s\""},
	{"kubectl credentials", "kubectl config set-credentials u --token=%40"},
	{"curl json", "curl -d '{\"user\":\"u\",\"password\":\"%s\"}' https://h"},
	{"curl form", "curl -d 'user=u&password=%s' https://h"},
	{"curl -F", "curl -F token=%40 https://h"},
	{"curl -b", "curl -b 'session=%40' https://h"},
	{"curl oauth2", "curl --oauth2-bearer %40 https://h"},
	{"query", "GET https://api.h/x?api_key=%32&y=1"},
	{"query token", "https://h/hook?token=%32"},
	{"fragment", "https://h/cb#access_token=%40&token_type=bearer"},
	{"fragment jwt", "https://h/cb#id_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.%43&state=1"},
	{"amz signature", "https://b.s3.amazonaws.com/k?X-Amz-Security-Token=IQoJb3JpZ2lu%200&X-Amz-Signature=%h64"},
	{"git remote -v", "origin\thttps://me:ghp_%36@github.com/a/b.git (fetch)"},
	{"git extraheader", "git -c http.extraheader=\"AUTHORIZATION: bearer %40\" fetch"},
	{"pip conf", "[global]\nindex-url = https://me:%s@pypi.corp/simple"},
	{"const", "const password = \"%s\";"},
	{"backticks", "const apiKey = `%40`;"},
	{"python triple", "API_TOKEN = \"\"\"%40\"\"\""},
	{"rust raw", "let token = r\"%40\";"},
	{"rust raw hash", "let token = r#\"%40\"#;"},
	{"define", "#define DB_PASSWORD \"%s\""},
	{"setter", "ds.setPassword(\"%s\");"},
	{"setter 2", "client.set_api_key('%40')"},
	{"identified by", "CREATE USER 'app'@'h' IDENTIFIED BY '%s';"},
	{"with password", "CREATE USER app WITH PASSWORD '%s';"},
	{"alter role", "ALTER ROLE app ENCRYPTED PASSWORD '%s';"},
	{"redis.conf", "requirepass %s\n"},
	{"ldap bindpw", "bindpw %s\n"},
	{"wpa", "network={\n ssid=\"x\"\n psk=\"%s\"\n}"},
	{"s3cfg", "secret_key = %b40"},
	{"gem", ":rubygems_api_key: rubygems_%h48"},
	{"jaas", "sasl.jaas.config=org.apache.X required username=\"u\" password=\"%s\";"},
	{"mail dsn", "MAILER_DSN=smtp://me:%s@smtp.h:587"},
	{"powershell param", "New-Login -User u -Password \"%s\""},
	{"credential object", "New-Object PSCredential('u', (ConvertTo-SecureString '%s' -AsPlainText -Force))"},
	{"service account", `{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\n%b64\n%b64\n-----END PRIVATE KEY-----\n"}`},
	{"pem in env", `GCP_KEY="-----BEGIN PRIVATE KEY-----\n%b64\n%b64\n-----END PRIVATE KEY-----\n"`},
	{"pem twice escaped", `"-----BEGIN PRIVATE KEY-----\\n%b64\\n%b64\\n-----END PRIVATE KEY-----\\n"`},
	{"pem in yaml", "tls:\n  key: |\n    -----BEGIN EC PRIVATE KEY-----\n    %b64\n    %b64\n    -----END EC PRIVATE KEY-----\n"},
	{"kubeconfig", "users:\n- name: u\n  user:\n    client-key-data: %b200\n"},
	{"ansi", "\x1b[36mDB_PASSWORD\x1b[0m=\x1b[33m%s\x1b[0m"},
	{"ansi yaml", "\x1b[34mpassword\x1b[39m: \x1b[32m%s\x1b[39m\n"},
	{"ansi json", "\x1b[34;1m\"password\"\x1b[0m: \x1b[32m\"%s\"\x1b[0m,"},
	{"grep colour", "\x1b[35m.env\x1b[36m:\x1b[32m3\x1b[36m:\x1b[m\x1b[KDB_\x1b[01;31m\x1b[KPASSWORD\x1b[m\x1b[K=%s"},
	{"markdown table", "| password | %s |"},
	{"markdown table code", "| `DB_PASSWORD` | `%s` |"},
	{"markdown bold", "**Password:** %s"},
	{"markdown bold code", "- **Password**: `%s`"},
	{"columns", "DB_PASSWORD          %s"},
	{"printenv", "SHELL=/bin/bash\nGITHUB_PERSONAL_TOKEN=%40\nPWD=/x"},
	{"export -p", "declare -x DB_PASSWORD=\"%s\""},
	{"set -x trace", "+ export DB_PASSWORD=%s"},
	{"trace of a call", "+ DB_PASSWORD='%s' ./run"},
	{"process list", "me 12 0.0 mysqld --password=%s --port=3"},
	{"html entity", "value=&quot;x&quot; password=&quot;%s&quot;"},
	{"html input", "<input type=\"password\" name=\"password\" value=\"%s\">"},
	{"properties xml", "<property name=\"password\" value=\"%s\"/>"},
	{"entry xml", "<entry key=\"db.password\">%s</entry>"},
	{"env xml", "<env name=\"API_TOKEN\" value=\"%s\"/>"},
	{"python dict", "{'user': 'u', 'password': '%s'}"},
	{"python bytes", "token = b'%40'"},
	{"os.environ", "os.environ[\"API_TOKEN\"] = \"%40\""},
	{"process.env", "process.env.API_TOKEN = '%40'"},
	{"setenv", "os.Setenv(\"API_TOKEN\", \"%s\")"},
	{"monkeypatch", "monkeypatch.setenv('API_TOKEN', '%s')"},
	{"fallback", "const key = process.env.API_KEY || '%40';"},
	{"default", "token = os.getenv('API_TOKEN', '%40')"},
	{"shell default", "TOKEN=${API_TOKEN:-%40}"},
	{"shell default 2", "export DB_PASSWORD=\"${DB_PASSWORD:-%s}\""},
	{"string format", "conn = f\"host=h password=%s user=u\""},
	{"url in json escapes", `{"url": "https:\/\/me:%s@h\/x"}`},
	{"header map", "headers = {'X-Api-Key': '%32'}"},
	{"header object", "headers: { Authorization: `Bearer %40` }"},
	{"header tuple", "(\"Authorization\", \"Bearer %40\")"},
	{"basic auth tuple", "requests.get(u, auth=('me', '%s'))"},
	{"http request", "POST /x HTTP/1.1\r\nAuthorization: Bearer %40\r\nCookie: sid=%40\r\n\r\n"},
	{"curl -v", "> Authorization: Bearer %40\n> Accept: */*"},
	{"set-cookie", "< set-cookie: __Secure-session=%40; Path=/"},
	{"file name", "/home/me/ghp_%36.txt"},
	{"log line", "2026-01-02T03:04:05Z INFO connected token=%40 user=u"},
	{"log json", `{"level":"info","msg":"login","token":"%40"}`},
	{"logfmt", "level=info password=%s user=u"},
	{"go struct", "{User:u Password:%s Host:h}"},
	{"go map", "map[password:%s user:u]"},
	{"inspect", "{ user: 'u', password: '%s' }"},
	{"ruby inspect", "#<User password: \"%s\">"},
	{"ruby hash rocket", "{:password=>\"%s\"}"},
	{"rust debug", "Config { password: \"%s\" }"},
	{"prose with", "log in as admin with password %s"},
	{"prose pair", "user: admin / password: %s"},
	{"prose token", "Here is my token: %40"},
	{"prose key", "my api key is %40, use it"},
	{"prose key 2", "use this API key: %40"},
	{"prose german", "Passwort: %s"},
	{"yaml list of keys", "api_keys:\n  - %40\n"},
	{"json list of keys", `{"api_keys": ["%40"]}`},
	{"tokens list", `{"tokens": ["%40", "%40"]}`},
	{"toml section", "[database]\npassword = '%s'"},
	{"pgbouncer", "postgres://u@h/d?password=%s"},
	{"odbc", "DRIVER={x};SERVER=h;UID=u;PWD=%s;"},
	{"odbc braces", "DRIVER={x};SERVER=h;UID=u;PWD={%s};"},
	{"ado", "Data Source=h;Initial Catalog=d;User Id=u;Password=%s;"},
	{"erlang cookie", "-setcookie %s"},
	{"snmp", "snmp_community_password: %s"},
	{"ftp url", "sftp://me:%s@h/x"},
	{"totp", "otpauth://totp/x?secret=%a32&issuer=y"},
	{"ssh-keygen", "ssh-keygen -t ed25519 -N '%s' -f k"},
	{"gitlab ci", "variables:\n  DEPLOY_TOKEN: \"%s\"\n"},
	{"makefile", "API_TOKEN ?= %s\n"},
	{"makefile 2", "API_TOKEN := %s\n"},
	{"cmake", "set(API_TOKEN \"%s\")"},
	{"gradle", "password \"%s\""},
	{"jsonnet", "password:: '%s',"},
	{"nix", "password = \"%s\";"},
	{"hcl", "variable \"db_password\" {\n  default = \"%s\"\n}"},
}

// plainWays is what looks like it and is none.
var plainWays = []string{
	"user.setPassword(password)", `form.setPassword("password")`, `withToken("session-token")`, "| token | required | none |", "| password | string | The password of the user |",
	"| `API_KEY` | `sk_test_...` |", "process.env.API_KEY || 'test-key'", `os.getenv("API_KEY", "default")`, `config('DB_PASSWORD', default='')`, `<label for="password">Password</label>`,
	`<span class="token">function</span>`, "<key>password</key>\n<string>$(PASSWORD)</string>", `echo "$PW" | docker login -u me --password-stdin`, "cat pw | sudo -S ls", "echo done | sudo -S true",
	"htpasswd -c .htpasswd admin", "htpasswd -bc .htpasswd admin $PW", "API key: see the docs", "the API key is stored in the vault", "access key: arn:aws:iam::1:user/x", `auth=("user", "pass")`, "auth=(USER, PASS)",
	"IDENTIFIED BY 'password'", "password: |\n  The password of the user\n", "api_token: >-\n  ${TOKEN}\n", "api_keys:\n  - name: one\n", `"tokens": ["the", "quick", "brown"]`, "tokens:\n  - access_token\n", "TOKEN      COUNT\nfoo        3",
	"log in with password authentication", "Reset password Button2", "requirepass yes", "http -a me:$PASS https://h", "zip -P \"$PW\" a.zip b", "7z x -p a.7z", `gh secret set NAME -b "$VALUE"`, `psk="$PSK"`,
	`{"db_password": {"value": null}}`, `"password": {"type": "string", "default": "changeme"}`, "variable \"db_password\" {\n  type = string\n}", "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n", "- name: DB_PASSWORD\n  value: $(PW)\n",
	"\x1b[34mpassword\x1b[39m: \x1b[32mrequired\x1b[39m", "password = <<EOT\nyour password here\nEOT", "curl -b cookies.txt https://h", "curl -b 'lang=en' https://h", "keytool -storepass changeit", "cargo login", "openssl enc -k \"$K\"",
	"https:\\/\\/me@h\\/x", "X-Amz-Signature=<signature>", "**Password:** required", "password: &default\n", "token ?= $(shell cat token)", "PWD={x y};",
}

// structured are values of JSON with their names around them, as tools of servers answer; %s stands for the secret.
var structured = []string{
	`{"toolUseResult":{"db_password":{"sensitive":true,"value":"%s"}}}`, `{"env":[{"name":"DB_PASSWORD","value":"%s"}]}`, `{"p":[{"ParameterKey":"Token","ParameterValue":"%s"}]}`,
	`{"api_keys":["%s"]}`, `{"api_keys":["x", "%s"]}`, `{"password":"%s"}`,
}

// TestStructured finds a secret by the names around it, and takes nothing for one whose names are those of others.
func TestStructured(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const secret = "kT92hQx81LmPz4Wd"
	for _, s := range structured {
		line := strings.ReplaceAll(s, "%s", secret)
		if found := rules.Find([]byte(line)); len(found) != 1 || line[found[0].Start:found[0].End] != secret {
			t.Errorf("%s: found %v", line, found)
		}
	}
	for _, s := range []string{`{"name":"DB_PASSWORD"},{"value":"%s"}`, `{"names":["%s"]}`, `{"password":{"id":"%s"}}`, `{"keys":["%s"]}`, `{"db_password":{"x":{}, "y":1},"value":"%s"}`} {
		line := `{"list":[` + strings.ReplaceAll(s, "%s", secret) + `]}`
		if found := rules.Find([]byte(line)); len(found) > 0 {
			t.Errorf("%s: found %v", line, found)
		}
	}
}

// wrapped are the places in a transcript where such a text stands.
func wrapped(text string) map[string]string {
	quote := func(v any) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	return map[string]string{
		"result":        fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s}]}}`+"\n", quote(text)),
		"nested":        fmt.Sprintf(`{"type":"user","toolUseResult":{"stdout":%s}}`+"\n", quote(quote(map[string]string{"out": text}))),
		"base64":        fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote(b64.StdEncoding.EncodeToString([]byte("here is the file you have asked for:\n"+text)))),
		"base64 twice":  fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote(b64.StdEncoding.EncodeToString([]byte("data: "+b64.StdEncoding.EncodeToString([]byte("here is the file you have asked for:\n"+text)))))),
		"percent twice": fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote("https://h/?q="+url.PathEscape("https://h/?q="+url.PathEscape("\n"+text)))),
		"percent":       fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote("https://h/?q="+url.PathEscape("\n"+text))),
	}
}

// TestWays finds all of the former wherever they stand, and nothing in the latter.
func TestWays(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(11, 4))
	for _, c := range ways {
		text, secrets := grown(c[1], rnd)
		for where, line := range wrapped(text) {
			var n Numbers
			clean, cuts := rules.Redact([]byte(line), &n)
			cut, want := 0, 0
			for _, c := range cuts {
				cut += len(c.Bytes)
			}
			for _, s := range secrets {
				want += len(s)
				if left := leftOf(clean, []string{s}); left != "" {
					t.Errorf("%s as %s: %q is left of %s", c[0], where, left, line)
				}
			}
			if cut < want {
				t.Errorf("%s as %s: %d bytes were cut from %s, the secrets have %d", c[0], where, cut, line, want)
			}
			if undo(clean, cuts) != line || !json.Valid(clean) {
				t.Errorf("%s as %s: %s", c[0], where, clean)
			}
			if again := rules.Find(clean); len(again) > 0 {
				t.Errorf("%s as %s: a second look at %s finds %v", c[0], where, clean, again)
			}
		}
	}
	for _, text := range plainWays {
		for where, line := range wrapped(text) {
			for _, f := range rules.Find([]byte(line)) {
				t.Errorf("%s finds %q in %q as %s", f.Rule, line[f.Start:f.End], text, where)
			}
		}
	}
}

// TestWholeValue cuts all of the value between the marks « and » and nothing else, or nothing where there are no marks.
func TestWholeValue(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, marked := range []string{
		"password: «Tr0ub4dor&3zz»",
		"postgres://app:«S3cr3tPw9x»@db.internal:5432/x",
		"postgres://app:«pa#ss/w?d9»@db.internal:5432/x",
		"postgres://app:«p@ss/w9»@db.acme.io/x", "postgres://app:«p@ss/w»@host", "amqp://app:«a@b?c#d/e@f»@mq:5672/v", "https://ci:«tok9»@git/a/b", "https://ci:«tok9»@git.corp/a/@scope/b@1.2",
		"helm install x --set a.password=«amberfalcon» --set b=1", "helm upgrade x . --set image.tag=1,db.password=«Amber.Falcon»,b=1", "java -Dspring.datasource.password=«amberfalcon» -jar a.jar",
		"docker run -e password=«amberfalcon» -p 80:80 img", "--set auth.rootPassword=«qwhzkdpslmvn» --wait",
		`"password": "«qwhzkdpslmvnxbaq»"`, `"password": "«abqd xfgh zjkl mqop»"`, "SMTP_PASSWORD=«abqd xfgh zjkl mqop»\n", "Server=db;Uid=app;Password=«abqd xfgh zjkl mqop»;Encrypt=true",
		"The password is «abqd xfgh zjkl mqop» and", `"password": "«lane-server-commit-parser»"`, `"password": "«correct horse battery staple»"`, "password: «wsxdRfvTgbYhnUjm»\n",
		`"password": "«AmberFalconRiver»"`, "| password | «qwhzkdpslmvnxbaq» |\n",
		"cloudflare «cfut_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7d0123abcd» set", "«dp.st.dev_x.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE» set", "«dp.pt.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9»",
		"«lin_oauth_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f49d41c7e5b02f68a3d7c1e94f»", "«squ_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f4»", "«CCIPAT_aB3dE5fG7hJ9kL1mN3pQ5r_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f4»",
		"«CCIPRJ_aB3dE5fG7hJ9kL1mN3pQ5r_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f4»", "«sqa_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f4» of", "«sqp_9d41c7e5b02f68a3d7c1e94f5a8b36207ce1d9f4»,", "x «dp.ct.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9»", "«dp.sa.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9» x",
		"«dp.scim.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9»", "«dp.audit.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9»", "«dp.st.aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9» x",
		"redis://:«Amber.Falcon7»@cache:6379/0",
		`"password": "«~k3.Lq(9[x»"`, `"password": "«zgcyve-pnvvbp-ftyohZ»"`, `password = "«Amber.Falcon7»"`,
		"DB_PASSWORD=«$9k{Lq(x3<T»\nPORT=80", "DB_PASSWORD=«<a9K>x(3;L#\"q»", "password: «amber-falcon-7»\n",
		"Server=db;Uid=app;Password=«a{9&K(x~L3»;Encrypt=true", `Server=db;Uid=app;Password="«a;""9K'x~L3»";Encrypt=true`,
		"password: '«@9k''Lq(x3»'\n", `mysql --password='«a'\''9k$Lq»' shop`,
		"key «sk-ant-api03-aB3fakeZk39dkfJq93kfjQ0d8vjE93kdkfJq02kdf83kfQ»",
		"The password is «Amber.Falcon7» and", "das Passwort lautet «Amber.Falcon7» und", "das Passwort ist «Amber.Falcon7»\n", "le mot de passe est «Amber.Falcon7» ici",
		"la contraseña es «Amber.Falcon7» y", "la password è «Amber.Falcon7» e", "パスワードは «kT92hQx81LmP» です",
		// words of messages, names and code
		"'password' => 'required|string|min:8'", `"password": "ForgotPasswordScreen"`,
		`"password": "required"`, `"password": "Enter the password of your account"`, `"password": "forgot-password-page-link"`, `"password": "string"`, `{"password": "autocomplete current password"}`,
		"password := []byte(\"asdf\")", "Credentials:   mcpCreds,\n", "password, hostname: proxyHostname } = url", `"password": "process.env.DB_PWD_HASH"`, "this only took some time", "grep -rn secret=false x",
		// openings of tokens that nothing of their length follows
		"cfut_is_a_prefix_of_cloudflare", "dp.st.dev is the environment", "lin_oauth_client", "squ_report", "CCIPAT_",
		// references and placeholders, by their form in that place
		`"password": "${DB_PASSWORD}"`, `password: "{{ vault.db_password }}"`, "DB_PASSWORD=$(pass show db1)", "password: process.env.DB_PASSWORD1", `password = os.Getenv("DB_PASSWORD1")`,
		`"password": "<your-password>"`, `"password": "fake-password-1"`, `"password": "/run/secrets/db1"`, "postgres://app:${PG_PASS1}@db/x", "https://host:8080/a@b1", "password is SHA-256 hashed", "password: base64Encode(pwd1, Salt2)",
		`"secret": "arn:aws:secretsmanager:eu:1:secret:x1"`, "https://user:password@host/x", "token = parse(line1)", `"password": "$password1"`, "PWD=/home/app1",
	} {
		text := strings.NewReplacer("«", "", "»", "").Replace(marked)
		var n Numbers
		clean, cuts := rules.Redact([]byte(plants.AsText(text)), &n)
		before, rest, found := strings.Cut(marked, "«")
		value, after, _ := strings.Cut(rest, "»")
		if !found {
			if len(cuts) > 0 {
				t.Errorf("%s: %s was cut", marked, cuts[0].Bytes)
			}
			continue
		}
		if len(cuts) != 1 {
			t.Errorf("%s: %d cuts: %s", marked, len(cuts), clean)
			continue
		}
		mark := string(clean[cuts[0].At : int(cuts[0].At)+cuts[0].Len])
		if want := plants.AsText(before + mark + after); string(clean) != want {
			t.Errorf("%s: %q was cut of %q", marked, cuts[0].Bytes, value)
		}
	}
}

// TestKubernetes finds what a Secret holds, however it is written, and nothing of other kinds.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	const a, b = "c2hvcC1kYi1xN3o5UDJ3eA==", "Tm9ib2R5LWtub3dzLTg4"
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"yaml", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shop\ndata:\n  one: " + a + "\n  two: \"" + b + "\"\ntype: Opaque\n", []string{a, b}},
		{"kubectl puts data first", "apiVersion: v1\ndata:\n  one: " + a + "\nkind: Secret\n", []string{a}},
		{"plain text", "kind: Secret\nstringData:\n  conf: q7z5P2wx-99\n", []string{"q7z5P2wx-99"}},
		{"a block", "kind: Secret\ndata:\n  one: |\n    " + a + "\n    " + b + "\nmetadata:\n  name: " + "shop-blue\n", []string{a, b}},
		{"in a list", "items:\n- apiVersion: v1\n  data:\n    one: " + a + "\n  kind: Secret\n- apiVersion: v1\n  data:\n    one: " + b + "\n  kind: ConfigMap\n", []string{a}},
		{"of a listing", "     1→kind: Secret\n     2→data:\n     3→  one: " + a + "\n     4→type: Opaque\n", []string{a}},
		{"json", `{"kind":"Secret","data":{"one":"` + a + `","two":"` + b + `"}}`, []string{a, b}},
		{"json with spaces", "{\n \"data\": {\n  \"one\": \"" + a + "\"\n },\n \"kind\": \"Secret\"\n}", []string{a}},
		{"json in json", `{\"kind\":\"Secret\",\"data\":{\"one\":\"` + a + `\"}}`, []string{a}},
		{"escaped", `kind: Secret\ndata:\n  one: ` + a + `\n  two: ` + b + `\ntype: Opaque`, []string{a, b}},
		{"another kind", "kind: SecretStore\ndata:\n  one: " + a + "\n", nil},
		{"another document", "kind: Secret\n---\nkind: ConfigMap\ndata:\n  one: " + a + "\n", nil},
		{"words", "kind: Secret\ndata:\n  user: YWRtaW4=\n  note: Y2hhbmdlbWU=\n  ref: {{ .Values.x }}\n  file: /etc/shop/key\n", nil},
		{"an end", "kind: Secret\ndata:", nil},
		{"half", `{"kind":"Secret","data":{"one":"` + a, nil},
	} {
		rules, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range merge(newScan(rules.set).Run([]byte(c.text), 1)) {
			got = append(got, c.text[s.Start:s.End])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
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
	kinds := plants.All()
	for i := range 1000 {
		p := kinds[i%len(kinds)]
		secret := p.Make(rnd)
		for _, c := range plants.Codings() {
			line, bare := c.Line(p, secret)
			var n Numbers
			clean, cuts := rules.Redact([]byte(line), &n)
			all++
			if left := leftOf(clean, bare); left != "" {
				if missed[p.Name+" as "+c.Name]++; missed[p.Name+" as "+c.Name] < 3 {
					t.Logf("%s as %s: left %q of %q", p.Name, c.Name, left, line)
				}
			}
			if undo(clean, cuts) != line {
				t.Fatalf("%s as %s: the cuts do not give the line back", p.Name, c.Name)
			}
			if !json.Valid(clean) || bytes.Count(clean, []byte("\n")) != 1 {
				t.Fatalf("%s as %s: %s is not JSON", p.Name, c.Name, clean)
			}
			if again := rules.Find(clean); len(again) > 0 {
				t.Errorf("%s as %s: a second look at %q finds %v", p.Name, c.Name, clean, again)
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
