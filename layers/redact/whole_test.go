package redact

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/testdata/gen/plants"
)

// TestWholeValue cuts all of the value between the marks « and » and nothing else, or nothing where there are no marks.
func TestWholeValue(t *testing.T) {
	t.Parallel()
	rules, err := New(scanner.Config{})
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
