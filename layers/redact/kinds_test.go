package redact

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/testdata/gen/plants"
)

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

func drawn(rng *rand.Rand, alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(b)
}

// kindsOfPasswords are passwords of which none needs a digit. Those that can be pronounced are not among them: without a
// digit, a mark or a capital nothing tells one from a word. Three words stand only where no name of a type does.
var kindsOfPasswords = []struct {
	name string
	draw func(*rand.Rand) string
}{
	{"11 lower", func(r *rand.Rand) string { return drawn(r, lowers, 11) }},
	{"18 lower", func(r *rand.Rand) string { return drawn(r, lowers, 18) }},
	{"14 upper", func(r *rand.Rand) string { return drawn(r, uppers, 14) }},
	{"9 mixed", func(r *rand.Rand) string { return drawn(r, lowers+uppers, 9) }},
	{"9 lower", func(r *rand.Rand) string { return drawn(r, lowers, 9) }},
	{"22 mixed", func(r *rand.Rand) string { return drawn(r, lowers+uppers, 22) }},
	{"12 letters digits", func(r *rand.Rand) string { return drawn(r, lowers+uppers+digits, 12) }},
	{"13 letters -_.", func(r *rand.Rand) string { return drawn(r, lowers+uppers+"-_.", 11) + drawn(r, lowers, 2) }},
	{"16 with +/=", func(r *rand.Rand) string { return drawn(r, lowers+uppers+"+/=", 14) + drawn(r, lowers, 2) }},
	{"15 with !%^*~", func(r *rand.Rand) string {
		return drawn(r, lowers, 1) + drawn(r, lowers+uppers+"!%^*~", 13) + drawn(r, lowers, 1)
	}},
	{"three words", func(r *rand.Rand) string {
		w := []string{"Purple", "Monkey", "Dishwasher", "Velvet", "Kettle", "Orbit", "Maple", "Tiger", "Candle", "River", "Walnut", "Copper"}
		return w[r.IntN(12)] + w[r.IntN(12)] + w[r.IntN(12)]
	}},
	{"dashed groups", func(r *rand.Rand) string {
		return drawn(r, lowers, 4) + "-" + drawn(r, lowers, 4) + "-" + drawn(r, lowers, 4) + "-" + drawn(r, lowers, 4)
	}},
}

// quotedKinds can only stand in quotes.
var quotedKinds = []struct {
	name string
	draw func(*rand.Rand) string
}{
	{"groups with blanks", func(r *rand.Rand) string {
		return drawn(r, lowers, 4) + " " + drawn(r, lowers, 4) + " " + drawn(r, lowers, 4) + " " + drawn(r, lowers, 4)
	}},
	{"with #;,&", func(r *rand.Rand) string {
		return drawn(r, lowers, 1) + drawn(r, lowers+uppers+"#,&@", 12) + drawn(r, uppers, 1)
	}},
	{"umlauts", func(r *rand.Rand) string {
		return drawn(r, lowers, 5) + "ä" + drawn(r, lowers, 4) + "ß" + drawn(r, uppers, 3)
	}},
}

// A place is a text with a password at @@.
type place struct{ name, text string }

