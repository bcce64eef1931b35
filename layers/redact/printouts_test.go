package redact

import (
	b64 "encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
)

// printouts are what programs, servers and people write secrets in: files of settings, tables, logs, answers, comparisons, code, prose.
// Their letters are those of [developers].
var printouts = [][2]string{
	{"csv", "user,password,token\nalice,%s,%40\nbob,%s,%40\n"},
	{"csv quoted", "\"id\",\"name\",\"password\"\n\"1\",\"Alice B\",\"%s\"\n\"2\",\"Bob, C\",\"%s\"\n"},
	{"csv semicolon", "user;password;role\nalice;%s;admin\nbob;%s;user\n"},
	{"tsv", "user\tapi_key\trole\nalice\t%40\tadmin\nbob\t%40\tuser\n"},
	{"csv pipe", "user|password|role\nalice|%s|admin\n"},
	{"csv aws", "User name,Password,Access key ID,Secret access key,Console login link\nbob,%s,AKIA%a16,%b40,https://1.signin.aws.amazon.com/console\n"},
	{"csv aws 2", "Access key ID,Secret access key\nAKIA%a16,%b40\n"},
	{"csv lastpass", "url,username,password,totp,extra,name,grouping,fav\nhttps://x.com/login,me@x.com,%s,,,x,,0\nhttps://y.com/,me@x.com,%s,,,y,,0\n"},
	{"csv chrome", "name,url,username,password,note\ngithub.com,https://github.com/session,me,%s,\n"},
	{"csv bitwarden", "folder,favorite,type,name,notes,fields,reprompt,login_uri,login_username,login_password,login_totp\n,,login,corp,,,0,https://corp,me,%s,\n"},
	{"csv keepass", "\"Account\",\"Login Name\",\"Password\",\"Web Site\",\"Comments\"\n\"corp\",\"me\",\"%s\",\"https://c\",\"\"\n"},
	{"csv crlf", "user,password\r\nalice,%s\r\nbob,%s\r\n"},
	{"csv read", "     1→user,password,token\n     2→alice,%s,%40\n     3→bob,%s,%40\n"},
	{"csv cat -n", "     1\tuser,password,token\n     2\talice,%s,%40\n"},
	{"csv head", "==> users.csv <==\nuser,password,token\nalice,%s,%40\n"},
	{"csv in diff", "+user,password,token\n+alice,%s,%40\n"},
	{"csv in heredoc", "cat > u.csv <<EOF\nuser,password\nalice,%s\nEOF\n"},
	{"csv grep", "users.csv:1:user,password\nusers.csv:2:alice,%s\n"},
	{"csv sqlite", "id|email|password|created\n1|a@b.c|%s|2026-01-01\n2|b@b.c|%s|2026-01-02\n"},
	{"psql table", " id | email | api_token \n----+-------+--------------------\n  1 | a@b   | %40\n  2 | b@b   | %40\n(2 rows)\n"},
	{"psql table pw", " id |   email   |       password       \n----+-----------+----------------------\n  1 | a@b.c | %s\n(1 row)\n"},
	{"psql expanded", "-[ RECORD 1 ]----\nid       | 1\npassword | %s\n"},
	{"mysql table", "+----+-------+----------+\n| id | email | password |\n+----+-------+----------+\n|  1 | a@b   | %s |\n|  2 | b@b   | %s |\n+----+-------+----------+\n"},
	{"mysql \\G", "*************************** 1. row ***************************\n      id: 1\npassword: %s\n"},
	{"markdown table columns", "| user | password | role |\n|------|----------|------|\n| al | %s | admin |\n| bo | %s | user |\n"},
	{"markdown code cells", "| user | password |\n|---|---|\n| al | `%s` |\n"},
	{"sqlite box", "│ id │ password │\n├────┼──────────┤\n│ 1  │ %s │\n"},
	{"columns spaces", "USER     PASSWORD              ROLE\nalice    %s    admin\nbob      %s    user\n"},
	{"kubectl columns", "NAME    TOKEN                                       AGE\nbot     %40    3d\n"},
	{"env dump", "SHELL=/bin/zsh\nAWS_SECRET_ACCESS_KEY=%b40\nDATABASE_URL=postgres://app:%s@db.internal:5432/app\nSLACK_BOT_TOKEN=xoxb-%a10-%a10-%24\nSESSION_SECRET=%h64\n"},
	{"docker inspect", "        \"Config\": {\n            \"Env\": [\n                \"POSTGRES_PASSWORD=%s\",\n                \"SECRET_KEY=%50\",\n                \"PATH=/usr/local/sbin\"\n            ],"},
	{"django secret key", "SECRET_KEY = 'django-insecure-%50'\n"},
	{"secret key base", "SECRET_KEY_BASE=%h128\n"},
	{"laravel app key", "APP_KEY=base64:%b43=\n"},
	{"kubectl secret yaml", "apiVersion: v1\ndata:\n  password: %b24\n  username: YWRtaW4=\nkind: Secret\nmetadata:\n  name: db\n"},
	{"kubectl secret list", "apiVersion: v1\nitems:\n- apiVersion: v1\n  data:\n    pw: %b24\n  kind: Secret\n  metadata:\n    name: a\n- apiVersion: v1\n  data:\n    x: %b32\n  kind: Secret\nkind: List\n"},
	{"kubectl secret json", "{\n    \"apiVersion\": \"v1\",\n    \"data\": {\n        \"key\": \"%b24\"\n    },\n    \"kind\": \"Secret\"\n}\n"},
	{"kubectl stringData", "kind: Secret\napiVersion: v1\nstringData:\n  conn: \"%s\"\n"},
	{"kubectl describe cm", "Data\n====\npassword:\n----\n%s\n"},
	{"helm get values", "USER-SUPPLIED VALUES:\nauth:\n  postgresPassword: %s\n  replicationPassword: %s\n"},
	{"terraform state", "      \"instances\": [\n        {\n          \"attributes\": {\n            \"password\": \"%s\",\n            \"secret\": \"%40\",\n            \"private_key_pem\": \"-----BEGIN RSA PRIVATE KEY-----\\n%b64\\n%b64\\n-----END RSA PRIVATE KEY-----\\n\",\n            \"result\": \"x\"\n"},
	{"terraform plan", "  + password             = \"%s\"\n  ~ api_token            = \"%40\" -> \"%40\"\n"},
	{"terraform random", "resource \"random_password\" \"db\" {\n  result = \"%s\"\n}"},
	{"terraform state random", "\"type\": \"random_password\",\n\"name\": \"db\",\n\"instances\": [{\"attributes\": {\"length\": 20, \"result\": \"%s\"}}]"},
	{"tfvars", "db_password = \"%s\"\ndb_user = \"u\"\n"},
	{"npmrc", "//registry.npmjs.org/:_authToken=npm_%36\n_auth=%b40\n//r.corp/:_password=%b32\n"},
	{"npm config ls", "//registry.npmjs.org/:_authToken = \"%40\"\n"},
	{"yarnrc", "npmAuthToken: \"%40\"\nnpmRegistryServer: x\n"},
	{"git remote", "origin  https://oauth2:glpat-%20@gitlab.corp/a/b.git (push)\n"},
	{"git credentials", "https://me:%s@github.com\n"},
	{"git credential fill", "protocol=https\nhost=github.com\nusername=me\npassword=%s\n"},
	{"gh auth token", "github.com\n  ✓ Logged in to github.com account me\n  - Token: gho_%36\n"},
	{"gh hosts", "github.com:\n    oauth_token: gho_%36\n    user: me\n"},
	{"curl -v h2", "* [HTTP/2] [1] [authorization: Bearer %40]\n> authorization: Bearer %40\n"},
	{"curl -u", "curl -sS -u admin:%s https://h/api"},
	{"curl --user", "curl --user 'admin:%s' https://h/api"},
	{"aws sts", "{\n    \"Credentials\": {\n        \"AccessKeyId\": \"ASIA%a16\",\n        \"SecretAccessKey\": \"%b40\",\n        \"SessionToken\": \"IQoJb3JpZ2luX2VjE%b300\",\n"},
	{"aws export", "export AWS_SESSION_TOKEN=\"IQoJb3JpZ2luX2VjE%b300==\"\n"},
	{"aws secretsmanager", "{\n    \"Name\": \"db\",\n    \"SecretString\": \"%s\",\n    \"VersionStages\": []\n}"},
	{"aws ssm", "{\n    \"Parameter\": {\n        \"Name\": \"/db/password\",\n        \"Type\": \"SecureString\",\n        \"Value\": \"%s\",\n"},
	{"aws ssm table", "PARAMETER\tarn\ttext\t/db/password\tSecureString\t%s\t1\n"},
	{"aws credentials", "[prod]\naws_access_key_id=AKIA%a16\naws_secret_access_key=%b40\naws_session_token=%b200\n"},
	{"gha log", "2026-01-01T00:00:00.000Z   DEPLOY_TOKEN: %40\n2026-01-01T00:00:00.000Z ##[group]Run x\n2026-01-01T00:00:00.000Z   env:\n2026-01-01T00:00:00.000Z     DB_PASSWORD: %s\n"},
	{"gha add-mask", "echo \"::add-mask::%s\"\n"},
	{"netrc one line", "machine github.com login me password %s\n"},
	{"netrc", "machine h\n\tlogin me\n\tpassword %s\n"},
	{"pgpass star", "*:*:*:postgres:%s\n"},
	{"pgpass other port", "db.internal:6543:app:app:%s\n"},
	{"pip.conf", "[global]\nextra-index-url = https://__token__:%s@pypi.corp/simple\n"},
	{"pypirc", "[pypi]\nusername = __token__\npassword = pypi-AgEIcHlwaS5vcmc%b90\n"},
	{"jdbc", "jdbc:postgresql://h:5432/d?user=u&password=%s&ssl=true\n"},
	{"jdbc mysql", "spring.datasource.url=jdbc:mysql://u:%s@h/d\n"},
	{"jdbc sqlserver", "jdbc:sqlserver://h:1433;databaseName=d;user=u;password=%s;encrypt=true\n"},
	{"amqp", "amqp://u:%s@mq:5672/v\n"},
	{"redis", "redis://:%s@r:6379/0\n"},
	{"redis default", "rediss://default:%s@r.upstash.io:6379\n"},
	{"mongo srv", "mongodb+srv://u:%s@c.mongodb.net/?retryWrites=true\n"},
	{"har cookies", "\"cookies\": [{\"name\": \"session_token\", \"value\": \"%40\", \"path\": \"/\"}]"},
	{"har postData", "\"postData\": {\"params\": [{\"name\": \"password\", \"value\": \"%s\"}], \"text\": \"user=u&password=%s\"}"},
	{"postman bearer", "\"auth\": {\n  \"type\": \"bearer\",\n  \"bearer\": [\n    {\n      \"key\": \"token\",\n      \"value\": \"%40\",\n      \"type\": \"string\"\n    }\n  ]\n}"},
	{"postman basic", "\"basic\": [{\"key\": \"password\", \"value\": \"%s\", \"type\": \"string\"}]"},
	{"postman env", "{\"values\": [{\"key\": \"API_KEY\", \"value\": \"%40\", \"enabled\": true}]}"},
	{"postman env 2", "\t\t{\n\t\t\t\"key\": \"client_secret\",\n\t\t\t\"value\": \"%40\",\n\t\t\t\"type\": \"secret\"\n\t\t}"},
	{"properties", "db.password=%s\napi.token = %40\nkeystore.password:%s\n"},
	{"properties escaped", "db.url=jdbc\\:postgresql\\://u\\:%s@h/d\n"},
	{"spring yaml", "spring:\n  datasource:\n    password: \"%s\"\n  mail:\n    password: %s\n"},
	{"toml", "[db]\npassword = \"%s\"\n[api]\ntoken = '%40'\n"},
	{"toml inline", "db = { user = \"u\", password = \"%s\" }\n"},
	{"ini", "[smtp]\nPass = %s\nuser=x\n"},
	{"ini 2", "[client]\nuser=root\npassword=\"%s\"\n"},
	{"xml element", "<password>%s</password>"},
	{"xml ns", "<wsse:Password Type=\"PasswordText\">%s</wsse:Password>"},
	{"xml attr", "<add key=\"ApiToken\" value=\"%40\" />"},
	{"xml conn", "<add name=\"d\" connectionString=\"Server=h;Database=d;User Id=sa;Password=%s;\" />"},
	{"maven", "<server>\n  <id>x</id>\n  <username>u</username>\n  <password>%s</password>\n</server>"},
	{"xml multi-line", "<password>\n  %s\n</password>"},
	{"xml cdata", "<password><![CDATA[%s]]></password>"},
	{"tomcat", "<user username=\"admin\" password=\"%s\" roles=\"manager\"/>"},
	{"hcl provider", "provider \"x\" {\n  token    = \"%40\"\n  password = \"%s\"\n}"},
	{"reg", "[HKEY_CURRENT_USER\\Software\\X]\n\"Password\"=\"%s\"\n\"ApiToken\"=\"%40\"\n"},
	{"reg query", "    DefaultPassword    REG_SZ    %s\n"},
	{"powershell env", "$env:API_TOKEN = \"%40\"\n$Env:DB_PASSWORD='%s'\n"},
	{"powershell secure", "$pw = ConvertTo-SecureString \"%s\" -AsPlainText -Force\n"},
	{"powershell fl", "Name     : x\nPassword : %s\n"},
	{"powershell setenv", "[Environment]::SetEnvironmentVariable('API_TOKEN','%40','User')\n"},
	{"cmd set", "set DB_PASSWORD=%s\r\n"},
	{"cmd set q", "set \"DB_PASSWORD=%s\"\r\n"},
	{"cmdkey", "cmdkey /add:server /user:u /pass:%s\n"},
	{"form", "grant_type=client_credentials&client_id=abc&client_secret=%40&scope=x"},
	{"form pw", "username=u&password=%s&remember=1"},
	{"jwt cookie", "Cookie: access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.%43; theme=dark\n"},
	{"oauth response", "{\"access_token\":\"%40\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"refresh_token\":\"%40\"}"},
	{"oauth opaque id", "{\"id_token\":\"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.%43\"}"},
	{"pem crlf", "-----BEGIN RSA PRIVATE KEY-----\r\n%b64\r\n%b64\r\n-----END RSA PRIVATE KEY-----\r\n"},
	{"openssh", "-----BEGIN OPENSSH PRIVATE KEY-----\n%b70\n%b70\n-----END OPENSSH PRIVATE KEY-----\n"},
	{"openssh diff removed", "------BEGIN OPENSSH PRIVATE KEY-----\n-%b70\n-%b70\n------END OPENSSH PRIVATE KEY-----\n"},
	{"pem no begin", "%b64\n%b64\n%b64\n-----END RSA PRIVATE KEY-----\n"},
	{"pem indented", "    -----BEGIN PRIVATE KEY-----\n    %b64\n    %b64\n    -----END PRIVATE KEY-----\n"},
	{"pem quoted lines", "\"-----BEGIN PRIVATE KEY-----\\n\" +\n\"%b64\\n\" +\n\"%b64\\n\" +\n\"-----END PRIVATE KEY-----\""},
	{"pem commented", "# -----BEGIN PRIVATE KEY-----\n# %b64\n# %b64\n# -----END PRIVATE KEY-----\n"},
	{"pem commented cut", "# -----BEGIN PRIVATE KEY-----\n# %b64\n# %b64\n"},
	{"pem ansi", "\x1b[32m-----BEGIN PRIVATE KEY-----\x1b[0m\n\x1b[32m%b64\x1b[0m\n\x1b[32m%b64\x1b[0m\n\x1b[32m-----END PRIVATE KEY-----\x1b[0m\n"},
	{"pgp", "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG\n\n%b64\n%b64\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----\n"},
	{"age", "# created: 2026\n# public key: age1xxx\nAGE-SECRET-KEY-1%u0QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHC\n"},
	{"ansi whole line", "\x1b[1;33mDB_PASSWORD=%s\x1b[0m\n"},
	{"ansi value bold", "password: \x1b[1m%s\x1b[22m"},
	{"bat decorations", "   3   │ DB_PASSWORD=%s\n   4   │ PORT=80\n"},
	{"bat yaml", "   3   │   password: %s\n"},
	{"bat ansi", "\x1b[38;5;244m   3\x1b[0m   \x1b[38;5;238m│\x1b[0m \x1b[38;5;81mDB_PASSWORD\x1b[0m\x1b[38;5;203m=\x1b[0m%s\n"},
	{"less -N", "      3 DB_PASSWORD=%s\n      4 PORT=80\n"},
	{"nl", "     3\tpassword: %s\n     4\thost: x\n"},
	{"sed -n =", "3\nDB_PASSWORD=%s\n"},
	{"git blame", "^9fceb02 (Me 2026-01-01 10:00:00 +0100 12) DB_PASSWORD=%s\n"},
	{"git blame yaml", "9fceb02d (Me 2026-01-01 10:00:00 +0100 12)   password: %s\n"},
	{"git log -p", "    diff --git a/.env b/.env\n    --- a/.env\n    +++ b/.env\n    @@ -1 +1 @@\n    -DB_PASSWORD=%s\n    +DB_PASSWORD=%s\n"},
	{"git log -S graph", "| -  password: %s\n| +  password: %s\n"},
	{"combined diff", "--  password: %s\n +  password: %s\n++  password: %s\n"},
	{"diff normal", "< DB_PASSWORD=%s\n---\n> DB_PASSWORD=%s\n"},
	{"diff context", "! password: %s\n! DB_PASSWORD=%s\n"},
	{"diff side", "DB_PASSWORD=%s      | DB_PASSWORD=%s\n"},
	{"zero width", "password: \u200b%s\u200b\n"},
	{"nbsp", "password:\u00a0%s\n"},
	{"nbsp =", "DB_PASSWORD =\u00a0%s\n"},
	{"bom", "\ufeffDB_PASSWORD=%s\nX=1\n"},
	{"smart quotes", "password: “%s”\n"},
	{"fullwidth colon", "password：%s\n"},
	{"yaml json flow", "db: {user: u, password: %s, host: h}\n"},
	{"yaml flow q", "db: {user: u, password: '%s'}\n"},
	{"js minified", "a={user:\"u\",password:\"%s\"}"},
	{"js template", "`postgres://${user}:%s@host/db`"},
	{"python fstring", "f\"postgresql://{user}:%s@{host}/db\""},
	{"go const", "const dbPassword = \"%s\"\n"},
	{"go raw", "var APIKey = `%40`\n"},
	{"ts typed", "private readonly apiKey: string = '%40';"},
	{"rust const", "const API_TOKEN: &str = \"%40\";"},
	{"kotlin", "val password: String = \"%s\""},
	{"swift", "let apiKey: String = \"%40\""},
	{"java", "private static final String PASSWORD = \"%s\";"},
	{"php", "$config['password'] = '%s';"},
	{"php arrow", "'password' => '%s',"},
	{"ruby", "password: '%s',"},
	{"perl", "my $password = '%s';"},
	{"elixir", "config :app, password: \"%s\""},
	{"scala", "val token = \"%40\""},
	{"dart", "final String apiKey = '%40';"},
	{"c ptr", "const char *password = \"%s\";"},
	{"arduino", "#define WIFI_PASSWORD \"%s\""},
	{"arduino 2", "const char* wifi_pass = \"%s\";"},
	{"sql insert", "INSERT INTO users (id, email, password) VALUES (1, 'a@b.c', '%s');"},
	{"sql insert multi", "INSERT INTO users (email, password) VALUES ('a@b.c', '%s'), ('b@b.c', '%s');"},
	{"sql insert cols", "INSERT INTO `settings` (`name`,`api_key`) VALUES ('x','%40');"},
	{"sql update", "UPDATE users SET password = '%s' WHERE id = 1;"},
	{"sql set password", "SET PASSWORD FOR 'u'@'h' = PASSWORD('%s');"},
	{"sql where", "SELECT * FROM users WHERE password = '%s'"},
	{"ssh config", "sshpass -p '%s' ssh u@h"},
	{"rsync pw", "RSYNC_PASSWORD=%s rsync -a x u@h::m"},
	{"openssl pass", "openssl rsa -in k -passin pass:%s"},
	{"ldapsearch", "ldapsearch -D cn=admin -w %s -b dc=x"},
	{"psql env", "PGPASSWORD=%s psql -h db -U u"},
	{"psql env q", "PGPASSWORD='%s' psql -h db -U u"},
	{"redis-cli", "redis-cli -h r -a %s ping"},
	{"redis-cli auth", "AUTH %s\n"},
	{"redis auth user", "AUTH default %s\n"},
	{"mysql -p", "mysql -uroot -p%s shop"},
	{"mysqldump", "mysqldump -u root -p'%s' shop"},
	{"sqlcmd", "sqlcmd -S h -U sa -P '%s' -Q x"},
	{"sqlplus", "sqlplus scott/%s@//h:1521/x"},
	{"impdp", "impdp system/%s@db directory=x"},
	{"mongo -p", "mongodump -u u -p '%s' --db x"},
	{"docker login", "docker login -u u -p %s r.corp"},
	{"podman login", "podman login --username u --password %s r.corp"},
	{"helm repo", "helm repo add x https://h --username u --password %s"},
	{"oc login", "oc login --token=sha256~%43 --server=https://h:6443"},
	{"k8s token", "kubectl --token=%40 get pods"},
	{"vault login", "vault login hvs.%90"},
	{"vault read", "Key                 Value\n---                 -----\npassword            %s\nusername            u\n"},
	{"vault kv get", "====== Data ======\nKey         Value\n---         -----\napi_key     %40\npassword    %s\n"},
	{"consul", "CONSUL_HTTP_TOKEN=%h8-%h4-4%h3-%h4-%h12"},
	{"uuid token", "api_token: %h8-%h4-4%h3-%h4-%h12"},
	{"heroku config", "=== app Config Vars\nDATABASE_URL:  postgres://u:%s@h:5432/d\nSECRET_KEY:    %40\n"},
	{"fly secrets", "flyctl secrets set API_TOKEN=%40 DB_PASS=%s"},
	{"vercel env", "API_TOKEN=\"%40\"\n# Created by Vercel CLI\n"},
	{"netlify env", "│ API_TOKEN │ %40 │ All │\n"},
	{"doppler", "├──────────┼─────────┤\n│ DB_PASSWORD │ %s │\n"},
	{"1password item", "ID:          abc\nFields:\n  username:    u\n  password:    %s\n"},
	{"bw get", "{\"login\":{\"username\":\"u\",\"password\":\"%s\",\"totp\":null}}"},
	{"security find", "password: \"%s\"\n"},
	{"secret-tool", "[/org/freedesktop/secrets/collection/login/1]\nlabel = x\nsecret = %s\n"},
	{"gcloud token", "$ gcloud auth print-access-token\nya29.%200\n"},
	{"gcloud adc", "{\n  \"client_id\": \"x.apps.googleusercontent.com\",\n  \"client_secret\": \"GOCSPX-%28\",\n  \"refresh_token\": \"1//0%100\",\n  \"type\": \"authorized_user\"\n}"},
	{"az token", "{\n  \"accessToken\": \"eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJodHRwczovL20ifQ.%200\",\n  \"expiresOn\": \"x\"\n}"},
	{"az keyvault", "{\n  \"id\": \"https://v.vault.azure.net/secrets/db-password/1\",\n  \"name\": \"db-password\",\n  \"value\": \"%s\"\n}"},
	{"az storage keys", "[\n  {\n    \"keyName\": \"key1\",\n    \"permissions\": \"FULL\",\n    \"value\": \"%b86==\"\n  }\n]"},
	{"az conn", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey=%b86==;EndpointSuffix=core.windows.net"},
	{"az sb", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=%b43="},
	{"az appid", "{\n  \"appId\": \"x\",\n  \"password\": \"%s\",\n  \"tenant\": \"y\"\n}"},
	{"wifi nmcli", "802-11-wireless-security.psk:           %s\n"},
	{"wg", "[Interface]\nPrivateKey = %b43=\n[Peer]\nPresharedKey = %b43=\n"},
	{"ansible", "ansible_password: %s\nansible_become_pass: %s\nansible_ssh_pass=%s\n"},
	{"ansible inventory", "h1 ansible_host=1.2.3.4 ansible_user=u ansible_ssh_pass=%s\n"},
	{"chpasswd", "echo 'root:%s' | chpasswd\n"},
	{"useradd", "passwd: %s\n"},
	{"typed password prompt", "Password: %s\n"},
	{"enter password for", "Enter password for user admin: %s\n"},
	{"new password colon", "New root password: %s\n"},
	{"generated password", "Generated password: %s\n"},
	{"initial password", "Your initial admin password is: %s\n"},
	{"pw set to", "The password has been set to %s\n"},
	{"pw set to 2", "root password set to: %s\n"},
	{"temp password", "temporary password (valid for 1 day): %s\n"},
	{"prose pw comma", "Use user admin, password %s, to log in."},
	{"prose pw dash", "password - %s\n"},
	{"prose pw paren", "log in (password: %s)"},
	{"prose german", "Das Passwort lautet %s"},
	{"prose german 2", "Kennwort: %s"},
	{"prose fr", "mot de passe : %s"},
	{"prose es", "contraseña: %s"},
	{"prose token equals", "the token = %40 works"},
	{"slack url", "https://hooks.slack.com/services/T%u8/B%u10/%24"},
	{"teams url", "https://x.webhook.office.com/webhookb2/%h8-%h4-%h4-%h4-%h12@%h8-%h4-%h4-%h4-%h12/IncomingWebhook/%h32/%h8-%h4-%h4-%h4-%h12"},
	{"json escaped twice", "\"{\\\"password\\\":\\\"%s\\\"}\""},
	{"header multi-line", "X-Auth-Token:\n  %40\n"},
	{"http folding", "Authorization:\r\n Bearer %40\r\n"},
	{"python requests headers", "headers={\n    \"Authorization\": f\"Bearer %40\",\n    \"x-api-key\": \"%40\",\n}"},
	{"axios", "axios.defaults.headers.common['Authorization'] = 'Bearer %40';"},
	{"fetch", "'Authorization': 'token ' + 'ghp_%36'"},
	{"graphql var", "{\"variables\":{\"input\":{\"password\":\"%s\"}}}"},
	{"log4j", "2026-01-01 INFO  c.x.Login - user=me password='%s' ok\n"},
	{"rails params", "Parameters: {\"user\"=>{\"email\"=>\"a@b\", \"password\"=>\"%s\"}}"},
	{"django form", "<QueryDict: {'password': ['%s']}>"},
	{"php var_dump", "  [\"password\"]=>\n  string(18) \"%s\"\n"},
	{"php print_r", "    [password] => %s\n"},
	{"php serialize", "s:8:\"password\";s:18:\"%s\";"},
	{"python repr", "Config(user='u', password='%s')"},
	{"node inspect", "  password: '%s',\n"},
	{"go %+v", "&{User:u Password:%s}"},
	{"java toString", "Config{user='u', password='%s'}"},
	{"kotlin data", "Config(user=u, password=%s)"},
	{"hexdump", "00000010  50 41 53 53 3d 61 62 63  |PASSWORD=%s|\n"},
	{"strings", "DB_PASSWORD=%s\nGLIBC_2.2.5\n"},
	{"proc environ tr", "PATH=/bin DB_PASSWORD=%s HOME=/root"},
	{"ps e", "1234 pts/0 S 0:00 node x.js DB_PASSWORD=%s API_TOKEN=%40"},
	{"systemctl show-env", "DB_PASSWORD=%s\nLANG=C\n"},
	{"systemd multi", "Environment=A=1 DB_PASSWORD=%s B=2\n"},
	{"dockerfile env", "ENV DB_PASSWORD %s\n"},
	{"dockerfile env =", "ENV A=1 DB_PASSWORD=%s\n"},
	{"docker history", "<missing> 2 days ago /bin/sh -c #(nop)  ENV DB_PASSWORD=%s 0B\n"},
	{"compose inline", "environment: [\"DB_PASSWORD=%s\", \"A=1\"]\n"},
	{"circleci", "      - run: echo 'export API_TOKEN=\"%40\"' >> $BASH_ENV\n"},
	{"jenkins cred", "<apiToken>%h34</apiToken>"},
	{"sonar", "sonar.login=%h40\n"},
	{"sonar token", "sonar.token=sqp_%h40\n"},
	{"rabbit definitions", "{\"name\":\"u\",\"password\":\"%s\",\"tags\":\"administrator\"}"},
	{"elastic", "ELASTIC_PASSWORD=%s\nPASSWORD elastic = %s\n"},
	{"elastic setup", "Changed password for user elastic\nPASSWORD elastic = %s\n"},
	{"grafana", "GF_SECURITY_ADMIN_PASSWORD=%s\nadmin_password = %s\n"},
	{"minio", "RootUser: minioadmin\nRootPass: %s\nMINIO_ROOT_PASSWORD=%s\n"},
	{"rclone", "[r]\ntype = s3\nsecret_access_key = %b40\npass = %s\n"},
	{"aria2", "rpc-secret=%s\n"},
	{"supervisor", "environment=API_TOKEN=\"%40\",A=\"1\"\n"},
	{"nginx", "proxy_set_header Authorization \"Bearer %40\";\n"},
	{"apache", "SetEnv DB_PASSWORD %s\n"},
	{"haproxy", "user admin insecure-password %s\n"},
	{"haproxy stats", "stats auth admin:%s\n"},
	{"squid", "cache_peer h parent 3128 0 login=u:%s\n"},
	{"curlrc", "user = \"me:%s\"\n"},
	{"curlrc proxy", "proxy-user = \"me:%s\"\n"},
	{"wgetrc", "http_password = %s\n"},
	{"gradle.properties", "signing.password=%s\nnexusPassword=%s\n"},
	{"gradle kts", "password = \"%s\"\n"},
	{"sbt", "Credentials(\"r\", \"h\", \"u\", \"%s\")"},
	{"ivy", "realm=x\nhost=h\nuser=u\npassword=%s\n"},
	{"nuget", "<add key=\"ClearTextPassword\" value=\"%s\" />"},
	{"composer auth", "{\"http-basic\":{\"r.corp\":{\"username\":\"u\",\"password\":\"%s\"}},\"github-oauth\":{\"github.com\":\"ghp_%36\"}}"},
	{"poetry", "poetry config http-basic.corp u %s\n"},
	{"poetry token", "poetry config pypi-token.pypi pypi-AgEIcHlwaS5vcmc%90\n"},
	{"twine", "twine upload -u __token__ -p pypi-AgEIcHlwaS5vcmc%90 dist/*"},
	{"hex", "HEX_API_KEY=%h32\n"},
	{"rubygems", "---\n:rubygems_api_key: rubygems_%h48\n"},
	{"cargo", "[registry]\ntoken = \"cio%32\"\n"},
	{"firebase", "{\"apiKey\":\"AIza%35\"}"},
	{"sendgrid", "SG.%22.%43"},
	{"twilio", "TWILIO_AUTH_TOKEN=%h32\n"},
	{"datadog", "DD_API_KEY=%h32\nDD_APP_KEY=%h40\n"},
	{"mailgun", "MAILGUN_API_KEY=key-%h32\n"},
	{"cloudflare", "CF_API_TOKEN=%40\nX-Auth-Key: %h37\n"},
	{"algolia", "ALGOLIA_ADMIN_KEY=%h32\n"},
	{"stripe restricted", "rk_live_%40"},
	{"eth key", "PRIVATE_KEY=0x%h64\n"},
	{"eth key q", "privateKey: \"0x%h64\"\n"},
	{"curl -v", "> GET / HTTP/1.1\n> Host: h\n> X-Api-Key: %40\n>\n< HTTP/1.1 200 OK\n< Set-Cookie: sid=%40; HttpOnly\n"},
	{"har", "{\"name\":\"Authorization\",\"value\":\"Bearer %40\"},{\"name\":\"Cookie\",\"value\":\"sid=%40; x=1\"},{\"name\":\"X-Api-Key\",\"value\":\"%40\"}"},
}

// plainPrintouts is what looks like it and holds none.
var plainPrintouts = []string{
	"user,password,token\nalice,secret,none\nbob,hunter,none\n", "name,token count,price\na,12345,3.50\n", "| Field | Token | Notes |\n|---|---|---|\n| a | string | required |\n",
	"a, token, err := f(x)\nb, other1, err := g(y)\n", "  username,\n  password,\n  email1,\n", "Process\n\tProcessAccessToken\n\tProcessLdtInformationEx\n\tProcessLdtSize2\n",
	"c.Assert(e.Password, Equals, \"\")\nc.Assert(e.Host, Equals, \"github1.com\")\n", "\t\"password\",\n\t\"salt123\",\n\t16777216,\n", "--- PASS: TestAddr/ipv6+zone (0.00s)\n", "PASS: Test1/a-b\n",
	"gprBlock.Psw[6] = byte(pswAddr >> 8)\n", "password: [-old-]{+new+}\n", "INSERT INTO users (id, password) VALUES (1, 'secret');", "INSERT INTO t (token) VALUES (?)",
	"COPY t (id, password) FROM stdin;\n1\tsecret\n\\.\n", "AUTH LOGIN\n", "AUTH required", "the password is set to expire in 30 days", "the password has to be at least 12 characters long", "password - required, 8 to 64 characters",
	"Enter password for user admin: ", "Kennwort: vergessen?", "mot de passe : oublié", "{\"lines\":[\"-----BEGIN CERTIFICATE-----\",\"MIIB\"]}", "-----END CERTIFICATE-----", "NAME    TOKEN   AGE\nbot     none    3d\n",
	"Key                 Value\n---                 -----\npassword            required\n", "pass: true", "`pass = false`", "proxy-user = me", "user = \"me:$PW\"", "stats auth admin:$PW", "sqlplus /nolog", "sqlplus scott/tiger@db",
	"random_password.db.result", "resource \"random_password\" \"db\" {\n  length = 20\n}", "::add-mask::$TOKEN", "http-basic.corp", "Credentials(\"r\", \"h\", \"u\", \"\")", "public string Password { get; set; } = \"\";",
	"<wsse:Password Type=\"PasswordText\">?</wsse:Password>", "<password>\n  ${env.PASSWORD}\n</password>", "password:\n  description: The password\n", "token:\n  type: string\n", "pass\u200bword: none", "\"args\": [\"--password\", \"$PW\"]",
	"secretkey1, err := load(password, token)\nvalue1234567, err := save(name123456, x)\n", "{\"keyName\": \"key1\", \"value\": \"sha512-abc\"}", "PASSWORD elastic = $PW\n", "password[] = {1, 2}", "const apiKey =\n  process.env.API_KEY",
	"func examKey(s string) string { return unmark(s, \"EXAM KEY\", \"PRIVATE KEY\") }\nQm7xTd2RkV9zLw4HnB8sYc3JfG6pXe1UaZ5oKi0MtNvWqDhSbPlEyCgIrOuAj+Fx\nhT2vKq8ZmW4rNc7XpB1sLd9GfY3jHa6UeR5wIo0\n", // a patch has lines that begin like options
	"the rays which\npass transversely through the glass\n",
	"ret.Psk = hexB(psk)\n", "ret.password = base64Encode(pwd1, Salt2)\n", "\tname, password := addAccount(t)\n\tname16, err := sys.UTF16PtrFromString(name)\n", "the password := account.Get(t), then x = sys.UTF16PtrFromString(name)\n",
}

// TestListed tells the option of a program, whose value is the next string of its list, from other strings that begin like one.
func TestListed(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const value = "Qm7xTd2RkV9zLw4HnB8sYc3JfG6pXe1UaZ5oKi0MtNvWqDhSbPlEyCgIrOuAj+Fx"
	for first, want := range map[string]int{
		"--token": 1, "--db.password": 1, "-api_key": 1, "--secret=": 1,
		"- the api key": 0, "-1 or token": 0, "-f(\"PRIVATE KEY\") }": 0, "-a+b/token": 0, "-\tAccessToken": 0,
	} {
		text := fmt.Sprintf(`{"argv":["run","%s",%q,"x"]}`, first, value)
		if found := rules.Find([]byte(text)); len(found) != want {
			t.Errorf("%s finds %v, want %d", text, found, want)
		}
	}
	if found := rules.Find([]byte(fmt.Sprintf(`{"lines":["-token",%q]}`, "+"+value))); len(found) > 0 {
		t.Errorf("a line of a patch is taken for an option: %v", found)
	}
}

// shapes are the ways in which such a text gets into a session: as it is, as tools that show files and comparisons write it, and coded.
func shapes(text string) map[string]string {
	quote := func(v any) string {
		var b strings.Builder
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	result := func(s string) string {
		return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s}]}}`+"\n", quote(s))
	}
	each := func(format string) string {
		var b strings.Builder
		for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if strings.Contains(format, "%d") || strings.Contains(format, "%6d") {
				fmt.Fprintf(&b, format, i+1, l)
			} else {
				fmt.Fprintf(&b, format, l)
			}
		}
		return b.String()
	}
	wrapped := func(s string) string {
		var b strings.Builder
		for len(s) > 76 {
			b.WriteString(s[:76] + "\n")
			s = s[76:]
		}
		return b.String() + s + "\n"
	}
	coded := b64.StdEncoding.EncodeToString([]byte(text))
	return map[string]string{
		"plain": result(text), "within": result("some output\n" + text + "\nmore output\n"), "read": result(each("%6d→%s\n")), "added": result("@@ -1 +1 @@\n" + each("+%s\n")),
		"CRLF":      result(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")),
		"indented":  result(each("      %s\n")),
		"a patch":   fmt.Sprintf(`{"toolUseResult":{"structuredPatch":[{"lines":%s}]}}`+"\n", quote(strings.Split(each("+%s\n"), "\n"))),
		"replaced":  fmt.Sprintf(`{"toolUseResult":{"structuredPatch":[{"lines":%s}]}}`+"\n", quote(append(strings.Split(each("-%s\n"), "\n"), strings.Split(each("+%s\n"), "\n")...))),
		"in JSON":   result(quote(map[string]string{"stdout": text})),
		"base64":    fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote(coded)),
		"its lines": result("$ base64 x\n" + wrapped(coded)),
		"percent":   fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote("https://h/?q="+url.PathEscape("\n"+text))),
		"form":      fmt.Sprintf(`{"type":"user","data":%s}`+"\n", quote("https://h/?q="+url.QueryEscape("\n"+text))),
	}
}

// TestPrintouts finds all of the former in all shapes, and nothing in the latter.
func TestPrintouts(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(77, 4))
	missed, all := 0, 0
	for _, c := range printouts {
		for _, password := range []string{"%s", "%h24"} {
			if password != "%s" && !strings.Contains(c[1], "%s") {
				continue
			}
			text, secrets := grown(strings.ReplaceAll(c[1], "%s", password), rnd)
			for shape, line := range shapes(text) {
				all++
				var n Numbers
				clean, cuts := rules.Redact([]byte(line), &n)
				cut, want := 0, 0
				for _, c := range cuts {
					cut += len(c.Bytes)
				}
				left := ""
				for _, s := range secrets {
					want += len(s)
					left += leftOf(clean, []string{s})
				}
				if left != "" || cut < want {
					missed++
					t.Logf("%s as %s: %q is left, %d bytes were cut of %s", c[0], shape, left, cut, line)
				}
				if undo(clean, cuts) != line || !json.Valid(clean) {
					t.Errorf("%s as %s: %s", c[0], shape, clean)
				}
				if again := rules.Find(clean); len(again) > 0 {
					t.Errorf("%s as %s: a second look at %s finds %v", c[0], shape, clean, again)
				}
			}
		}
	}
	if t.Logf("%d kinds, %d places, %d missed", len(printouts), all, missed); missed*100 > all {
		t.Errorf("%d of %d were missed, want at most 1 in 100", missed, all)
	}
	for _, text := range plainPrintouts {
		for shape, line := range shapes(text) {
			for _, f := range rules.Find([]byte(line)) {
				t.Errorf("%s finds %q in %q as %s", f.Rule, line[f.Start:f.End], text, shape)
			}
		}
	}
}