var placesInQuotes = []place{
	{"json", `{"host": "db", "db_password": "@@", "port": 5432}`},
	{"json compact", `{"user":"app","pwd":"@@"}`},
	{"json pretty", "{\n  \"smtp\": {\n    \"user\": \"app\",\n    \"passwd\": \"@@\"\n  }\n}"},
	{"json camel", `"adminPassword": "@@",`},
	{"yaml double", "database:\n  user: app\n  password: \"@@\"\n"},
	{"yaml single", "mail:\n  smtp_password: '@@'\n  port: 25\n"},
	{"yaml flow", `credentials: {username: app, password: "@@"}`},
	{"toml", "[database]\nuser = \"app\"\npassword = \"@@\"\n"},
	{"toml literal", "[smtp]\npasswd = '@@'\n"},
	{"toml inline", `db = { user = "app", password = "@@", port = 5432 }`},
	{"properties", `spring.datasource.password="@@"`},
	{"dockerfile", "FROM alpine\nENV DB_PASSWORD=\"@@\"\nRUN true"},
	{"compose", "    environment:\n      POSTGRES_PASSWORD: \"@@\"\n"},
	{"k8s env", "        - name: DB_PASSWORD\n          value: \"@@\"\n"},
	{"k8s secret", "kind: Secret\nstringData:\n  password: \"@@\"\n"},
	{"export", `export MYSQL_ROOT_PASSWORD="@@"`},
	{"export single", `export REDIS_PASSWORD='@@' && make up`},
	{"declare", `declare -x SMTP_PASSWORD="@@"`},
	{"python dict", `DATABASES = {'default': {'USER': 'app', 'PASSWORD': '@@', 'HOST': 'db'}}`},
	{"python kwarg", `conn = connect(host="db", user="app", password="@@")`},
	{"python constant", `ADMIN_PASSWORD = "@@"`},
	{"python typed", `    password: str = "@@"`},
	{"go struct", "cfg := Config{\n\tUser:     \"app\",\n\tPassword: \"@@\",\n}"},
	{"go constant", "const dbPassword = \"@@\""},
	{"go short", "password := \"@@\""},
	{"js object", `const db = { user: 'app', password: '@@' };`},
	{"ruby hash", `config = { :password => '@@', :user => 'app' }`},
	{"php define", `define('DB_PASSWORD', '@@');`},
	{"php array", `'password' => '@@',`},
	{"java setter", `dataSource.setPassword("@@");`},
	{"xml attribute", `<property name="password" value="@@"/>`},
	{"terraform", "resource \"db\" \"x\" {\n  master_password = \"@@\"\n}"},
	{"flag", `mysqladmin --user=root --password="@@" status`},
	{"helm", `helm install x ./x --set auth.password="@@" --set replicas=1`},
}

var placesBare = []place{
	{"yaml", "database:\n  user: app\n  password: @@\n  port: 5432\n"},
	{"properties", "spring.datasource.username=app\nspring.datasource.password=@@\n"},
	{"properties colon", "db.password: @@\n"},
	{"ini", "[client]\nuser=root\npassword = @@\n"},
	{"dockerfile", "FROM alpine\nENV DB_PASSWORD=@@\nRUN true"},
	{"dockerfile blank", "ENV DB_PASSWORD @@\n"},
	{"dockerfile several", "ENV HOST=db DB_PASSWORD=@@ PORT=5432"},
	{"arg", "ARG ADMIN_PASSWORD=@@\n"},
	{"compose list", "    environment:\n      - POSTGRES_PASSWORD=@@\n      - POSTGRES_DB=shop\n"},
	{"compose map", "      MYSQL_ROOT_PASSWORD: @@\n"},
	{"k8s env", "        - name: DB_PASSWORD\n          value: @@\n"},
	{"k8s secret", "stringData:\n  username: app\n  password: @@\n"},
	{"export", "export DB_PASSWORD=@@\n./run.sh"},
	{"prefix", "DB_PASSWORD=@@ ./run.sh --fast"},
	{"docker -e", "docker run -e MYSQL_ROOT_PASSWORD=@@ -p 3306:3306 mysql"},
	{"flag", "mysqladmin --user root --password=@@ status"},
	{"flag blank", "restore --user root --password @@ --verbose"},
	{"helm", "helm upgrade x ./x --set auth.password=@@ --set replicas=1"},
	{"helm several", "helm upgrade x ./x --set db.user=app,db.password=@@,db.port=1"},
	{"helm string", "helm upgrade x ./x --set-string postgresql.auth.postgresPassword=@@"},
	{"xml", "<server><username>app</username><password>@@</password></server>"},
	{"netrc", "machine git.acme.io login app password @@"},
	{"conninfo", "host=db.acme.io user=app password=@@ dbname=shop"},
	{"url", "postgres://app:@@@db.acme.io:5432/shop"},
	{"url prose", "The staging URL is redis://default:@@@cache.acme.io:6379/0, use it"},
	{"mysql dsn", "app:@@@tcp(10.0.0.3:3306)/shop?parseTime=true"},
	{"sqlserver", "sqlserver://sa:@@@db.acme.io?database=shop"},
	{"ado", "Server=db.acme.io;Database=shop;User Id=sa;Pwd=@@;Encrypt=True"},
	{"jdbc", "jdbc:postgresql://db.acme.io/shop?user=app&password=@@"},
	{"mongodb hosts", "mongodb://app:@@@a.acme.io:27017,b.acme.io:27017/shop?replicaSet=rs0"},
	{"smtp", "smtps://mailer%40acme.io:@@@smtp.acme.io:465"},
	{"env prose", "I set SMTP_PASSWORD=@@ in the pipeline."},
}

// tokens of services, with a text around them.
var kindsOfTokens = []struct {
	name string
	draw func(*rand.Rand) string
}{
	{"cloudflare user", func(r *rand.Rand) string {
		return "cfut_" + drawn(r, lowers+uppers+digits, 40) + drawn(r, "0123456789abcdef", 8)
	}},
	{"cloudflare account", func(r *rand.Rand) string {
		return "cfat_" + drawn(r, lowers+uppers+digits, 40) + drawn(r, "0123456789abcdef", 8)
	}},
	{"cloudflare key", func(r *rand.Rand) string {
		return "cfk_" + drawn(r, lowers+uppers+digits, 40) + drawn(r, "0123456789abcdef", 8)
	}},
	{"doppler personal", func(r *rand.Rand) string { return "dp.pt." + drawn(r, lowers+uppers+digits, 43) }},
	{"doppler service", func(r *rand.Rand) string { return "dp.st.prd_eu." + drawn(r, lowers+uppers+digits, 43) }},
	{"doppler cli", func(r *rand.Rand) string { return "dp.ct." + drawn(r, lowers+uppers+digits, 43) }},
	{"doppler account", func(r *rand.Rand) string { return "dp.sa." + drawn(r, lowers+uppers+digits, 43) }},
	{"linear oauth", func(r *rand.Rand) string { return "lin_oauth_" + drawn(r, "0123456789abcdef", 64) }},
	{"linear api", func(r *rand.Rand) string { return "lin_api_" + drawn(r, lowers+uppers+digits, 40) }},
	{"sonar user", func(r *rand.Rand) string { return "squ_" + drawn(r, "0123456789abcdef", 40) }},
	{"sonar project", func(r *rand.Rand) string { return "sqp_" + drawn(r, "0123456789abcdef", 40) }},
	{"sonar global", func(r *rand.Rand) string { return "sqa_" + drawn(r, "0123456789abcdef", 40) }},
	{"circleci personal", func(r *rand.Rand) string {
		return "CCIPAT_" + drawn(r, lowers+uppers+digits, 22) + "_" + drawn(r, "0123456789abcdef", 40)
	}},
	{"circleci project", func(r *rand.Rand) string {
		return "CCIPRJ_" + drawn(r, lowers+uppers+digits, 22) + "_" + drawn(r, "0123456789abcdef", 40)
	}},
}

var placesOfTokens = []place{
	{"prose", "use @@ for the deploy"}, {"sentence end", "The new one is @@."}, {"header", `curl -H "Authorization: Bearer @@" https://api.acme.io`},
	{"env", "API_KEY=@@"}, {"json", `{"a": "@@"}`}, {"query", "https://api.acme.io/v1?x=1&key=@@&y=2"}, {"yaml", "auth: @@\n"},
	{"curl user", "curl -u @@: https://sonar.acme.io/api"}, {"code", "client := New(`@@`)"}, {"table", "| staging | @@ | ops |"},
	{"list", "- @@"}, {"parens", "(token @@)"}, {"maven", "mvn sonar:sonar -Dsonar.token=@@ -q"}, {"log", "2026-01-15 10:00:01 DEBUG auth=@@ ok"},
}

// namedTokens have no form of their own: their place names them.
var namedTokens = []place{
	{"CIRCLE_TOKEN", "CIRCLE_TOKEN=@@"}, {"Circle-Token header", `curl -H "Circle-Token: @@" https://circleci.com/api/v2/me`},
	{"circle-token query", "https://circleci.com/api/v1.1/me?circle-token=@@"}, {"SONAR_TOKEN", "SONAR_TOKEN: @@"}, {"sonar.login", "sonar.login=@@"},
	{"CF_API_TOKEN", "export CF_API_TOKEN=@@"}, {"DOPPLER_TOKEN", "DOPPLER_TOKEN='@@'"}, {"LINEAR_CLIENT_SECRET", `LINEAR_CLIENT_SECRET="@@"`},
}

// TestKinds measures by kind of password or token and by place how many are found whole, in the text of a tool result: of 200 values
// with MEM_TORTURE=full, otherwise of 40, one more of which may be missed.
// MEM_MISSED prints the misses of a cell, kind/place.
func TestKinds(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	values, spare := 40, 1
	if os.Getenv("MEM_TORTURE") == "full" {
		values, spare = 200, 0
	}
	type cell struct {
		name  string
		found int
	}
	var cells []cell
	wanted := os.Getenv("MEM_MISSED")
	rng := rand.New(rand.NewPCG(31, 7))
	measure := func(kind, where, text string, draw func(*rand.Rand) string) {
		c := cell{name: kind + "/" + where}
		printed := 0
		for range values {
			v := draw(rng)
			before, after, _ := strings.Cut(text, "@@")
			full, err := json.Marshal(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": []any{
				map[string]string{"type": "tool_result", "content": before + v + after}}}})
			if err != nil {
				t.Fatal(err)
			}
			inner, _ := json.Marshal(v) // a string
			escaped := string(inner[1 : len(inner)-1])
			start, _ := json.Marshal(before) // a string
			from := strings.Index(string(full), string(start[1:len(start)-1])+escaped) + len(start) - 2
			var n Numbers
			_, cuts := rules.Redact(append(full, '\n'), &n)
			if plants.Covers(from, from+len(escaped), spansOf(cuts)) {
				c.found++
			} else if wanted != "" && strings.HasPrefix(c.name, wanted) && printed < 6 {
				printed++
				t.Logf("%s: %q in %q", c.name, v, before+v+after)
			}
		}
		cells = append(cells, c)
	}
	for _, k := range kindsOfPasswords {
		for _, p := range slices.Concat(placesInQuotes, placesBare) {
			if k.name == "three words" && (p.name == "yaml" || p.name == "ini" || strings.HasPrefix(p.text, "stringData") ||
				p.name == "properties colon" || p.name == "compose map" || p.name == "k8s env") {
				continue
			}
			if p.name == "xml" || strings.Contains(p.text, "://") && strings.ContainsAny(k.draw(rng)+k.draw(rng), "%") {
				continue
			}
			measure(k.name, p.name, p.text, k.draw)
		}
		measure(k.name, "url escaped", "amqp://app:@@@mq.acme.io/x", func(r *rand.Rand) string { return url.QueryEscape(k.draw(r)) })
		measure(k.name, "k8s data", "kind: Secret\ndata:\n  password: @@\n", func(r *rand.Rand) string {
			return base64.StdEncoding.EncodeToString([]byte(k.draw(r)))
		})
	}
	for _, k := range quotedKinds {
		for _, p := range placesInQuotes {
			measure(k.name, p.name, p.text, k.draw)
		}
	}
	// user:p@ss/w@host, as people write it
	for _, p := range []place{{"url", "postgres://app:@@@db.acme.io:5432/shop"}, {"mysql url", "mysql://root:@@@10.0.0.3/shop"}, {"https", "git clone https://deploy:@@@git.acme.io/x.git"}} {
		measure("p@ss/w", p.name, p.text, func(r *rand.Rand) string {
			return drawn(r, lowers+uppers+digits, 3) + "@" + drawn(r, lowers+uppers, 3) + "/" + drawn(r, lowers+uppers+digits, 3)
		})
		measure("p@ssw", p.name, p.text, func(r *rand.Rand) string { return drawn(r, lowers, 2) + "@" + drawn(r, lowers, 6) })
		measure("p#ss?w", p.name, p.text, func(r *rand.Rand) string {
			return drawn(r, lowers, 4) + "#" + drawn(r, lowers+uppers, 5) + "?" + drawn(r, lowers, 2)
		})
	}
	for _, k := range kindsOfTokens {
		for _, p := range placesOfTokens {
			measure(k.name, p.name, p.text, k.draw)
		}
	}
	for _, p := range namedTokens {
		measure("40 hex", p.name, p.text, func(r *rand.Rand) string { return drawn(r, "0123456789abcdef", 40) })
		measure("36 letters digits", p.name, p.text, func(r *rand.Rand) string { return drawn(r, lowers+uppers+digits, 36) })
	}
	slices.SortStableFunc(cells, func(a, b cell) int { return a.found - b.found })
	all := 0
	var worst strings.Builder
	for i, c := range cells {
		all += c.found
		if i < 60 && c.found < values {
			fmt.Fprintf(&worst, "%5.1f %% %s\n", 100*float64(c.found)/float64(values), c.name)
		}
	}
	share := 100 * float64(all) / float64(values*len(cells))
	t.Logf("%.2f %% of %d cells of %d\n%s", share, len(cells), values, worst.String())
	if share < 99.8 {
		t.Errorf("%.2f %% are found, want 99.8", share)
	}
	for _, c := range cells {
		want := 98
		switch {
		case strings.HasPrefix(c.name, "9 mixed/"): // without quotes nine letters may be a name of two words
			want = 94
		case strings.HasPrefix(c.name, "13 letters -_./"), strings.HasPrefix(c.name, "16 with +/=/"): // or a path
			want = 94
		}
		if 100*(c.found+spare) < want*values {
			t.Errorf("%s: %.1f %% are found, want %d", c.name, 100*float64(c.found)/float64(values), want)
		}
	}
}

// TestWordsBehindNames finds ordinary words where only a password stands: in quotes and in settings behind its name.
func TestWordsBehindNames(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for text, value := range map[string]string{
		`{"user": "app", "password": "walnuts"}`: "walnuts", "smtp:\n  password: 'inventory'\n": "inventory", "DB_PASSWORD=inventory\n": "inventory",
		"export PGPASSWORD=\"inventory\"": "inventory", "mysql -u app --password=inventory shop": "inventory",
		"restore --password inventory --verbose": "inventory", "password = \"riverBend\"": "riverBend", "DB_PASSWORD=riverBend\n": "riverBend",
	} {
		line, err := json.Marshal(map[string]string{"type": "text", "text": text})
		if err != nil {
			t.Fatal(err)
		}
		var n Numbers
		if clean, cuts := rules.Redact(line, &n); len(cuts) != 1 || string(cuts[0].Bytes) != value {
			t.Errorf("%s becomes %s", text, clean)
		}
	}
}

// TestKindsLeave leaves ordinary text about passwords, connections, types and paths alone.
func TestKindsLeave(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"The password is required and must have at least twelve characters.",
		"Please reset your password before the deadline.",
		"password: string", "password: string;", "password: FormControl<string>", "  password: PasswordField,", "  password: SecretString\n",
		"  password: HashedPassword\n  name: UserName\n", "password = forms.CharField(widget=PasswordInput)", "password=password",
		"connect(host=host, user=user, password=password)", "connect(user=cfg.User, password=cfg.Password, dbname=cfg.Name)",
		"host=localhost user=postgres password=postgres dbname=test", "psql \"host=$HOST user=$USER password=$PASSWORD dbname=x\"",
		"jdbc:mysql://localhost/test?user=root&password=${DB_PASSWORD}", "https://example.com/login?next=/home&password=redacted",
		`"password": "required|min:8"`, `"password": "Password"`, `"password": "Enter your password"`, `{"passwordLabel": "Passwort vergessen"}`,
		`password: "invalid"`, `label: "Password"`, `type: "password"`, `<input type="password" name="password" placeholder="Password">`,
		"if password == \"\" {", "func (u *User) SetPassword(password string) error {", "return errPasswordTooShort", "password := os.Getenv(\"DB_PASSWORD\")",
		"DB_PASSWORD=${DB_PASSWORD:?missing}", "ENV PASSWORD_FILE=/run/secrets/db_password", "password_file: /etc/secrets/db/password/current",
		"sonar.login=${SONAR_TOKEN}", "sonar.login is deprecated, use sonar.token", "git clone https://github.com/acme/shop.git",
		"git remote add origin git@github.com:acme/shop.git", "npm install @scope/package@1.2.3", "https://registry.npmjs.org/@types/node",
		"http://localhost:8080/path@v1", "mail me at dev@acme.io: the build is red", "user=admin status=200 password=hidden duration=3ms",
		"token: keyboard shortcut for the token list", "secret: the ingredient nobody knows", "const passwordSchema = z.string().min(12)",
		"TestPasswordIsHashed (0.01s)", "--- PASS: TestLoginWithPassword", "see docs/password/policy.md", "passwords are hashed with argon2id",
		"--set image.tag=v1.2.3 --set replicas=1", "password: ********", "password: <your-password>", "The flag --password reads it from stdin.",
	} {
		line, err := json.Marshal(map[string]string{"type": "text", "text": text})
		if err != nil {
			t.Fatal(err)
		}
		var n Numbers
		if clean, cuts := rules.Redact(line, &n); len(cuts) > 0 {
			t.Errorf("%s\nbecomes %s", text, clean)
		}
	}
}

// TestRecall measures how many passwords of each alphabet are found whole in each position, and holds the bars that docs/trust.md
// states. MEM_MISSED names a cell, alphabet/position, whose misses are printed.
func TestRecall(t *testing.T) {
	t.Parallel()
	rules, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	wanted, printed := os.Getenv("MEM_MISSED"), 0
	table := plants.Measure(13, 250, func(alphabet, position string, line []byte, from, to int) bool {
		var n Numbers
		_, cuts := rules.Redact(line, &n)
		ok := plants.Covers(from, to, spansOf(cuts))
		if !ok && printed < 40 && wanted != "" && strings.HasPrefix(alphabet+"/"+position, wanted) {
			printed++
			t.Logf("%s/%s: %q in %s", alphabet, position, line[from:to], line)
		}
		return ok
	})
	t.Logf("\n%v", table)
	total := table.Total()
	t.Logf("recall %.2f %% of %d", total.Percent(), total.All)
	if total.Percent() < 99.5 {
		t.Errorf("%.2f %% of the passwords are found, want 99.5", total.Percent())
	}
	if c, alphabet, position := table.Least(); c.Percent() < 98 {
		t.Errorf("%s in %s: %.1f %% are found, want 98", alphabet, position, c.Percent())
	}
}

// spansOf returns where the cuts were in the raw bytes.
func spansOf(cuts []Cut) (spans [][2]int) {
	grown := 0
	for _, c := range cuts {
		from := int(c.At) + grown
		spans = append(spans, [2]int{from, from + len(c.Bytes)})
		grown += len(c.Bytes) - c.Len
	}
	return spans
}
